"""The helper that kills: it kills when it should, and only then."""

import os
import sys
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from tests.faults.killing import Exit, KillSwitch, rest_of, run_killed, running


def count(folder: Path, at: int) -> None:
    switch = KillSwitch(at)
    for number in range(5):
        (folder / str(number)).touch()
        switch("event", number)


def leave(code: int) -> None:
    sys.exit(code)


def talk(connection: Connection) -> None:
    for number in range(3):
        connection.send((number, os.getpid()))


@pytest.mark.parametrize("at", [1, 3, 5])
def test_killed_at_the_event(tmp_path: Path, at: int) -> None:
    assert run_killed(count, tmp_path, at) == Exit(killed=True, code=None)
    assert len(list(tmp_path.iterdir())) == at


@pytest.mark.parametrize("at", [0, 6])
def test_not_killed(tmp_path: Path, at: int) -> None:
    assert run_killed(count, tmp_path, at) == Exit(killed=False, code=0)
    assert len(list(tmp_path.iterdir())) == 5


def test_an_end_of_its_own_is_told_apart() -> None:
    assert run_killed(leave, 3) == Exit(killed=False, code=3)


def test_what_a_program_says_is_heard_to_its_end() -> None:
    with running(talk) as (process, connection):
        assert list(rest_of(connection)) == [(number, process.pid) for number in range(3)]
        process.join()
        assert process.exitcode == 0
