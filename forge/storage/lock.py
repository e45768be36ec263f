"""One process at a time on a run directory: an flock that the kernel drops when its holder dies, however it dies."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from forge.storage.errors import RunLocked
from forge.storage.ledger_file import is_full, translated

LOCK_NAME = "lock"


@contextmanager
def run_lock(run_dir: Path) -> Iterator[None]:
    """Hold the run directory, which must exist. Raises RunLocked when another open of it is alive, LedgerFull.

    The file stays behind: removing it would let two processes lock two files of one name."""
    try:
        descriptor = os.open(run_dir / LOCK_NAME, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        if is_full(error):
            raise translated(error, run_dir / LOCK_NAME) from error
        raise
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise RunLocked(run_dir, _holder(descriptor)) from None
        # The pid is a courtesy to the one who is refused: on a full disk the lock holds without it.
        with suppress(OSError):
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
        yield
    finally:
        os.close(descriptor)


def _holder(descriptor: int) -> int | None:
    text = os.pread(descriptor, 32, 0).strip()
    return int(text) if text.isdigit() else None
