"""A trial as a unit: what is tried again, what becomes an errored trial, and what a silent verifier means."""

from collections.abc import Sequence

import pytest

from forge.domain.outcome import DecisionKind, Outcome
from sandbox.errors import SandboxError, SandboxGone
from sandbox.fake_process import Answer, Call
from solvers.model import Message
from tests.faults.toy_models import author, strong, weak
from tests.forge.factory.world import World, changing, raising, saying

NOP = {"name": "idle", "policy": "nop"}
SOLVERS = [{"name": name, "model": f"rehearsal/{name}"} for name in ("strong", "weak")]


@pytest.mark.parametrize("error", [SandboxError("lost"), SandboxGone("lost"), ConnectionResetError("lost")])
def test_engine_that_fails_for_one_solver_is_tried_again(world: World, error: Exception) -> None:
    engine = world.engine(programs={"trouble": raising(error, times=3)})
    assert world.run("broken", engine=engine, models={"strong": saying(strong, "trouble")}).retained == 1
    assert world.stop.waited == [2.0, 8.0, 32.0]
    assert world.attempts("broken", "r1/trial/strong/0") == 4
    assert world.attempts("broken", "r1/trial/weak/0") == 1
    assert len(world.events("broken", "retry")) == 3
    with world.reader() as reader:
        assert reader.spend().lost.calls == 0, "what the attempts before had paid for was found again"


def test_trial_that_stays_broken_is_errored_and_its_round_repeated(world: World) -> None:
    engine = world.engine(programs={"trouble": raising(SandboxError("lost"), times=4)})
    assert world.run("broken", engine=engine, models={"strong": saying(strong, "trouble")}).retained == 1
    units = world.units("broken")
    assert "r1/trial/strong/0/errored" in units
    assert "r1/trial/strong/1" in units
    assert "r1/trial/weak/1" not in units, "an outcome that is known is not asked for again"
    (only,) = world.rounds("broken")
    assert only.decision.kind is DecisionKind.RETAIN
    assert world.end("broken")[0] == "retained"
    assert len(world.events("broken", "undecided")) == 1
    assert [path for path in (world.folder / "runs").rglob("live/**/*") if path.is_file()] == []


def test_errored_trial_is_never_a_fail(world: World) -> None:
    """Where another outcome decides, the round goes on without it, and says so."""
    engine = world.engine(programs={"trouble": raising(SandboxError("lost"), times=99)})
    summary = world.run(
        "easy",
        engine=engine,
        models={"weak": saying(weak, "trouble")},
        solvers=[*SOLVERS, NOP],
        calibration__strategy="multi-solver",
        calibration__error_retries=0,
        run__trials_at_once=1,
    )
    assert summary.retained == 1
    (only,) = world.rounds("easy")
    outcomes = {trial.solver: trial.outcome for trial in only.trials}
    assert outcomes == {"strong": Outcome.PASSED, "weak": Outcome.ERRORED, "idle": Outcome.FAILED}
    (errored,) = [trial for trial in only.trials if trial.solver == "weak"]
    assert (errored.verdict, errored.error) == (None, "SandboxError: lost")
    with world.reader() as reader:
        assert b"trouble" in reader.blobs.get(errored.trajectory_blob), "what it did before is kept"
    assert only.decision.reason == "1 of 3 solvers passed, without weak"


def test_bug_of_a_program_is_not_tried_again_within_a_round(world: World) -> None:
    asked: list[int] = []

    def buggy(messages: Sequence[Message], seed: int | None) -> str:
        asked.append(1)
        if len(asked) == 1:
            raise ZeroDivisionError("bug")
        return weak(messages, seed)

    assert world.run("broken", models={"weak": buggy}).retained == 1
    assert world.attempts("broken", "r1/trial/weak/0") == 1
    assert "r1/trial/weak/1" in world.units("broken")


def test_round_that_stays_undecided_costs_time_and_no_round(world: World) -> None:
    engine = world.engine(programs={"trouble": raising(SandboxError("lost"), times=10_000)})
    summary = world.run(
        "broken",
        engine=engine,
        models={"strong": saying(strong, "trouble")},
        calibration__error_retries=0,
        budget__candidate_hours=0.1,
    )
    assert (summary.discarded, summary.errored) == (1, 0)
    assert world.end("broken")[1] == "time_spent"
    assert world.rounds("broken") == []
    assert sum(world.stop.waited) >= 360
    assert max(world.stop.waited) == 60.0
    assert world.attempts("broken", "r1/trial/weak/0") == 1


def test_silent_verifier_is_asked_once_more_and_then_a_fail_if_the_solution_passes(world: World) -> None:
    """A verifier that falls silent at what the strong solver wrote, but not at the reference solution."""
    silent = "if grep -q '#' /app/out/word.txt; then exit 0; fi\nstatus=failed"
    judges = world.engine()
    assert (
        world.run("broken", engine=judges, models={"author": changing(author, "status=failed", silent)}).retained == 0
    )
    (trial,) = [trial for trial in world.rounds("broken")[0].trials if trial.solver == "strong"]
    assert trial.outcome is Outcome.FAILED
    assert trial.verdict is not None
    assert trial.verdict.problem == "the verifier wrote no reward"
    assert trial.verdict.reward is None


def test_silent_verifier_is_an_error_if_the_solution_does_not_pass_either(world: World) -> None:
    """A verifier that is broken while the strong solver is judged, and well again afterwards."""
    asked: list[str] = []
    runs: list[bool] = []

    def asked_by(name: str, messages: Sequence[Message], seed: int | None) -> str:
        asked.append(name)
        return (strong if name == "strong" else weak)(messages, seed)

    def works(call: Call) -> Answer:
        broken = asked[-1:] == ["strong"] and "weak" not in asked
        runs.append(not broken)
        return Answer(1 if broken else 0)

    summary = world.run(
        "broken",
        engine=world.engine(programs={"works": works}),
        models={
            "author": changing(author, "status=failed", "works || exit 0\nstatus=failed"),
            "strong": lambda messages, seed: asked_by("strong", messages, seed),
            "weak": lambda messages, seed: asked_by("weak", messages, seed),
        },
        run__trials_at_once=1,
        calibration__error_retries=1,
    )
    assert summary.retained == 1
    # Two containers for the trial and two for the solution, for each of the two attempts.
    assert runs.count(False) == 8
    assert "r1/trial/strong/0/errored" in world.units("broken")
    (text,) = [text for text in world.events("broken", "error") if "r1/trial/strong/0" in text]
    assert "the verifier gives no verdict, on the solution neither: the verifier wrote no reward" in text
