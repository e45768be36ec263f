"""Reading trees back from a container that may be hostile: what is written out is a clean tar, or nothing.

Each declared path is cleaned into a segment of its own; links are judged at the end, over all that came.
"""

import hashlib
import io
import posixpath
import tarfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import IO, BinaryIO

from sandbox.api import CopiedFile, CopyLimits
from sandbox.errors import CopyRefused
from sandbox.tree import File, Tree

# Where a link may point although nothing of it is copied: what every image brings with it.
SYSTEM = ("/usr/", "/bin/", "/sbin/", "/lib/", "/lib64/", "/etc/")
_HOPS = 40
_BLOCK = 1 << 20
_END = bytes(2 * tarfile.BLOCKSIZE)


class ArchiveBroken(CopyRefused):
    """What the engine sent is no whole archive: it failed, or the files changed while it was reading them."""


class ChunkReader(io.RawIOBase):
    """A file over an iterator of bytes."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks
        self._rest = memoryview(b"")
        self._tail = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        target = memoryview(buffer)  # type: ignore[arg-type]  # the base class types it as a private protocol
        while not self._rest:
            chunk = next(self._chunks, None)
            if chunk is None:
                return 0
            self._note(chunk)
            self._rest = memoryview(chunk)
        count = min(len(target), len(self._rest))
        target[:count] = self._rest[:count]
        self._rest = self._rest[count:]
        return count

    def ends_whole(self) -> bool:
        """Whether the end mark of an archive is the last that comes; reads all that is left."""
        for chunk in self._chunks:
            self._note(chunk)
        return self._tail == _END

    def _note(self, chunk: bytes) -> None:
        self._tail = (self._tail + chunk[-len(_END) :])[-len(_END) :]


@dataclass
class Budget:
    """What may still be read, over all paths of one copy."""

    bytes_left: int
    files_left: int

    @classmethod
    def of(cls, limits: CopyLimits) -> "Budget":
        return cls(limits.max_bytes, limits.max_files)

    def take(self, path: str, size: int) -> None:
        self.files_left -= 1
        if self.files_left < 0:
            raise CopyRefused(path, "too many files")
        if size > self.bytes_left:
            raise CopyRefused(path, "too many bytes")
        self.bytes_left -= size


@dataclass
class Segment:
    """One declared path, cleaned: its members by absolute path, and the target of each link."""

    path: str
    files: dict[str, CopiedFile] = field(default_factory=dict)
    links: dict[str, str] = field(default_factory=dict)


def open_stream(reader: ChunkReader) -> tarfile.TarFile:
    return tarfile.open(fileobj=io.BufferedReader(reader, _BLOCK), mode="r|", bufsize=_BLOCK)


def clean(path: str, chunks: Iterator[bytes], out: tarfile.TarFile, budget: Budget) -> Segment:
    """Copy the engine's archive of `path` to `out`, members named from the root.

    Raises CopyRefused for anything but regular files, folders and links in their places, ArchiveBroken."""
    segment, reader = Segment(path), ChunkReader(chunks)
    try:
        with open_stream(reader) as source:
            for member in source:
                full = _placed(member, segment)
                budget.take(full, member.size if member.isreg() else 0)
                _judge_kind(member, full, segment)
                _copy(member, full, source, out, segment)
    except tarfile.TarError as error:
        raise ArchiveBroken(path, f"not a readable archive ({error})") from error
    if not reader.ends_whole():
        raise ArchiveBroken(path, "the archive was cut short")
    return segment


def _placed(member: tarfile.TarInfo, segment: Segment) -> str:
    """The member's absolute path, if it stands where it may."""
    path = segment.path
    name = posixpath.join(posixpath.dirname(path), member.name.rstrip("/"))
    try:
        name.encode()
    except UnicodeEncodeError as error:
        raise CopyRefused(path, f"a name is not UTF-8: {member.name!r}") from error
    if ".." in name.split("/") or posixpath.normpath(name) != name or "\0" in name:
        raise CopyRefused(path, f"a name that is not normal: {member.name!r}")
    if name != path and not name.startswith(path.rstrip("/") + "/"):
        raise CopyRefused(path, f"{name!r} stands outside")
    if name in segment.files:
        raise CopyRefused(path, f"{name!r} comes twice")
    parent = posixpath.dirname(name)
    if name != path and (parent not in segment.files or segment.files[parent].kind != "folder"):
        raise CopyRefused(path, f"the parent of {name!r} is not a folder")
    return name


def _judge_kind(member: tarfile.TarInfo, full: str, segment: Segment) -> None:
    if member.isreg() or member.isdir():
        return
    if member.issym():
        if full == segment.path:
            raise CopyRefused(full, "is a symbolic link itself")
        segment.links[full] = member.linkname
        return
    if member.islnk():
        target = posixpath.normpath(posixpath.join(posixpath.dirname(segment.path), member.linkname))
        if target not in segment.files or segment.files[target].kind != "file":
            raise CopyRefused(full, f"hard link to {target!r}, which was not copied")
        return
    raise CopyRefused(full, "a special file (device, pipe or socket)")


