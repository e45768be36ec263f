"""Task directories on this machine's disk."""

import errno
import os
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from forge.domain.task import Task, TaskRefused
from sandbox.tree import Tree


@dataclass(frozen=True)
class ReadTask:
    """warnings: what the directory says that means nothing here, one line each, with file and key."""

    task: Task
    warnings: tuple[str, ...] = ()


def read_task(path: Path, *, strict: bool = False) -> ReadTask:
    """Read a task directory. Empty folders are not kept. strict: refuse what would otherwise be a warning.

    Raises TaskRefused, with the file and the key; OSError for what cannot be read."""
    if not path.is_dir():
        raise TaskRefused(str(path), "", "no such directory")
    try:
        tree = Tree.read(path)
    except ValueError as error:
        raise TaskRefused(str(path), "", str(error)) from error
    task = Task.from_tree(tree, strict=strict)
    return ReadTask(task, task.warnings())


def check_can_hold(folder: Path) -> None:
    """That task directories can be written below a folder, which may not be there yet. Makes nothing.

    Raises OSError, with the place that stands in the way."""
    there = next(place for place in (folder, *folder.parents) if os.path.lexists(place))
    if not there.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(there))
    if not os.access(there, os.W_OK | os.X_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(there))


def write_task(task: Task, path: Path) -> None:
    """Write a task directory whole or not at all: it is made beside `path` and renamed. What was there is replaced."""
    path.parent.mkdir(parents=True, exist_ok=True)
    made = Path(tempfile.mkdtemp(prefix=f".{path.name}.", dir=path.parent))
    try:
        task.to_tree().write(made)
        made.chmod(0o755)
        _swap(made, path)
    finally:
        shutil.rmtree(made, ignore_errors=True)


def _swap(made: Path, path: Path) -> None:
    if not path.exists():
        os.rename(made, path)
        return
    old = Path(tempfile.mkdtemp(prefix=f".{path.name}.", dir=path.parent))
    os.rename(path, old)
    try:
        os.rename(made, path)
    except OSError:
        os.rename(old, path)
        raise
    finally:
        shutil.rmtree(old, ignore_errors=True)
