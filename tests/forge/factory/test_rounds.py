"""One round: who is asked, who need not be, what is recorded."""

from forge.domain.outcome import DecisionKind, Outcome
from forge.factory.signals import StopKind
from sandbox.errors import EngineUnavailable
from solvers.scripted import Scripted
from tests.faults.toy_models import strong
from tests.forge.factory.world import World, raising, saying

POOL = [
    {"name": "strong", "model": "rehearsal/strong"},
    {"name": "weak", "model": "rehearsal/weak"},
    {"name": "endless", "model": "rehearsal/endless", "steps": 1_000_000},
]


def test_solver_that_cannot_change_the_decision_is_cancelled(world: World) -> None:
    world.run(
        "broken",
        models={"endless": Scripted(["```bash\ntrue\n```"])},
        solvers=POOL,
        calibration__strategy="multi-solver",
    )
    (only,) = world.rounds("broken")
    assert {trial.solver: trial.outcome for trial in only.trials} == {
        "strong": Outcome.PASSED,
        "weak": Outcome.FAILED,
        "endless": Outcome.CANCELLED,
    }
    assert only.decision.kind is DecisionKind.RETAIN


def test_trial_that_was_cut_off_by_a_halt_is_tried_again(world: World) -> None:
    """The strong solver's trial halts the run while the weak one is at work; a later run asks both again."""
    solvers = [{**solver, "steps": 1_000_000} for solver in POOL[:2]]
    summary = world.run(
        "broken",
        engine=world.engine(programs={"trouble": raising(EngineUnavailable("gone"), times=99)}),
        models={"strong": saying(strong, "trouble"), "weak": Scripted(["```bash\ntrue\n```"])},
        solvers=solvers,
        calibration__error_retries=0,
    )
    assert summary.stopped is StopKind.HALTED
    assert world.run("broken", solvers=solvers).retained == 1


def test_oracle_and_nop_are_solvers_like_any_other(world: World) -> None:
    pool = [{"name": "oracle", "policy": "oracle"}, {"name": "nop", "policy": "nop"}]
    summary = world.run("hard", solvers=pool, calibration__strong="oracle", calibration__weak="nop")
    assert summary.retained == 1
    (only,) = world.rounds("hard")
    assert only.decision.reason == "oracle passed, nop failed"


def test_trials_say_who_attempted_what(world: World) -> None:
    world.run("broken")
    (only,) = world.rounds("broken")
    with world.reader() as reader:
        (revision,) = reader.revisions("broken")
        assert only.task_digest == revision.task_digest
        for trial in only.trials:
            assert trial.revision == 1
            assert len(trial.solver_digest) == 64
            assert trial.stop == "done"
            for blob in (trial.trajectory_blob, trial.artifacts_blob, trial.manifest_blob):
                reader.blobs.check(blob)
    assert len({trial.solver_digest for trial in only.trials}) == 2
