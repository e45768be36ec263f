"""Killed with SIGKILL at any instant and started again, a run comes to what it would have come to anyway, and pays for
nothing twice. On the fake engine: 200 instants, and some more while tasks are kept."""

import json
import random
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from forge.domain.clue import Clue
from forge.domain.config import Config
from forge.storage.ledger_file import LEDGER_NAME
from forge.storage.ledger_reader import LedgerReader
from solvers.serve import ProgramServer
from tests.faults.killing import run_killed
from tests.faults.toy_machine import ASKED, STAND_IN
from tests.faults.toy_models import CLUES, programs
from tests.faults.toy_run import (
    ENDED,
    NAME,
    finished_units,
    kept_tasks,
    paid_calls,
    recorded_calls,
    served_config,
    served_until,
    told,
    toy_config,
    toy_until,
    toy_until_file,
)

SEEDS = 100
KILLS = (1, 2, 2, 3)
"""How often a seed is killed in a row: 200 instants over all seeds."""

WORLDS = (CLUES[::2], CLUES[1::2])
"""Seeds take turns with them: three candidates at once each, of six kinds together."""

WORKERS = 6
"""The most calls that can be under way at once: three candidates and three trials."""


@dataclass(frozen=True)
class Whole:
    """A run that nobody killed. calls: those recorded, by what was asked. events: at least as many as there are."""

    clues: Sequence[Clue]
    told: Mapping[str, Any]
    calls: Mapping[str, int]
    events: int


@pytest.fixture
def folder() -> Iterator[Path]:
    """In memory where there is such a place: a killed process loses nothing that it wrote to either."""
    memory = Path("/dev/shm")
    made = Path(tempfile.mkdtemp(prefix="toy-", dir=memory if memory.is_dir() else None))
    yield made
    shutil.rmtree(made)


@pytest.fixture(scope="module")
def wholes(tmp_path_factory: pytest.TempPathFactory) -> Sequence[Whole]:
    """One of each world."""
    return [_whole(tmp_path_factory.mktemp("whole"), clues) for clues in WORLDS]


def _whole(folder: Path, clues: Sequence[Clue]) -> Whole:
    config = toy_config(folder)
    assert run_killed(toy_until, folder, 0, config, clues).code == 0
    ended = json.loads((folder / ENDED).read_text())
    assert ended["finished"]
    with LedgerReader(folder / "runs" / NAME) as reader:
        calls = recorded_calls(reader)
    assert paid_calls(folder) == calls
    # Commits that several threads ask for at once are one; how many are depends on chance.
    return Whole(clues, told(config), calls, int(ended["events"] * 0.95))


def test_toy_worlds_are_what_they_say(wholes: Sequence[Whole]) -> None:
    """Each kind of clue goes its own way, or the kills below would show less than they say."""
    found = {candidate: facts for whole in wholes for candidate, facts in whole.told.items()}
    ways = {
        candidate: [(one["decision"]["diagnosis"] or one["decision"]["kind"]).value for one in facts["rounds"]]
        for candidate, facts in found.items()
    }
    assert ways == {
        "easy": ["too_easy", "retain"],
        "hard": ["too_hard", "retain"],
        "strict": ["too_hard", "retain"],
        "inverted": ["inverted", "too_easy", "retain"],
        "broken": ["retain"],
        "hopeless": ["too_easy"],
    }
    kept = {candidate for candidate, facts in found.items() if facts["kept"]}
    assert kept == {"easy", "hard", "strict", "inverted", "broken"}
    assert found["hopeless"]["end"][1] == "no_revision"
    assert "r1/repair/1" in found["broken"]["units"]
    assert {"r2/regrade/strong", "r2/regrade/weak"} <= found["strict"]["units"]
    assert not any(unit.startswith("r2/trial") for unit in found["strict"]["units"])


