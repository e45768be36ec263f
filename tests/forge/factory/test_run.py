"""A run as a whole: begun, stopped, halted, resumed, added to; whatever happens, its end is clean."""

import os
import signal
import threading
from collections.abc import Callable, Sequence

import pytest

from forge.domain.clue import Clue
from forge.factory.begin import RunDiffers
from forge.factory.signals import StopKind
from forge.storage.errors import RunLocked
from forge.storage.ledger import Ledger
from sandbox.errors import EngineUnavailable, HostFull, ImageMissing
from solvers.errors import ModelKeyMissing, ModelUnknown
from solvers.model import Message
from tests.faults.killing import run_killed
from tests.faults.toy_models import CLUES, author
from tests.faults.toy_run import NAME, finished_units, told, toy_config, toy_with_little_disk
from tests.forge.factory.world import World

KINDS = ("easy", "strict", "broken")


class Nth:
    """Does something at the n-th call."""

    def __init__(self, number: int, act: Callable[[], None]) -> None:
        self.number, self.act = number, act
        self.calls = 0
        self._lock = threading.Lock()

    def __call__(self, *_what: object) -> None:
        with self._lock:
            self.calls += 1
            now = self.calls == self.number
        if now:
            self.act()


@pytest.fixture
def whole(tmp_path_factory: pytest.TempPathFactory) -> World:
    """A run of the same clues that nothing happened to."""
    made = World(tmp_path_factory.mktemp("whole"))
    assert made.run(*KINDS).finished
    return made


def check_same(world: World, whole: World) -> None:
    assert told(world.config()) == told(whole.config())
    assert world.kept() == set(KINDS)
    assert world.host.sandboxes == {}


@pytest.mark.parametrize("commit", [1, 12, 40, 90])
def test_stopped_once_and_resumed(world: World, whole: World, commit: int) -> None:
    summary = world.run(*KINDS, on_commit=Nth(commit, lambda: world.stop.set(StopKind.INTERRUPTED, "interrupted")))
    assert (summary.stopped, summary.why) == (StopKind.INTERRUPTED, "interrupted")
    assert summary.interrupted == len(KINDS) - summary.retained > 0
    assert world.host.sandboxes == {}
    with world.reader() as reader:
        done = finished_units(reader)
        states = {row.id: row.state.value for row in reader.candidates()}
    assert set(states.values()) <= {"retained", "interrupted"}
    assert world.run(*KINDS).finished
    check_same(world, whole)
    with world.reader() as reader:
        assert {unit: finished_units(reader)[unit] for unit in done} == done
        assert reader.spend().lost.calls == 0


@pytest.mark.parametrize("event", [30, 150, 300])
def test_stopped_at_once_and_resumed(world: World, whole: World, event: int) -> None:
    """Ctrl-C for the second time: the main thread is interrupted while workers are anywhere."""
    threads = set(threading.enumerate())
    interrupt = Nth(event, lambda: os.kill(os.getpid(), signal.SIGINT))
    with pytest.raises(KeyboardInterrupt):
        world.run(*KINDS, engine=world.engine(on_event=interrupt))
    assert world.host.sandboxes == {}
    left = [thread for thread in set(threading.enumerate()) - threads if thread.name.startswith(("candidate", "trial"))]
    assert left == []
    assert world.run(*KINDS).finished
    check_same(world, whole)


@pytest.mark.parametrize("error", [EngineUnavailable("gone"), HostFull("the disk is full")])
def test_engine_that_is_gone_halts_the_run_with_what_was_done(world: World, whole: World, error: Exception) -> None:
    broken = Nth(150, lambda: None)

    def on_event(name: str) -> None:
        broken(name)
        if broken.calls > broken.number and name in ("build", "start", "exec"):
            raise error

    summary = world.run(*KINDS, engine=world.engine(on_event=on_event))
    assert (summary.stopped, summary.why) == (StopKind.HALTED, f"{type(error).__name__}: {error}")
    assert (summary.errored, summary.discarded) == (0, 0)
    assert summary.interrupted > 0
    assert world.run(*KINDS).finished
    check_same(world, whole)


