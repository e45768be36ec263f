"""The difference of two trees as text."""

import difflib
from collections.abc import Iterator

from sandbox.tree import File, Tree

LARGEST = 1 << 18
"""Files with more bytes are named only: they would make the diff slow and unreadable."""

MOST_LINES = 5000


def unified_diff(before: Tree, after: Tree, *, context: int = 3) -> str:
    """A unified diff as git writes it, "" for equal trees. Binary and very large files are named only."""
    return "".join(_pieces(before, after, context))


def _pieces(before: Tree, after: Tree, context: int) -> Iterator[str]:
    for path in sorted({*before, *after}):
        old, new = before.get(path), after.get(path)
        if old != new:
            yield from _file(path, old, new, context)


def _file(path: str, old: File | None, new: File | None, context: int) -> Iterator[str]:
    left, right = _quoted(f"a/{path}"), _quoted(f"b/{path}")
    yield f"diff --git {left} {right}\n"
    if old is None and new is not None:
        yield f"new file mode 100{new.mode:o}\n"
        left = "/dev/null"
    elif new is None and old is not None:
        yield f"deleted file mode 100{old.mode:o}\n"
        right = "/dev/null"
    elif old is not None and new is not None and old.mode != new.mode:
        yield f"old mode 100{old.mode:o}\nnew mode 100{new.mode:o}\n"
    old_data, new_data = old.data if old else b"", new.data if new else b""
    if old_data == new_data:
        return
    old_lines, new_lines = _lines(old_data), _lines(new_data)
    if old_lines is None or new_lines is None:
        yield f"Binary files {left} and {right} differ\n"
        return
    for line in difflib.unified_diff(old_lines, new_lines, left, right, n=context):
        yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"


def _lines(data: bytes) -> list[str] | None:
    """The lines with their ends, None for what is not shown line by line."""
    if b"\0" in data or len(data) > LARGEST:
        return None
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return None
    # Only "\n" ends a line here: splitlines knows a dozen more, which would tear lines apart.
    lines = [f"{line}\n" for line in text.split("\n")]
    last = lines.pop()[:-1]
    lines += [last] if last else []
    return lines if len(lines) <= MOST_LINES else None


def _quoted(path: str) -> str:
    plain = path.isascii() and path.isprintable() and '"' not in path and "\\" not in path
    return path if plain else '"' + path.encode("unicode_escape").decode().replace('"', '\\"') + '"'
