"""The labels by which what we made is found again, and who owns it."""

import os
import socket
from pathlib import Path

from sandbox.api import Owner

RUN = "forge.run"
CANDIDATE = "forge.candidate"
OWNER = "forge.owner"
BUILD = "forge.build"
BUILD_LABEL = f"{BUILD}=1"
REPOSITORY = "terminal-task-forge/image"


def process_start_ticks(pid: int) -> int | None:
    """When a process of this machine started, in clock ticks since boot; None when there is none."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    return int(stat.rpartition(")")[2].split()[19])


def this_process() -> str:
    """The value of the owner label: "host:pid:start ticks"."""
    pid = os.getpid()
    return f"{socket.gethostname()}:{pid}:{process_start_ticks(pid) or 0}"


def owner_is_dead(value: str) -> bool:
    """True when an owner label names a process of this host that no longer lives; another host's is never judged."""
    host, _, rest = value.rpartition(":")[0].rpartition(":")
    start = value.rpartition(":")[2]
    if host != socket.gethostname() or not rest.isdigit() or not start.isdigit():
        return False
    return process_start_ticks(int(rest)) != int(start)


def owner_is_another(value: str) -> bool:
    """True when an owner label names another process of this host, and that one lives."""
    host = value.rpartition(":")[0].rpartition(":")[0]
    return host == socket.gethostname() and value != this_process() and not owner_is_dead(value)


def labels_of(owner: Owner) -> dict[str, str]:
    """Labels of a container; BUILD is overridden, since images that we built carry it."""
    return {RUN: owner.run, CANDIDATE: owner.candidate, OWNER: this_process(), BUILD: "0"}
