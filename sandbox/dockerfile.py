"""A Dockerfile as this engine builds it: which images it names, what it may not contain, what is added to it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from sandbox.errors import ContextRefused

_DIRECTIVE = re.compile(r"^#\s*([a-zA-Z]+)\s*=\s*(.*?)\s*$")
_HEREDOC = re.compile(r"<<-?\s*([\"']?)[A-Za-z_][A-Za-z0-9_.]*\1")
_VARIABLE = re.compile(r"\$(?:\{(\w+)(?::([-+])([^}]*))?\}|(\w+))")


@dataclass(frozen=True)
class Instruction:
    """One instruction: its upper-case name, the rest of it with continuations joined, and its lines (from 1)."""

    name: str
    rest: str
    first: int
    last: int


@dataclass(frozen=True)
class Stage:
    """One FROM: the image as named (variables resolved), its alias, whether it is an earlier stage."""

    image: str
    alias: str
    is_stage: bool
    instruction: Instruction


@dataclass(frozen=True)
class Dockerfile:
    lines: tuple[str, ...]
    instructions: tuple[Instruction, ...]
    stages: tuple[Stage, ...]
    copied_from: tuple[tuple[str, Instruction], ...]

    def images(self) -> tuple[str, ...]:
        """Every image that has to come from outside, in order of appearance."""
        named = [stage.image for stage in self.stages if not stage.is_stage and stage.image != "scratch"]
        return tuple(dict.fromkeys([*named, *(image for image, _ in self.copied_from)]))


def parse(text: str, build_args: Mapping[str, str] | None = None) -> Dockerfile:
    """Read a Dockerfile. Raises ContextRefused for what cannot be built here, naming the line."""
    lines = tuple(text.splitlines())
    instructions = _instructions(lines)
    for instruction in instructions:
        _check(instruction)
    stages, copied = _stages(instructions, build_args or {})
    if not stages:
        raise ContextRefused("Dockerfile: it has no FROM line")
    return Dockerfile(lines, instructions, stages, copied)


def rewrite(file: Dockerfile, used: Mapping[str, str], after_from: tuple[str, ...]) -> str:
    """The text that is built: images replaced as `used` says, lines added after each FROM of an outside image.

    VOLUME is left out: a volume would lie outside the container's disk allowance."""
    lines = list(file.lines)
    added: dict[int, tuple[str, ...]] = {}
    for stage in file.stages:
        if not stage.is_stage:
            alias = f" AS {stage.alias}" if stage.alias else ""
            platform = next((word for word in stage.instruction.rest.split() if word.startswith("--")), "")
            words = ["FROM", platform, used.get(stage.image, stage.image)]
            _replace(lines, stage.instruction, " ".join(word for word in words if word) + alias)
        added[stage.instruction.last] = after_from
    for image, instruction in file.copied_from:
        rest = re.sub(r"--from=\S+", f"--from={used.get(image, image)}", instruction.rest, count=1)
        _replace(lines, instruction, f"{instruction.name} {rest}")
    for instruction in file.instructions:
        if instruction.name == "VOLUME":
            _replace(lines, instruction, "")
    out: list[str] = []
    for number, line in enumerate(lines, 1):
        out.append(line)
        out += added.get(number, ())
    return "\n".join(out) + "\n"


def _replace(lines: list[str], instruction: Instruction, text: str) -> None:
    lines[instruction.first - 1 : instruction.last] = [text] + [""] * (instruction.last - instruction.first)


def _instructions(lines: tuple[str, ...]) -> tuple[Instruction, ...]:
    escape = _escape_character(lines)
    found: list[Instruction] = []
    parts: list[str] = []
    first = 0
    for number, line in enumerate(lines, 1):
        stripped = line.strip()
        if stripped.startswith("#") or (parts and not stripped):
            continue  # comments and empty lines may stand inside a continued instruction
        if not stripped:
            continue
        if not parts:
            first = number
        if stripped.endswith(escape):
            parts.append(stripped[:-1])
            continue
        parts.append(stripped)
        found.append(_instruction("".join(parts) if len(parts) == 1 else " ".join(parts), first, number))
        parts = []
    if parts:
        found.append(_instruction(" ".join(parts), first, len(lines)))
    return tuple(found)


