"""The same on Docker, with the rehearsal models: killed at any instant and resumed, a run comes to what it would have
come to anyway, and leaves nothing in the engine. Three instants in `make test`, twenty others in `make faults`."""

import json
import os
import random
import signal
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from forge.domain.clue import Clue
from forge.domain.config import Config
from forge.storage.ledger_file import LEDGER_NAME
from forge.storage.ledger_reader import LedgerReader
from tests.faults.killing import run_killed, running
from tests.faults.labelled_engine import build_steps, labelled_base, left_in_engine
from tests.faults.rehearsal_run import (
    ENDED,
    WORKERS,
    demo_clues,
    rehearsal_config,
    rehearse,
    rehearse_until,
    rehearsed,
)
from tests.faults.toy_run import finished_units, kept_tasks

pytestmark = pytest.mark.docker

NOTHING: dict[str, set[str]] = {"containers": set(), "networks": set(), "dangling": set()}
SEEDS = [0, 1, *(pytest.param(seed, marks=pytest.mark.faults) for seed in range(2, 18))]
STEPS = [2, *(pytest.param(step, marks=pytest.mark.faults) for step in (1, 3, 4, 5))]


@dataclass(frozen=True)
class Whole:
    """A run that nobody killed."""

    clues: Sequence[Clue]
    rehearsed: Any
    events: int


@dataclass(frozen=True)
class Run:
    """A run to be killed."""

    folder: Path
    config: Config
    base: str

    @property
    def name(self) -> str:
        return self.config.run.name

    def left(self) -> dict[str, set[str]]:
        return left_in_engine(self.name)


def made_run(folder: Path, stand_in: str) -> Iterator[Run]:
    name = f"faults-{uuid.uuid4().hex[:8]}"
    with labelled_base(name, stand_in) as base:
        yield Run(folder, rehearsal_config(folder, name, stand_in), base)


@pytest.fixture
def run(tmp_path: Path, stand_in: str) -> Iterator[Run]:
    yield from made_run(tmp_path, stand_in)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory, stand_in: str) -> Iterator[Whole]:
    clues = demo_clues("wrong layer wins", "checksum manifest")
    for run in made_run(tmp_path_factory.mktemp("whole"), stand_in):
        assert run_killed(rehearse_until, run.folder, run.config, clues, run.base, 0).code == 0
        ended = json.loads((run.folder / ENDED).read_text())
        assert ended["finished"]
        assert run.left() == NOTHING
        found = rehearsed(run.config)
        assert len([one for one in found.values() if one["kept"]]) == len(clues) == 2
        yield Whole(clues, found, int(ended["events"] * 0.9))


@pytest.mark.parametrize("seed", SEEDS)
def test_killed_anywhere_and_resumed(whole: Whole, run: Run, seed: int) -> None:
    instant = random.Random(seed).randint(1, whole.events)
    assert run_killed(rehearse_until, run.folder, run.config, whole.clues, run.base, instant).killed
    _resumed(whole, run)


@pytest.mark.parametrize("step", STEPS)
def test_killed_while_an_image_is_built_and_resumed(whole: Whole, run: Run, step: int) -> None:
    with (
        build_steps(run.name) as steps,
        running(rehearse, run.folder, run.config, whole.clues, run.base) as (process, _),
    ):
        for _ in range(step):
            next(steps)
        process.kill()
        process.join()
    _resumed(whole, run)


@pytest.mark.faults
@pytest.mark.parametrize("step", [1, 3])
def test_stopped_at_once_while_an_image_is_built_and_resumed(whole: Whole, run: Run, step: int) -> None:
    """An interrupt of the main thread, as a second Ctrl-C makes it: it is clean even before it is resumed."""
    with (
        build_steps(run.name) as steps,
        running(rehearse, run.folder, run.config, whole.clues, run.base) as (process, _),
    ):
        for _ in range(step):
            next(steps)
        os.kill(process.pid or 0, signal.SIGINT)
        process.join()
        assert process.exitcode == 1
    assert run.left() == NOTHING
    _resumed(whole, run)


def _resumed(whole: Whole, run: Run) -> None:
    ledger = run.folder / "runs" / run.name
    done = {}
    if (ledger / LEDGER_NAME).exists():
        with LedgerReader(ledger) as reader:
            done = finished_units(reader)
    assert run_killed(rehearse_until, run.folder, run.config, whole.clues, run.base, 0).code == 0
    assert json.loads((run.folder / ENDED).read_text())["finished"]
    assert rehearsed(run.config) == whole.rehearsed
    assert set(kept_tasks(run.config)) == {name for name, facts in whole.rehearsed.items() if facts["kept"]}
    assert run.left() == NOTHING
    with LedgerReader(ledger) as reader:
        finished = finished_units(reader)
        assert {unit: finished[unit] for unit in done} == done, "a finished unit was done again"
        lost = reader.rows("SELECT DISTINCT candidate, unit FROM spending WHERE lost")
        assert len(lost) <= WORKERS
        assert not {(row["candidate"], row["unit"]) for row in lost} & set(done)