def _copy(member: tarfile.TarInfo, full: str, source: tarfile.TarFile, out: tarfile.TarFile, segment: Segment) -> None:
    entry = tarfile.TarInfo(full.lstrip("/"))
    entry.type, entry.mtime = member.type, member.mtime
    entry.mode, entry.uid, entry.gid = member.mode & 0o1777, member.uid, member.gid
    kind, size, digest = "folder", 0, ""
    if member.isreg():
        data = source.extractfile(member)
        if data is None:
            raise CopyRefused(full, "has no content")
        entry.type, entry.size = tarfile.REGTYPE, member.size
        hashing = _Hashing(data)
        out.addfile(entry, hashing)
        kind, size, digest = "file", member.size, hashing.digest()
    elif member.islnk():
        target = posixpath.normpath(posixpath.join(posixpath.dirname(segment.path), member.linkname))
        entry.linkname = target.lstrip("/")
        out.addfile(entry)
        kind, size, digest = "file", segment.files[target].size, segment.files[target].sha256
    else:
        if member.issym():
            entry.linkname, kind = member.linkname, "link"
        out.addfile(entry)
    segment.files[full] = CopiedFile(full, kind, size, digest)


class _Hashing(io.RawIOBase):
    """Passes a file on and digests it on the way."""

    def __init__(self, inner: IO[bytes]) -> None:
        self._inner = inner
        self._sha = hashlib.sha256()

    def read(self, size: int = -1) -> bytes:
        data = self._inner.read(size)
        self._sha.update(data)
        return data

    def digest(self) -> str:
        return self._sha.hexdigest()


def judge_links(segments: Iterable[Segment]) -> dict[str, str]:
    """Paths of segments with a link that leaves what is copied, and why. A refused one takes its own tree with it."""
    kept = {segment.path: segment for segment in segments}
    refused: dict[str, str] = {}
    while True:
        kinds = {path: file.kind for segment in kept.values() for path, file in segment.files.items()}
        links = {path: target for segment in kept.values() for path, target in segment.links.items()}
        bad = {}
        for segment in kept.values():
            for link in segment.links:
                why = _leaves(link, kinds, links)
                if why:
                    bad[segment.path] = why
                    break
        if not bad:
            return refused
        refused |= bad
        kept = {path: segment for path, segment in kept.items() if path not in bad}


def _leaves(start: str, kinds: dict[str, str], links: dict[str, str]) -> str | None:
    """Why a link is bad, resolved as the kernel would over the copied tree; None for one that stays."""
    todo, at, hops = start.strip("/").split("/"), "", 0
    while todo:
        part = todo.pop(0)
        if part in ("", "."):
            continue
        if part == "..":
            at = posixpath.dirname(at).rstrip("/")
            continue
        following = f"{at}/{part}"
        if following not in links:
            at = following
            continue
        hops += 1
        if hops > _HOPS:
            return f"{start!r} is a loop of links"
        target = links[following]
        todo = target.split("/") + todo
        if target.startswith("/"):
            at = ""
    if at in kinds or at.startswith(SYSTEM) or _inside_a_folder(at, kinds):
        return None
    return f"{start!r} leads to {at or '/'!r}, which is not copied"


def _inside_a_folder(path: str, kinds: dict[str, str]) -> bool:
    """Whether a path that does not exist would lie in a copied folder (a dangling link, harmless)."""
    parent = posixpath.dirname(path)
    while parent not in ("", "/"):
        if parent in kinds:
            return kinds[parent] == "folder"
        parent = posixpath.dirname(parent)
    return False


def tree_of(path: str, chunks: Iterator[bytes], limits: CopyLimits) -> Tree:
    """The engine's archive of `path` as a Tree, with paths relative to it. Raises CopyRefused (links included)."""
    spool = io.BytesIO()
    with tarfile.open(fileobj=spool, mode="w", format=tarfile.PAX_FORMAT) as out:
        segment = clean(path, chunks, out, Budget.of(limits))
    if segment.links:
        raise CopyRefused(path, f"{next(iter(segment.links))!r} is a symbolic link")
    spool.seek(0)
    return tree_in(spool, path)


def tree_in(archive: BinaryIO, path: str) -> Tree:
    """The regular files below an absolute path in a clean tar."""
    files: dict[str, File] = {}
    base = path.rstrip("/") + "/"
    with tarfile.open(fileobj=archive, mode="r:") as source:
        for member in source:
            data = source.extractfile(member) if member.isreg() or member.islnk() else None
            if data is None:
                continue
            full = f"/{member.name}"
            name = posixpath.basename(path) if full == path else full[len(base) :]
            files[name] = File(data.read(), member.mode & 0o777)
    return Tree(files)