@pytest.mark.parametrize("seed", range(SEEDS))
def test_killed_anywhere_and_resumed(wholes: Sequence[Whole], folder: Path, seed: int) -> None:
    draw, whole = random.Random(seed), wholes[seed % 2]
    config = toy_config(folder)
    instants = sorted(draw.sample(range(1, whole.events), KILLS[seed // 2 % len(KILLS)]))
    done: dict[tuple[str, str], tuple[int, float]] = {}
    for before, instant in zip([0, *instants], instants, strict=False):
        assert run_killed(toy_until, folder, instant - before, config, whole.clues).killed
        done |= _checked_after_a_kill(folder, config, whole)
    assert run_killed(toy_until, folder, 0, config, whole.clues).code == 0
    ended = json.loads((folder / ENDED).read_text())
    assert (ended["finished"], ended["containers"]) == (True, 0)
    _check_end(folder, config, whole)
    with LedgerReader(folder / "runs" / NAME) as reader:
        finished = finished_units(reader)
        assert {unit: finished[unit] for unit in done} == done, "a finished unit was done again"
        _check_calls(reader, folder, whole, kills=len(instants))
        assert reader.run().substitutes == ((ASKED, STAND_IN),)


@pytest.mark.parametrize("instant", range(1, 40, 3))
def test_killed_while_a_task_is_kept(wholes: Sequence[Whole], folder: Path, instant: int) -> None:
    """At any step on the folder of kept tasks: what stands there under a candidate's name is whole."""
    config, whole = toy_config(folder), wholes[0]
    clues = [clue for clue in whole.clues if clue.id in ("broken", "strict")]
    assert run_killed(toy_until_file, folder, instant, config, clues).killed
    kept = {name: digest for name, digest in kept_tasks(config).items() if not name.startswith(".")}
    assert kept.items() <= {clue.id: whole.told[clue.id]["kept"] for clue in clues}.items()
    assert run_killed(toy_until_file, folder, 0, config, clues).code == 0
    _check_end(folder, config, whole)


@pytest.mark.parametrize("seed", range(6))
def test_money_is_paid_once(folder: Path, seed: int) -> None:
    """With models behind a real socket that cost money: what is asked for twice is what was under way at the kill."""
    clues = WORLDS[seed % 2]
    (folder / "killed").mkdir()
    (folder / "whole").mkdir()
    with ProgramServer(programs("")) as server:
        config = served_config(folder / "whole", server.api_base)
        assert run_killed(served_until, folder / "whole", 0, config, clues).code == 0
        events = json.loads((folder / "whole" / ENDED).read_text())["events"]
        asked = len(server.seen)
        killed = served_config(folder / "killed", server.api_base)
        instant = random.Random(seed).randint(events // 10, events * 9 // 10)
        assert run_killed(served_until, folder / "killed", instant, killed, clues).killed
        assert run_killed(served_until, folder / "killed", 0, killed, clues).code == 0
        assert asked <= len(server.seen) - asked <= asked + WORKERS
    with LedgerReader(folder / "whole" / "runs" / NAME) as one, LedgerReader(folder / "killed" / "runs" / NAME) as two:
        assert one.spend().total.known_usd == pytest.approx(two.spend().total.known_usd)
        assert (two.spend().total.calls, two.spend().lost.calls) == (asked, 0)
    assert told(killed) == told(config)


def _checked_after_a_kill(folder: Path, config: Config, whole: Whole) -> Mapping[tuple[str, str], tuple[int, float]]:
    """The units that had finished; what stands among the kept tasks is whole."""
    assert not (folder / ENDED).exists()
    for name, digest in kept_tasks(config).items():
        assert name.startswith(".") or digest == whole.told[name]["kept"]
    run = folder / "runs" / NAME
    if not (run / LEDGER_NAME).exists():
        return {}
    with LedgerReader(run) as reader:
        return finished_units(reader)


def _check_end(folder: Path, config: Config, whole: Whole) -> None:
    """The same as without a kill, and nothing half done beside it."""
    found = told(config)
    assert found == {candidate: whole.told[candidate] for candidate in found}
    assert found
    assert set(kept_tasks(config)) == {candidate for candidate, facts in found.items() if facts["kept"]}
    assert not [path for path in (folder / "runs" / NAME / "live").rglob("*") if path.is_file()]


def _check_calls(reader: LedgerReader, folder: Path, whole: Whole, kills: int) -> None:
    """Every call was recorded once, whatever was killed: what is paid twice is what nobody had seen the answer of."""
    recorded = recorded_calls(reader)
    assert recorded == whole.calls
    assert reader.spend().lost.calls == 0
    unseen = paid_calls(folder)
    unseen.subtract(recorded)
    assert min(unseen.values()) >= 0
    assert unseen.total() <= kills * WORKERS
    replayed = reader.rows(
        "SELECT c.found_by, u.attempt FROM calls c JOIN units u USING (candidate, unit) WHERE c.attempt < u.attempt"
    )
    assert all(row["found_by"] == row["attempt"] for row in replayed)
