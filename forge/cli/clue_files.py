"""Clues from files, from the command line, or from stdin."""

import sys
from collections.abc import Sequence
from pathlib import Path

from pydantic import ValidationError

from forge.cli.usage import UsageError
from forge.domain.clue import Clue
from forge.domain.clue_lines import ClueLines, parse_clue_lines, without_repeats

STDIN = "-"


def read_clues(files: Sequence[str], texts: Sequence[str]) -> ClueLines:
    """All clues in order, the files' before the texts. Raises UsageError where there is none at all."""
    if not files and not texts:
        raise UsageError('no clues: name a file with one JSON object a line, or give one with --clue "..."')
    parts = [parse_clue_lines(_bytes(file), "stdin" if file == STDIN else file) for file in files]
    found = without_repeats([*parts, ClueLines(tuple(_clue(text) for text in texts), ())])
    if not found.clues:
        raise UsageError("\n".join([*found.problems, "no clue is left to work on"]))
    return found


def _bytes(file: str) -> bytes:
    if file == STDIN:
        return sys.stdin.buffer.read()
    try:
        return Path(file).read_bytes()
    except OSError as error:
        raise UsageError(f"{file}: cannot be read: {error.strerror}") from error


def _clue(text: str) -> Clue:
    try:
        return Clue(text=text)
    except ValidationError as error:
        if text.strip():
            raise UsageError(f"--clue {text!r}: not UTF-8 text") from error
        raise UsageError("--clue: is empty; say in a sentence what the task should be about") from error
