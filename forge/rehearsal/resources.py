"""The files below a folder of templates."""

from collections.abc import Iterator
from importlib.resources.abc import Traversable


def walk(folder: Traversable, prefix: str = "") -> Iterator[tuple[str, Traversable]]:
    """(relative POSIX path, file) of every file below `folder`, sorted; the interpreter's caches are left out."""
    for entry in sorted(folder.iterdir(), key=lambda item: item.name):
        path = f"{prefix}{entry.name}"
        if entry.is_dir():
            if entry.name != "__pycache__":
                yield from walk(entry, f"{path}/")
        elif not entry.name.endswith(".pyc"):
            yield path, entry