def _escape_character(lines: tuple[str, ...]) -> str:
    escape = "\\"
    for number, line in enumerate(lines, 1):
        match = _DIRECTIVE.match(line.strip())
        if match is None:
            break
        if match[1].lower() == "syntax":
            raise ContextRefused(
                f"Dockerfile line {number}: '# syntax=' needs a frontend from a registry; leave it out"
            )
        if match[1].lower() == "escape" and match[2] in ("\\", "`"):
            escape = match[2]
    return escape


def _instruction(text: str, first: int, last: int) -> Instruction:
    name, _, rest = text.strip().partition(" ")
    return Instruction(name.upper(), rest.strip(), first, last)


def _check(instruction: Instruction) -> None:
    where = f"Dockerfile line {instruction.first}"
    if instruction.name in ("RUN", "COPY", "ADD") and _HEREDOC.search(_unquoted(instruction.rest)):
        raise ContextRefused(f"{where}: here-documents are not supported by this builder; COPY a file instead")
    if instruction.name == "RUN" and re.match(r"(--\w+=\S+\s+)*--(mount|network|security)=", instruction.rest):
        raise ContextRefused(f"{where}: RUN --mount, --network and --security need another builder; leave them out")
    newer = re.match(r"(--\S+\s+)*--(link|parents|exclude|checksum)", instruction.rest)
    if instruction.name in ("COPY", "ADD") and newer:
        raise ContextRefused(f"{where}: {instruction.rest.split()[0]} needs another builder; leave it out")


def _unquoted(text: str) -> str:
    """Without what stands in quotes, and without here-strings: a << there is no here-document of the Dockerfile."""
    text = re.sub(r"\$\(\(.*?\)\)", "", text.replace("<<<", " "))
    return re.sub(r"(?<!<<)(?<!<<-)(?<!<< )('[^']*'|\"(?:\\.|[^\"\\])*\")", "", text)


def _stages(
    instructions: tuple[Instruction, ...], build_args: Mapping[str, str]
) -> tuple[tuple[Stage, ...], tuple[tuple[str, Instruction], ...]]:
    stages: list[Stage] = []
    copied: list[tuple[str, Instruction]] = []
    values: dict[str, str] = {}
    for instruction in instructions:
        if instruction.name == "ARG" and not stages:
            for word in instruction.rest.split():
                name, _, default = word.partition("=")
                values[name] = build_args.get(name, _resolved(default.strip("\"'"), values))
        elif instruction.name == "FROM":
            stages.append(_stage(instruction, stages, values))
        elif instruction.name in ("COPY", "ADD"):
            match = re.search(r"(?:^|\s)--from=(\S+)", instruction.rest)
            if match and not _names_stage(match[1], stages):
                copied.append((match[1], instruction))
    return tuple(stages), tuple(copied)


def _stage(instruction: Instruction, earlier: list[Stage], values: Mapping[str, str]) -> Stage:
    words = [word for word in instruction.rest.split() if not word.startswith("--")]
    if not words or (len(words) > 1 and (len(words) != 3 or words[1].upper() != "AS")):
        raise ContextRefused(f"Dockerfile line {instruction.first}: FROM takes 'IMAGE' or 'IMAGE AS NAME'")
    image = _resolved(words[0], values)
    if not image:
        raise ContextRefused(f"Dockerfile line {instruction.first}: FROM {words[0]} names no image")
    alias = words[2] if len(words) == 3 else ""
    return Stage(image, alias, image.lower() in {stage.alias.lower() for stage in earlier if stage.alias}, instruction)


def _names_stage(name: str, stages: list[Stage]) -> bool:
    return name.isdigit() or name.lower() in {stage.alias.lower() for stage in stages if stage.alias}


def _resolved(text: str, values: Mapping[str, str]) -> str:
    def value(match: re.Match[str]) -> str:
        found = values.get(match[1] or match[4], "")
        if match[2] == "-":
            return found or match[3]
        if match[2] == "+":
            return match[3] if found else ""
        return found

    return _VARIABLE.sub(value, text)
