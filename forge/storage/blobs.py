"""Content-addressed files beside the ledger: blobs/ab/abcdef... holds the bytes whose sha256 is abcdef...

A blob is written under a temporary name, brought to the disk and renamed: a name that exists is whole."""

import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedRandom, BufferedReader
from pathlib import Path

from forge.storage.errors import BlobCorrupt, BlobMissing, LedgerFull
from forge.storage.ledger_file import is_full

BLOBS_NAME = "blobs"
INCOMING_NAME = "incoming"


class BlobStore:
    """The blobs of one run directory. Safe to use from many threads; reading needs no lock."""

    def __init__(self, run_dir: Path) -> None:
        self.folder = run_dir / BLOBS_NAME

    def put(self, data: bytes) -> str:
        """Store bytes, once however often they come, and return their sha256. Raises LedgerFull."""
        sha = hashlib.sha256(data).hexdigest()
        if not self.has(sha):
            with self._incoming() as (file, path):
                file.write(data)
                self._keep(file, path, sha)
        return sha

    @contextmanager
    def incoming(self) -> Iterator["IncomingBlob"]:
        """A file to write something large to: `blob.file`, then `blob.keep()`. Without `keep` nothing stays.

        Raises LedgerFull also where the disk is full while the caller writes."""
        with self._incoming() as (file, path):
            yield IncomingBlob(self, file, path)

    def has(self, sha: str) -> bool:
        return self.path(sha).is_file()

    def get(self, sha: str) -> bytes:
        """The bytes of a blob. Raises BlobMissing, BlobCorrupt."""
        with self.open(sha) as file:
            data = file.read()
        if hashlib.sha256(data).hexdigest() != sha:
            raise BlobCorrupt(f"{self.path(sha)}: the content does not match the name; this blob is damaged")
        return data

    def open(self, sha: str) -> BufferedReader:
        """A blob as a file to read, unchecked: for what is too large to hold. Raises BlobMissing."""
        try:
            return self.path(sha).open("rb")
        except FileNotFoundError:
            raise BlobMissing(f"{self.path(sha)}: this blob is missing; was the run directory copied whole?") from None

    def check(self, sha: str) -> None:
        """Read a blob through, in bounded memory. Raises BlobMissing, BlobCorrupt."""
        with self.open(sha) as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
        if found != sha:
            raise BlobCorrupt(f"{self.path(sha)}: the content does not match the name; this blob is damaged")

    def path(self, sha: str) -> Path:
        """Where a blob is, or would be. Raises BlobMissing for what is no sha256."""
        if len(sha) != 64 or not set(sha) <= set("0123456789abcdef"):
            raise BlobMissing(f"no blob has this name: {sha[:80]!r}")
        return self.folder / sha[:2] / sha

    def clear_incoming(self) -> None:
        """Remove what a process that died was writing. Only for the holder of the run's lock."""
        shutil.rmtree(self.folder / INCOMING_NAME, ignore_errors=True)

    @contextmanager
    def _incoming(self) -> Iterator[tuple[BufferedRandom, Path]]:
        path: Path | None = None
        try:
            (self.folder / INCOMING_NAME).mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=self.folder / INCOMING_NAME)
            path = Path(name)
            with os.fdopen(handle, "w+b") as file:
                yield file, path
        except OSError as error:
            if is_full(error):
                raise LedgerFull(f"{self.folder}: no space left; free some on this disk and resume the run") from error
            raise
        finally:
            if path is not None:
                path.unlink(missing_ok=True)

    def _keep(self, file: BufferedRandom, path: Path, sha: str) -> None:
        file.flush()
        os.fsync(file.fileno())
        os.fchmod(file.fileno(), 0o444)
        target = self.path(sha)
        if not target.parent.is_dir():
            target.parent.mkdir(exist_ok=True)
            _sync_folder(self.folder)
        path.rename(target)
        _sync_folder(target.parent)


class IncomingBlob:
    """A blob that is being written; see BlobStore.incoming."""

    def __init__(self, store: BlobStore, file: BufferedRandom, path: Path) -> None:
        self.file = file
        self._store = store
        self._path = path

    def keep(self) -> str:
        """Store what was written and return its sha256; call it once, at the end. Raises LedgerFull."""
        self.file.seek(0)
        sha = hashlib.file_digest(self.file, "sha256").hexdigest()
        if not self._store.has(sha):
            self._store._keep(self.file, self._path, sha)
        return sha


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
