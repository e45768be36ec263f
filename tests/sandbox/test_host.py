"""Decisions about the host, and whose leftovers are whose."""

import os
import socket
import subprocess
import sys
from pathlib import Path

from sandbox.build_lock import BuildLock
from sandbox.labels import owner_is_dead, process_start_ticks, this_process
from sandbox.watching import HostSpace, Space, judge_space, over_allowance, read_space


def test_space_is_judged_by_bytes_and_inodes() -> None:
    assert judge_space(HostSpace(5000, 1_000_000), 1024) is Space.ENOUGH
    assert judge_space(HostSpace(1000, 1_000_000), 1024) is Space.FULL
    assert judge_space(HostSpace(200, 1_000_000), 1024) is Space.CRITICAL
    assert judge_space(HostSpace(5000, 10_000), 1024) is Space.FULL
    assert judge_space(HostSpace(5000, 100), 1024) is Space.CRITICAL
    assert judge_space(HostSpace(5000, None), 1024) is Space.ENOUGH
    assert judge_space(None, 1024) is Space.ENOUGH


def test_an_allowance_is_in_binary_megabytes() -> None:
    assert not over_allowance(1 << 20, 1)
    assert over_allowance((1 << 20) + 1, 1)


def test_space_is_read_where_it_can_be(tmp_path: Path) -> None:
    found = read_space(tmp_path)
    assert found is not None
    assert found.free_mb >= 0
    assert read_space(tmp_path / "not there") is None


def test_owners_live_and_die() -> None:
    assert not owner_is_dead(this_process())
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as other:
        label = f"{socket.gethostname()}:{other.pid}:{process_start_ticks(other.pid)}"
        assert not owner_is_dead(label)
        other.kill()
    assert owner_is_dead(label)
    assert owner_is_dead(f"{socket.gethostname()}:{os.getpid()}:1")
    assert not owner_is_dead(f"elsewhere-{socket.gethostname()}:{other.pid}:1")
    assert not owner_is_dead("nonsense")


def test_builders_share_the_lock_and_removers_do_not(tmp_path: Path) -> None:
    lock = BuildLock(tmp_path / "lock")
    with lock.building(), lock.building(), lock.removing() as alone:
        assert not alone
    with lock.removing() as alone, lock.removing() as second:
        assert alone
        assert not second
    with lock.removing() as alone:
        assert alone
