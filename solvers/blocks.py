"""Where the fenced blocks of a text end; solvers/protocol.py says by which rules. Pure, and linear in the text's
length."""

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Sequence
from functools import cached_property

LEAST_TICKS = 3
MOST_INDENT = 3

_HEREDOC = re.compile(r"""(?<!<)<<(-?)[ \t]*(?:'([^'\n]+)'|"([^"\n]+)"|\\?([A-Za-z_][\w.+-]*))""")


class Lines:
    """The lines of a text. fences: for each line the number of its backticks and the first word after them in lower
    case, (0, "") for a line that is no fence."""

    def __init__(self, text: Sequence[str]) -> None:
        self.text = text
        self.fences = [_fence(line) for line in text]
        self._never_closed = float("inf")

    def end_of_quote(self, start: int, ticks: int) -> int:
        """The closing line of a block that is no command; `start` itself when it is never closed."""
        if ticks < self._never_closed:
            for position in range(start + 1, len(self.text)):
                closing, language = self.fences[position]
                if closing >= ticks and not language:
                    return position
            self._never_closed = ticks
        return start

    def end_of_command(self, start: int, ticks: int) -> int | None:
        """The closing line of a command whose first line is `start`, None when it is never closed."""
        inner, quote = 0, ""
        in_quotes: int | None = None
        position = start
        while position < len(self.text):
            closing, language = self.fences[position]
            if closing and quote:
                if in_quotes is None and closing >= ticks and not language:
                    in_quotes = position
            elif closing and language:
                inner += 1
            elif closing and inner:
                inner -= 1
            elif closing >= ticks:
                return position
            quote = _open_quote(self.text[position], quote)
            if not closing and not inner:
                position = self._end_of_heredocs(position)
            position += 1
        return in_quotes

    def _end_of_heredocs(self, position: int) -> int:
        """The last line of the here-documents that start in a line; the line itself where there are none."""
        for dash, single, double, bare in _HEREDOC.findall(self.text[position]):
            mark = single or double or bare
            ends = (self._without_tabs if dash else self._as_they_are).get(mark, ())
            following = bisect_right(ends, position)
            if following < len(ends):
                position = ends[following]
        return position

    @cached_property
    def _as_they_are(self) -> dict[str, list[int]]:
        return _positions(self.text)

    @cached_property
    def _without_tabs(self) -> dict[str, list[int]]:
        return _positions([line.lstrip("\t") for line in self.text])


def _fence(line: str) -> tuple[int, str]:
    text = line.lstrip(" ")
    label = text.lstrip("`")
    ticks = len(text) - len(label)
    if ticks < LEAST_TICKS or len(line) - len(text) > MOST_INDENT or "`" in label:
        return 0, ""
    return ticks, (label.split() or [""])[0].lower()


def _positions(lines: Sequence[str]) -> dict[str, list[int]]:
    found: defaultdict[str, list[int]] = defaultdict(list)
    for position, line in enumerate(lines):
        found[line].append(position)
    return dict(found)


def _open_quote(line: str, quote: str) -> str:
    """The quote that is open after a line of shell, "" for none, when `quote` was open before it."""
    at_word = True
    position = 0
    while position < len(line):
        char = line[position]
        if quote == "'":
            quote = "" if char == "'" else quote
        elif char == "\\":
            position += 1
        elif quote:
            quote = "" if char == quote else quote
        elif char in "'\"":
            quote = char
        elif char == "#" and at_word:
            break
        at_word = char in " \t;&|("
        position += 1
    return quote
