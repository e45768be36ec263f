"""Results on stdout, everything else on stderr."""

import json
import sys
from collections.abc import Sequence
from contextlib import suppress

_CONTROLS = {code: f"\\x{code:02x}" for code in (*range(32), *range(127, 160)) if chr(code) not in "\t\n"}


def plain(text: str) -> str:
    """A text that a model may have written, without what would steer the terminal: control characters are spelt out."""
    return text.translate(_CONTROLS)


def print_text(text: str, end: str = "\n") -> None:
    print(plain(text), end=end, flush=True)


def print_json(value: object) -> None:
    print(json.dumps(value, indent=2, ensure_ascii=False))


def print_table(header: Sequence[str], rows: Sequence[Sequence[str]], indent: str = "") -> None:
    """Columns aligned; the last one is never padded, so a long text there does not widen the lines."""
    widths = [max(len(plain(row[column])) for row in [header, *rows]) for column in range(len(header))]
    for row in [header, ["-" * width for width in widths], *rows]:
        cells = [plain(cell).ljust(width) for cell, width in zip(row, widths, strict=True)]
        print(f"{indent}{'  '.join(cells)}".rstrip())


class Stderr:
    """Standard error as it is now, for what is said to a person: when nobody reads it any more, work goes on unsaid."""

    def write(self, text: str) -> int:
        with suppress(OSError):
            return sys.stderr.write(text)
        return len(text)

    def flush(self) -> None:
        with suppress(OSError):
            sys.stderr.flush()

    def fileno(self) -> int:
        return sys.stderr.fileno()

    def isatty(self) -> bool:
        return sys.stderr.isatty()

    @property
    def encoding(self) -> str:
        return sys.stderr.encoding


def note(text: str) -> None:
    """One line for the person at the terminal."""
    Stderr().write(f"forge: {plain(text)}\n")


def count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def usd(amount: float | None) -> str:
    """An amount of money; an unknown one is said to be unknown."""
    return "unknown" if amount is None else f"${amount:.4f}" if 0 < amount < 0.1 else f"${amount:.2f}"
