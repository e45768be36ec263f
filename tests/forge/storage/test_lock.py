"""One process a run directory."""

from pathlib import Path

import pytest

from forge.storage.errors import RunLocked
from forge.storage.ledger import Ledger
from forge.storage.ledger_reader import LedgerReader
from tests.faults.killing import running
from tests.forge.storage.busy import hold

PRELOAD = ("forge.storage.ledger", "tests.forge.storage.busy")


def test_a_second_process_is_refused_with_the_pid_of_the_first(tmp_path: Path) -> None:
    with running(hold, tmp_path, preload=PRELOAD) as (process, connection):
        assert connection.recv() == "held"
        with pytest.raises(RunLocked, match=f"process {process.pid} ") as refused, Ledger.open(tmp_path):
            pass
        assert refused.value.pid == process.pid
        with LedgerReader(tmp_path) as reader:
            assert reader.candidates() == []
        connection.send("let go")
        process.join()
        with Ledger.open(tmp_path) as ledger:
            assert ledger.once("c", "u", lambda: 1, int) == 1


def test_the_lock_of_a_killed_process_is_free(tmp_path: Path) -> None:
    with running(hold, tmp_path, preload=PRELOAD) as (process, connection):
        assert connection.recv() == "held"
        process.kill()
        process.join()
        with Ledger.open(tmp_path) as ledger:
            assert ledger.once("c", "u", lambda: 1, int) == 1


def test_the_same_process_is_refused_as_well(tmp_path: Path) -> None:
    with Ledger.open(tmp_path), pytest.raises(RunLocked), Ledger.open(tmp_path):
        pass


def test_the_holder_is_named_by_its_pid_only(tmp_path: Path) -> None:
    (tmp_path / "lock").write_text("not a pid, and longer than the pid of any process of before\n")
    with Ledger.open(tmp_path):
        assert (tmp_path / "lock").read_text().strip().isdigit()
