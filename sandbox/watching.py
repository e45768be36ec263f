"""The watcher: ends containers that exceed their disk allowance, and looks after the host's own space."""

import os
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from sandbox.api import EndReason
from sandbox.container import DockerSandbox
from sandbox.daemon import Daemon, Refusal
from sandbox.errors import EngineUnavailable, HostFull

_MIN_INODES = 20_000


class Space(Enum):
    """FULL: nothing new is started. CRITICAL: the largest consumer is ended."""

    ENOUGH = "enough"
    FULL = "full"
    CRITICAL = "critical"


@dataclass(frozen=True)
class HostSpace:
    """Free space where the engine keeps its data. inodes None: the file system does not count them."""

    free_mb: int
    inodes: int | None


def read_space(folder: Path | None) -> HostSpace | None:
    """None when there is no folder on this machine (a remote engine), or it cannot be read."""
    if folder is None:
        return None
    try:
        found = os.statvfs(folder)
    except OSError:
        return None
    return HostSpace(found.f_bavail * found.f_frsize >> 20, found.f_favail if found.f_files else None)


def judge_space(space: HostSpace | None, min_free_mb: int) -> Space:
    """FULL below the minimum of megabytes or inodes, CRITICAL below a quarter of it."""
    if space is None:
        return Space.ENOUGH
    inodes = _MIN_INODES if space.inodes is None else space.inodes
    if space.free_mb < min_free_mb // 4 or inodes < _MIN_INODES // 4:
        return Space.CRITICAL
    if space.free_mb < min_free_mb or inodes < _MIN_INODES:
        return Space.FULL
    return Space.ENOUGH


def over_allowance(used_bytes: int, disk_mb: int) -> bool:
    return used_bytes > disk_mb << 20


def largest(used: Mapping[DockerSandbox, int]) -> DockerSandbox | None:
    """Who uses most, None when nobody uses anything."""
    found = max(used, key=lambda sandbox: used[sandbox], default=None)
    return found if found is not None and used[found] > 0 else None


class Watcher:
    """One thread for all containers of an engine. `sandboxes` lists those that are open."""

    def __init__(
        self,
        daemon: Daemon,
        sandboxes: Callable[[], Sequence[DockerSandbox]],
        poll_sec: float,
        read: Callable[[], HostSpace | None],
        min_free_mb: int,
    ) -> None:
        self._daemon = daemon
        self._sandboxes = sandboxes
        self._poll_sec = poll_sec
        self._read = read
        self._min_free_mb = min_free_mb
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="disk-watcher", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        self._stop.set()
        self._thread.join()

    def check_host(self) -> None:
        """Raises HostFull."""
        space = self._read()
        if judge_space(space, self._min_free_mb) is not Space.ENOUGH and space is not None:
            raise HostFull(f"the engine's disk has {space.free_mb} MB and {space.inodes} inodes left; free some space")

    def look(self) -> None:
        """One round over all containers."""
        used: dict[DockerSandbox, int] = {}
        for sandbox in self._sandboxes():
            if self._stop.is_set():
                return
            with suppress(Refusal, EngineUnavailable, HostFull):  # being removed; the next round sees the rest
                size = self._size(sandbox)
                if size is not None:
                    used[sandbox] = size
        if judge_space(self._read(), self._min_free_mb) is Space.CRITICAL:
            victim = largest(used)
            if victim is not None:
                with suppress(Refusal, EngineUnavailable, HostFull):
                    victim.end(EndReason.HOST_FULL)

    def _size(self, sandbox: DockerSandbox) -> int | None:
        """What a running container has written, None for one that has just been found over its allowance or ended."""
        found = self._daemon.inspect_container(sandbox.id, size=True)
        sandbox.note_exit(found["State"])
        if not found["State"]["Running"]:
            return None
        size = int(found.get("SizeRw") or 0)
        if over_allowance(size, sandbox.disk_mb):
            sandbox.end(EndReason.DISK)
            return None
        return size

    def _watch(self) -> None:
        while not self._stop.wait(self._poll_sec):
            self.look()
