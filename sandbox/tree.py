"""A tree of regular files in memory: what a build context, a task's part or a folder to copy is made of."""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

MOST_READ_BYTES = 1 << 30
"""The most that is read from a folder on this machine: a tree is kept in memory."""


@dataclass(frozen=True)
class File:
    """Content and permission bits (0o644, 0o755 ...) of one file."""

    data: bytes
    mode: int = 0o644


class Tree(Mapping[str, File]):
    """Immutable: relative POSIX path -> File. Paths are normalised, never absolute, never leave the tree."""

    def __init__(self, files: Mapping[str, File | bytes | str] | None = None) -> None:
        made: dict[str, File] = {}
        for path, content in sorted((files or {}).items()):
            made[_checked(path)] = _as_file(content)
        for path in made:
            for parent in PurePosixPath(path).parents:
                if str(parent) in made:
                    raise ValueError(f"{parent} is both a file and a folder")
        self._files = made

    def __getitem__(self, path: str) -> File:
        return self._files[path]

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def __len__(self) -> int:
        return len(self._files)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Tree) and self._files == other._files

    def __hash__(self) -> int:
        return hash(self.digest(modes=True))

    def __repr__(self) -> str:
        return f"Tree({', '.join(self._files)})"

    def digest(self, *, modes: bool = False) -> str:
        """sha256 over sorted lines "path\\0sha256(file)\\n"; with modes, "path\\0sha256(file)\\0octal mode\\n"."""
        total = hashlib.sha256()
        for path, file in self._files.items():
            line = f"{path}\0{hashlib.sha256(file.data).hexdigest()}"
            total.update((f"{line}\0{file.mode:o}\n" if modes else f"{line}\n").encode())
        return total.hexdigest()

    def size(self) -> int:
        """Bytes of all files."""
        return sum(len(file.data) for file in self._files.values())

    def under(self, folder: str) -> "Tree":
        """The files below `folder`, with paths relative to it."""
        prefix = folder.rstrip("/") + "/"
        return Tree({path[len(prefix) :]: file for path, file in self._files.items() if path.startswith(prefix)})

    def at(self, folder: str) -> "Tree":
        """The same files below `folder`."""
        return Tree({f"{folder.rstrip('/')}/{path}": file for path, file in self._files.items()})

    def merged(self, other: Mapping[str, File | bytes | str]) -> "Tree":
        """These files and `other`'s; `other` wins."""
        return Tree({**self._files, **other})

    def without(self, *paths: str) -> "Tree":
        return Tree({path: file for path, file in self._files.items() if path not in paths})

    @classmethod
    def read(cls, folder: Path) -> "Tree":
        """All files below a folder on this machine.

        Raises ValueError for symlinks, special files, names that are not UTF-8 and more than MOST_READ_BYTES, OSError
        for what cannot be read."""
        files: dict[str, File] = {}
        size = 0
        for path in sorted(folder.rglob("*")):
            relative = path.relative_to(folder).as_posix()
            if path.is_symlink():
                raise ValueError(f"{relative}: symbolic links are not supported")
            if path.is_dir():
                continue
            if not path.is_file():
                raise ValueError(f"{relative}: not a regular file")
            size += path.stat().st_size
            if size > MOST_READ_BYTES:
                raise ValueError(f"{relative}: the folder holds more than {MOST_READ_BYTES >> 20} MB")
            files[relative] = File(path.read_bytes(), path.stat().st_mode & 0o777)
        return cls(files)

    def write(self, folder: Path) -> None:
        """Write all files below a folder on this machine."""
        for path, file in self._files.items():
            target = folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(file.data)
            target.chmod(file.mode)


def _as_file(content: File | bytes | str) -> File:
    if isinstance(content, File):
        return content
    return File(content.encode() if isinstance(content, str) else content)


def _checked(path: str) -> str:
    pure = PurePosixPath(path)
    if not path or pure.is_absolute() or ".." in pure.parts or str(pure) != path or "\0" in path or path == ".":
        raise ValueError(f"not a normalised relative path: {path!r}")
    if any("\ud800" <= letter <= "\udfff" for letter in path):
        raise ValueError(f"a name is not UTF-8: {path!r}")
    return path
