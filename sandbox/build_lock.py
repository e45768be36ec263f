"""A lock among all builds of this machine's user, in every process: builders share it, removers want it alone.

The classic builder's intermediate images are one cache for all: an image without a child may be what another build is
standing on. The kernel lets go of the lock when a process is killed.
"""

import fcntl
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_WAIT_SEC = 0.05


class BuildLock:
    def __init__(self, path: Path | None = None) -> None:
        self._path = path or Path(tempfile.gettempdir()) / f"terminal-task-forge-{os.getuid()}.lock"

    @contextmanager
    def building(self) -> Iterator[None]:
        """Held while a build runs; waits for a remover, which is quick."""
        handle = self._open()
        try:
            fcntl.flock(handle, fcntl.LOCK_SH)
            yield
        finally:
            os.close(handle)

    @contextmanager
    def removing(self, wait_sec: float = 0.0) -> Iterator[bool]:
        """Yields whether no build is running; then none begins before the end."""
        handle = self._open()
        try:
            yield self._alone(handle, time.monotonic() + wait_sec)
        finally:
            os.close(handle)

    def _open(self) -> int:
        return os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)

    def _alone(self, handle: int, deadline: float) -> bool:
        while True:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() >= deadline:
                    return False
                time.sleep(_WAIT_SEC)
            else:
                return True
