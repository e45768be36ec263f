"""Trees in and out of a container, running or stopped."""

import posixpath
import tarfile
import tempfile
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import ExitStack
from typing import IO, BinaryIO

from sandbox.api import Collected, CopiedFile, CopyLimits
from sandbox.archive import ArchiveBroken, Budget, Segment, clean, judge_links, tree_of
from sandbox.context import folder_entry, tar_of
from sandbox.daemon import Daemon, Refusal
from sandbox.errors import CopyRefused, PathMissing, SandboxError
from sandbox.tree import Tree

_FOLDER_BIT = 1 << 31
_SPOOL = 16 << 20


def put_tree(daemon: Daemon, container: str, tree: Tree, dest: str, uid: int) -> None:
    """Copy a tree below an absolute folder. Folders that a path of the tree names become real folders."""
    below = checked(dest).strip("/")
    prefix = f"{below}/" if below else ""
    now = time.time()
    data = tar_of(tree, folders=bool(below), uid=uid, below=prefix, time=now)
    if below and not _is_folder(daemon, container, f"/{below}"):
        head = folder_entry(below, uid, now).tobuf(tarfile.PAX_FORMAT)
        data = head + data
    daemon.write_archive(container, data)


def get_tree(daemon: Daemon, container: str, path: str, limits: CopyLimits) -> Tree:
    path = checked(path)
    chunks = archive_of(daemon, container, path)
    try:
        return tree_of(path, chunks, limits)
    finally:
        chunks.close()


def collect_from(
    read: Callable[[str], Iterator[bytes]], paths: Sequence[str], out: BinaryIO, limits: CopyLimits
) -> Collected:
    """What `Sandbox.collect` does. `read` gives the tar of a path, or raises PathMissing or CopyRefused."""
    budget = Budget.of(limits)
    missing: list[str] = []
    refused: dict[str, str] = {}
    kept: list[tuple[Segment, IO[bytes], int]] = []
    todo = sorted({checked(path) for path in paths}, key=lambda path: (path.count("/"), path))
    with ExitStack() as spools:
        while todo:
            for path in todo:
                if _covered(path, kept):
                    continue
                try:
                    kept.append(_segment(read, path, budget, spools))
                except ArchiveBroken as error:
                    raise SandboxError(f"the engine's archive of {error}") from error
                except CopyRefused as error:
                    refused[path] = error.why
                except PathMissing:
                    missing.append(path)
            refused |= judge_links(segment for segment, _, _ in kept)
            kept = [item for item in kept if item[0].path not in refused]
            # What lay in a path that was refused for its links is tried by itself.
            todo = [path for path in todo if path not in refused and path not in missing and not _covered(path, kept)]
        files = _write(kept, out)
    return Collected(tuple(files), tuple(missing), tuple(sorted(refused.items())))


def archive_of(daemon: Daemon, container: str, path: str) -> Generator[bytes, None, None]:
    """The engine's tar of a path whose parents are real folders; closing it ends the transfer."""
    _check_parents(daemon, container, path)
    try:
        stream = daemon.read_archive(container, path)
    except Refusal as error:
        raise PathMissing(path) if _is_missing(error) else error from error
    try:
        yield from stream.chunks()
    finally:
        stream.close()


def checked(path: str) -> str:
    """An absolute path, normalised. Raises ValueError for a relative one."""
    if not path.startswith("/"):
        raise ValueError(f"not an absolute path: {path!r}")
    return posixpath.normpath("/" + path.lstrip("/"))


def _covered(path: str, came: Sequence[tuple[Segment, IO[bytes], int]]) -> bool:
    return any(path in segment.files for segment, _, _ in came)


def _segment(
    read: Callable[[str], Iterator[bytes]], path: str, budget: Budget, spools: ExitStack
) -> tuple[Segment, IO[bytes], int]:
    """The segment, its tar, and how much of it counts (without the end mark)."""
    spool: IO[bytes] = spools.enter_context(tempfile.SpooledTemporaryFile(_SPOOL))  # noqa: SIM115  # the caller closes it
    before = Budget(budget.bytes_left, budget.files_left)
    try:
        chunks = read(path)
        with tarfile.open(fileobj=spool, mode="w", format=tarfile.PAX_FORMAT) as archive:
            segment = clean(path, chunks, archive, budget)
            size = spool.tell()
    except (CopyRefused, PathMissing):
        budget.bytes_left, budget.files_left = before.bytes_left, before.files_left
        raise
    return segment, spool, size


def _write(kept: list[tuple[Segment, IO[bytes], int]], out: BinaryIO) -> list[CopiedFile]:
    files: list[CopiedFile] = []
    for segment, spool, size in kept:
        spool.seek(0)
        left = size
        while left:
            block = spool.read(min(left, 1 << 20))
            out.write(block)
            left -= len(block)
        files += segment.files.values()
    out.write(b"\0" * 2 * tarfile.BLOCKSIZE)
    return sorted(files, key=lambda file: file.path)


def _check_parents(daemon: Daemon, container: str, path: str) -> None:
    """The engine follows links in the middle of a path: each parent must be a real folder."""
    parts = path.strip("/").split("/")
    for count in range(1, len(parts)):
        parent = "/" + "/".join(parts[:count])
        try:
            found = daemon.stat(container, parent)
        except Refusal as error:
            raise PathMissing(path) if _is_missing(error) else error from error
        if found["linkTarget"] or not found["mode"] & _FOLDER_BIT:
            raise CopyRefused(path, f"its parent {parent!r} is not a real folder")


def _is_folder(daemon: Daemon, container: str, path: str) -> bool:
    try:
        found = daemon.stat(container, path)
    except Refusal as error:
        if _is_missing(error):
            return False
        raise
    return not found["linkTarget"] and bool(found["mode"] & _FOLDER_BIT)


def _is_missing(error: Refusal) -> bool:
    return error.status == 404 and "No such container" not in str(error)
