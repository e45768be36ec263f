"""Clues as JSON lines: an object with a clue's fields, or a bare string. A broken line does not spoil the others."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from forge.domain.clue import Clue


@dataclass(frozen=True)
class ClueLines:
    """The clues of some lines, in order, and one message (source, line number, what is wrong) for each broken line."""

    clues: tuple[Clue, ...]
    problems: tuple[str, ...]


def parse_clue_lines(data: bytes, source: str) -> ClueLines:
    """Lines are UTF-8 and counted from 1; empty ones are skipped."""
    clues: list[Clue] = []
    problems: list[str] = []
    for number, line in enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1):
        if not line.strip():
            continue
        try:
            clues.append(_clue(line))
        except ValueError as error:
            problems.append(f"{source}: line {number}: {error}")
    return ClueLines(tuple(clues), tuple(problems))


def without_repeats(parts: Iterable[ClueLines]) -> ClueLines:
    """All of them together. A clue that came before is left out; another one of the same id is a problem."""
    seen: dict[str, Clue] = {}
    problems: list[str] = []
    for part in parts:
        problems.extend(part.problems)
        for clue in part.clues:
            if seen.setdefault(clue.id, clue) != clue:
                problems.append(f"clue {clue.id!r}: there are two different clues of this id; the first one is used")
    return ClueLines(tuple(seen.values()), tuple(problems))


def _clue(line: bytes) -> Clue:
    """Raises ValueError with what is wrong in one line."""
    try:
        value = json.loads(line.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise ValueError("not UTF-8 text") from error
    except json.JSONDecodeError as error:
        raise ValueError(f"not JSON: {error.msg} at column {error.colno}") from error
    except RecursionError as error:
        raise ValueError("not a clue: nested too deeply") from error
    if isinstance(value, str):
        value = {"text": value}
    if not isinstance(value, dict):
        raise ValueError("not a clue: an object with a text, or a string, is expected")
    try:
        return Clue.model_validate(value)
    except ValidationError as error:
        raise ValueError("; ".join(_problems(error.errors()))) from error


def _problems(errors: Sequence[Any]) -> list[str]:
    fields = ", ".join(Clue.model_fields)
    texts = []
    for error in errors:
        key = ".".join(str(part) for part in error["loc"])
        if error["type"] == "extra_forbidden":
            texts.append(f"{key}: unknown key (known: {fields})")
        else:
            message = error["msg"].removeprefix("Value error, ")
            texts.append(f"{key}: {message[:1].lower()}{message[1:]}")
    return texts
