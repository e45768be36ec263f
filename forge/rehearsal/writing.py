"""Shell commands that put a tree of files in place."""

import base64
import shlex
from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath

from sandbox.tree import Tree

COMMAND_BYTES = 40_000
LINE = 76


def commands(tree: Tree, folder: str) -> list[str]:
    """Write every file of a tree below an absolute folder, in as few commands as stay within a bound each.

    A file that is larger than the bound makes a command of its own."""
    batches: list[list[str]] = []
    room = 0
    for path in tree:
        part = _write(f"{folder}/{path}", tree[path].data)
        if len(part) > room:
            batches.append([])
            room = COMMAND_BYTES
        batches[-1].append(part)
        room -= len(part)
    return ["set -e\n" + "\n".join(batch) for batch in batches]


def remove(paths: Iterable[str], folder: str) -> str:
    return "rm -f -- " + " ".join(shlex.quote(f"{folder}/{path}") for path in paths)


def _write(path: str, data: bytes) -> str:
    target = shlex.quote(path)
    made = f"mkdir -p {shlex.quote(str(PurePosixPath(path).parent))}"
    if not data:
        return f"{made}\n: > {target}"
    text = _plain(data)
    if text is None:
        lines = _wrapped(base64.b64encode(data).decode())
        return f"{made}\nbase64 -d > {target} <<'END'\n{lines}\nEND"
    mark = _mark(text.splitlines())
    return f"{made}\ncat > {target} <<'{mark}'\n{text}{mark}"


def _plain(data: bytes) -> str | None:
    """The text of a file that a here-document reproduces byte by byte, else None."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return None
    return text if text.endswith("\n") and not any(mark in text for mark in "\0\r") else None


def _mark(lines: Sequence[str]) -> str:
    mark = "END"
    while mark in lines:
        mark += "_"
    return mark


def _wrapped(text: str) -> str:
    return "\n".join(text[start : start + LINE] for start in range(0, len(text), LINE))