def test_wrong_model_is_refused_before_anything_begins_and_can_be_put_right(world: World) -> None:
    events: list[str] = []
    with pytest.raises(ModelUnknown, match="rehearsal/nobody"):
        world.run("easy", engine=world.engine(on_event=events.append), author__model="rehearsal/nobody")
    assert set(events) <= {"sweep"}
    assert world.run("easy").retained == 1


def test_missing_image_of_the_draft_sandbox_is_refused_before_anything_begins(world: World) -> None:
    with pytest.raises(ImageMissing, match="nobody/has-it"):
        world.run("easy", sandbox__author_image="nobody/has-it:1")
    with Ledger.open(world.folder / "runs" / NAME) as ledger:
        assert ledger.read.candidates() == []
    assert world.run("easy").retained == 1


def test_missing_key_is_refused_before_anything_begins(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FORGE_TEST_KEY", raising=False)
    with pytest.raises(ModelKeyMissing, match="FORGE_TEST_KEY"):
        world.run(
            "easy", author__model="openai/author", models_table={"openai/author": {"api_key_env": "FORGE_TEST_KEY"}}
        )
    with Ledger.open(world.folder / "runs" / NAME) as ledger:
        assert ledger.read.candidates() == []


def test_second_run_adds_clues_and_leaves_the_first_alone(world: World, whole: World) -> None:
    assert world.run("easy").retained == 1
    with world.reader() as reader:
        before = finished_units(reader)
    summary = world.run(*KINDS)
    assert (summary.retained, summary.interrupted) == (3, 0)
    check_same(world, whole)
    with world.reader() as reader:
        after = finished_units(reader)
    assert {unit: after[unit] for unit in before} == before
    assert {unit for unit in after if unit[0] == "easy"} == set(before)


def test_run_that_is_over_does_nothing_more(world: World) -> None:
    events: list[str] = []
    world.run("broken")
    assert world.run(engine=world.engine(on_event=events.append)).retained == 1
    assert set(events) <= {"sweep"}


def test_what_makes_the_record_something_else_may_not_change(world: World) -> None:
    world.run("easy")
    with pytest.raises(
        RunDiffers, match=r"run toy: run\.seed was 7 and is 8; calibration\.strong was 'strong' and is 'weak'"
    ):
        world.run("easy", run__seed=8, calibration__strong="weak", calibration__weak="strong")
    with pytest.raises(RunDiffers, match="author"):
        world.run("easy", author__temperature=0.5)
    assert world.run("easy", run__trials_at_once=1, calibration__max_rounds=9).retained == 1


def test_clue_with_a_known_id_and_another_text_is_refused(world: World) -> None:
    world.run("easy")
    with pytest.raises(RunDiffers, match="clues with these ids are there with another content: easy"):
        world.run(clues=[Clue(id="easy", text="toy easy garlic")])


def test_second_process_is_refused(world: World) -> None:
    with Ledger.open(world.folder / "runs" / NAME), pytest.raises(RunLocked):
        world.run("easy")


def test_candidate_that_errored_does_not_hurt_the_others_and_is_tried_again(world: World, whole: World) -> None:
    def buggy(messages: Sequence[Message], seed: int | None) -> str:
        if "toy strict" in messages[1].content:
            raise ZeroDivisionError("bug")
        return author(messages, seed)

    summary = world.run(*KINDS, models={"author": buggy})
    assert (summary.retained, summary.errored, summary.stopped) == (2, 1, None)
    assert world.end("strict")[0] == "errored"
    assert "ZeroDivisionError: bug" in world.end("strict")[2]
    assert world.run(*KINDS).finished
    check_same(world, whole)


def test_disk_that_fills_up_ends_the_run_and_loses_nothing(world: World, whole: World) -> None:
    """A limit on the size of files fails writes as a full disk does."""
    config = toy_config(world.folder)
    clues = [clue for clue in CLUES if clue.id in KINDS]
    assert run_killed(toy_with_little_disk, world.folder, 300_000, config, clues).code == 28
    with world.reader() as reader:
        done = finished_units(reader)
    assert len(done) > 0
    assert world.run(*KINDS).finished
    check_same(world, whole)
    with world.reader() as reader:
        assert {unit: finished_units(reader)[unit] for unit in done} == done
