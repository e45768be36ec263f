"""What a conversation has shown: the view, put together from the commands that shell.py makes."""

import re
import shlex

from solvers.rehearsal.conversation import Conversation
from solvers.rehearsal.technique import Output, View

LISTED = re.compile(r"^(\d+) (/.*)$", re.MULTILINE)
HEADER = re.compile(r"(?:^|\n)==> (/[^\n]*) <==\n")
READ = re.compile(r"head -v -c (\d+) -- (.+)")


def view_of(conversation: Conversation) -> View:
    sizes: dict[str, int] = {}
    files: dict[str, str] = {}
    heads: dict[str, str] = {}
    for command, output in conversation.turns:
        if command.startswith("find "):
            sizes.update((path, int(size)) for size, path in LISTED.findall(output.stdout) if len(size) < 16)
        for path, text, whole in _shown(command, output, sizes):
            files.pop(path, None)
            heads.pop(path, None)
            (files if whole else heads)[path] = text
    listing = tuple(sizes) + tuple(path for path in [*files, *heads] if path not in sizes)
    return View(conversation.instruction, listing, sizes, files, heads, conversation.turns)


def _shown(command: str, output: Output, sizes: dict[str, int]) -> list[tuple[str, str, bool]]:
    """(path, text, whether it is the whole text) of each file that a read shows."""
    read = READ.fullmatch(command)
    if read is None or len(read.group(1)) > 9:
        return []
    limit, asked = int(read.group(1)), _words(read.group(2))
    marks = [mark for mark in HEADER.finditer(output.stdout) if mark.group(1) in asked]
    shown = []
    ends = [*(mark.start() for mark in marks[1:]), len(output.stdout)]
    for mark, stop in zip(marks, ends, strict=False):
        text = output.stdout[mark.end() : stop]
        whole = output.whole and len(text.encode("utf-8", "surrogatepass")) < limit
        shown.append((mark.group(1), text, whole and sizes.get(mark.group(1), 0) <= limit))
    return shown


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:
        return []
