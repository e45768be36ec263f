"""A task: immutable content, on disk a Harbor task directory (docs/formats.md)."""

import hashlib
import re
from dataclasses import asdict, dataclass
from functools import cached_property

from forge.domain.configtext import config_warnings, parse_config, read_tables, refuse_unauthored
from forge.domain.parts import Parts, digest_of, split_tables
from forge.domain.refused import TaskRefused
from forge.domain.taskconfig import TaskConfig
from sandbox.tree import File, Tree

__all__ = ["Parts", "Task", "TaskConfig", "TaskRefused", "prompt_text"]

CONFIG, INSTRUCTION = "task.toml", "instruction.md"
FOLDERS = ("environment", "tests", "solution")
COMPOSE = ("docker-compose.yaml", "docker-compose.yml", "compose.yaml", "compose.yml")
_CANARY = re.compile(r"\s*(?:<!--.*canary.*-->|(?:#|//).*canary.*)\s*", re.IGNORECASE)


@dataclass(frozen=True)
class Task:
    """config_text is task.toml as it is on disk. environment, tests, solution: the folders. extra: all other files.
    modes: the permission bits of task.toml and instruction.md. Folders without files do not exist in a task."""

    config_text: str
    instruction: str
    environment: Tree
    tests: Tree
    solution: Tree
    extra: Tree
    modes: tuple[int, int] = (0o644, 0o644)

    @cached_property
    def config(self) -> TaskConfig:
        """task.toml as values. Raises TaskRefused."""
        return parse_config(self.config_text)

    @classmethod
    def from_tree(cls, tree: Tree, *, strict: bool = False) -> "Task":
        """Parse a task directory. strict: refuse unknown and deprecated keys too, for what we write ourselves.

        Raises TaskRefused."""
        rest = tree.without(CONFIG, INSTRUCTION)
        task = cls(
            config_text=_text(tree, CONFIG),
            instruction=_text(tree, INSTRUCTION),
            environment=tree.under("environment"),
            tests=tree.under("tests"),
            solution=tree.under("solution"),
            extra=Tree({path: file for path, file in rest.items() if not path.startswith(_PREFIXES)}),
            modes=(tree[CONFIG].mode, tree[INSTRUCTION].mode),
        )
        if strict:
            refuse_unauthored(task.config_text)
        _refuse_incomplete(task)
        return task

    def to_tree(self) -> Tree:
        """The task directory, byte for byte what `from_tree` was given."""
        own = {
            CONFIG: File(self.config_text.encode(), self.modes[0]),
            INSTRUCTION: File(self.instruction.encode(), self.modes[1]),
        }
        folders = (self.environment, self.tests, self.solution)
        tree = self.extra.merged(own)
        for name, folder in zip(FOLDERS, folders, strict=True):
            tree = tree.merged(folder.at(name))
        return tree

    def prompt_text(self) -> str:
        """The instruction as an agent sees it."""
        return prompt_text(self.instruction)

    def warnings(self) -> tuple[str, ...]:
        """What task.toml says that means nothing here, one line each, with file and key."""
        return config_warnings(self.config_text)

    def parts(self) -> Parts:
        """The digest of each part; forge/domain/parts.py says what belongs to which."""
        values = split_tables(read_tables(self.config_text))
        return Parts(
            instruction=hashlib.sha256(self.prompt_text().encode()).hexdigest(),
            environment=digest_of(self.environment, values["environment"]),
            verifier=digest_of(self.tests, values["verifier"]),
            solution=digest_of(self.solution, values["solution"]),
            metadata=digest_of(self.extra, values["metadata"]),
        )

    def digest(self) -> str:
        """sha256 over the parts' names and digests, a line each."""
        lines = "".join(f"{name} {digest}\n" for name, digest in asdict(self.parts()).items())
        return hashlib.sha256(lines.encode()).hexdigest()


_PREFIXES = tuple(f"{folder}/" for folder in FOLDERS)


def prompt_text(instruction: str) -> str:
    """An instruction without the comment lines at its top that hold a canary, and the blank lines after them."""
    lines = instruction.removeprefix("\ufeff").splitlines(keepends=True)
    first = 0
    for number, line in enumerate(lines):
        if _CANARY.fullmatch(line):
            first = number + 1
        elif line.strip():
            break
    kept = lines[first:]
    while first and kept and not kept[0].strip():
        kept = kept[1:]
    return "".join(kept)


def _text(tree: Tree, path: str) -> str:
    if path not in tree:
        raise TaskRefused(path, "", "missing")
    try:
        return tree[path].data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise TaskRefused(path, "", f"not UTF-8: {error.reason} at byte {error.start}") from error


def _refuse_incomplete(task: Task) -> None:
    config = task.config
    if not task.prompt_text().strip():
        raise TaskRefused(INSTRUCTION, "", "empty")
    for folder in FOLDERS:
        if folder in task.extra:
            raise TaskRefused(folder, "", "is a file, and has to be a folder")
    for folder, tree in (("environment", task.environment), ("tests", task.tests)):
        for name in COMPOSE:
            if name in tree:
                raise TaskRefused(f"{folder}/{name}", "", "compose files are not run here, one container is")
    if "Dockerfile" not in task.environment and config.environment.docker_image is None:
        raise TaskRefused("environment/Dockerfile", "", "missing, and environment.docker_image is not set")
    if "test.sh" not in task.tests:
        raise TaskRefused("tests/test.sh", "", "missing")
    if config.separate and "Dockerfile" not in task.tests and not config.verifier_image:
        raise TaskRefused("tests/Dockerfile", "", "missing, and verifier.environment.docker_image is not set")
