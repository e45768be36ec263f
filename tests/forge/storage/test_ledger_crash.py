"""Killed with SIGKILL at any instant, a ledger keeps what it had said was stored, and nothing twice."""

import hashlib
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from forge.storage.blobs import BLOBS_NAME, INCOMING_NAME
from forge.storage.ledger import Ledger
from forge.storage.ledger_reader import LedgerReader
from tests.faults.killing import rest_of, run_killed, running
from tests.forge.storage.busy import CALLS, answer_of, busy, content_of, request_of, units, until_commit

PRELOAD = ("forge.storage.ledger", "tests.forge.storage.busy")
THREADS, COUNT = 4, 6


def run_until(run_dir: Path, messages: int) -> list[Any]:
    """Kill the busy program when it has said that much; all that it said."""
    with running(busy, run_dir, THREADS, COUNT, preload=PRELOAD) as (process, connection):
        said = []
        for what in rest_of(connection):
            said.append(what)
            if len(said) == messages:
                process.kill()
        return said


def check_kept(run_dir: Path, said: list[Any]) -> None:
    """Everything that was acknowledged is there, whole."""
    with LedgerReader(run_dir) as reader:
        for what in said:
            match what:
                case ("done", candidate, unit):
                    value = reader.value(candidate, unit)
                    assert value is not None
                    assert answer_of(candidate, unit).model_validate_json(value) == answer_of(candidate, unit)
                case ("paid", candidate, unit, number):
                    request = request_of(candidate, unit, int(number))
                    found = reader.reply(f"{candidate}/{unit}", request.digest(), 0)
                    assert found is not None
                    assert found[1].text == f"[{candidate} {unit} {number}]"
                    assert reader.request(found[0]) == request
                case ("blob", sha):
                    reader.blobs.check(sha)
        for path in (run_dir / BLOBS_NAME).glob("??/*"):
            assert hashlib.sha256(path.read_bytes()).hexdigest() == path.name


@pytest.mark.parametrize("seed", range(12))
def test_killed_at_random_instants_until_it_is_through(tmp_path: Path, seed: int) -> None:
    draw = random.Random(seed)
    done: set[tuple[str, str]] = set()
    kills, said_all, ended = 0, Counter[tuple[str, ...]](), False
    while not ended:
        said = run_until(tmp_path, draw.randint(1, 80))
        check_kept(tmp_path, said)
        started = {(what[1], what[2]) for what in said if what[0] == "start"}
        assert not started & done, "a finished unit was done again"
        done |= {(what[1], what[2]) for what in said if what[0] == "done"}
        said_all.update(what for what in said if what[0] == "paid")
        ended = said[-1:] == [("end",)]
        kills += not ended
    assert kills > 0
    assert done == set(units(THREADS, COUNT))
    assert set(said_all.values()) == {1}, "a call was paid twice although its record had returned"
    with Ledger.open(tmp_path) as ledger:
        assert not (ledger.blobs.folder / INCOMING_NAME).exists()
        rows = ledger.read.rows("SELECT candidate, unit, state FROM units ORDER BY candidate, unit")
        assert [tuple(row) for row in rows] == [(*unit, "finished") for unit in sorted(units(THREADS, COUNT))]
        assert ledger.read.rows("PRAGMA integrity_check")[0][0] == "ok"
        # What was recorded in the instant of a kill is paid once as well: it is found by the next attempt.
        spend = ledger.read.spend()
        assert (spend.total.calls, spend.lost.calls) == (THREADS * COUNT * CALLS, 0)


@pytest.mark.parametrize("seed", range(4))
def test_killed_at_every_single_commit(tmp_path: Path, seed: int) -> None:
    """Each run gets past the commits that the runs before it had made; kill at the first, second or third new one."""
    draw = random.Random(seed)
    kills = 0
    while run_killed(until_commit, tmp_path, 3, draw.randint(1, 3), preload=PRELOAD).killed:
        kills += 1
    assert kills > 3
    with LedgerReader(tmp_path) as reader:
        for number in range(3):
            value = reader.value("c0", f"u/{number}")
            assert value is not None
            answer = answer_of("c0", f"u/{number}").model_validate_json(value)
            assert answer == answer_of("c0", f"u/{number}")
            assert reader.blobs.get(answer.blob) == content_of("c0", f"u/{number}")
        assert reader.spend().total.calls == 3 * CALLS
        assert reader.spend().lost.calls == 0
