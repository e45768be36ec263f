"""A trial as a unit: tried, or regraded from the artifacts of an earlier one, and whatever happened as a Trial."""

from collections.abc import Callable
from dataclasses import dataclass

from pydantic import TypeAdapter

from forge.domain.outcome import Outcome, Trial, Verdict
from forge.domain.task import Task
from forge.factory.bench import Bench
from forge.factory.failures import Failure
from forge.factory.live import LiveTrajectory
from forge.factory.signals import Stopped
from forge.stages.trials import TrialBroken, TrialDesk, try_task
from forge.stages.validation import replay_solution
from forge.stages.verification import grade
from sandbox.api import Collected
from solvers.agent import StopReason
from solvers.policies import Solver

COLLECTED = TypeAdapter(Collected)
LAST_WORDS = 4_000


@dataclass(frozen=True)
class Stand:
    """Whose trial it is, on what."""

    bench: Bench
    task: Task
    solver: Solver
    number: int

    def trial(self, outcome: Outcome, **facts: object) -> Trial:
        return _trial(self.solver, self.number, outcome, **facts)


@dataclass(frozen=True)
class Ending:
    """cancelled: nobody waits for the trial any more. decided: that is so since the round is decided without it."""

    cancelled: Callable[[], bool]
    decided: Callable[[], bool]


def tried(stand: Stand, again: int, ending: Ending) -> Trial:
    """A trial of its own. again: how often the round was undecided before. Raises what Bench.settled raises."""
    unit = f"r{stand.number}/trial/{stand.solver.name}/{again}"
    return _settled(stand, unit, lambda: _try(stand, unit, ending))


def regraded(stand: Stand, before: Trial) -> Trial:
    """An earlier trial's artifacts, judged by this revision's verifier. Raises what Bench.settled raises."""
    return _settled(stand, f"r{stand.number}/regrade/{stand.solver.name}", lambda: _regrade(stand, before))


def cancelled_trial(solver: Solver, number: int) -> Trial:
    return _trial(solver, number, Outcome.CANCELLED)


def _trial(solver: Solver, number: int, outcome: Outcome, **facts: object) -> Trial:
    identity = {"solver": solver.name, "solver_digest": solver.digest(), "revision": number, "outcome": outcome}
    return Trial.model_validate({**identity, **facts})


def _settled(stand: Stand, unit: str, work: Callable[[], Trial]) -> Trial:
    """The trial, or, where its error stays, the errored trial, which is recorded as a unit of its own."""
    bench, errored = stand.bench, f"{unit}/errored"
    failure: Failure | None = None
    if not bench.shop.ledger.finished(bench.id, errored):
        result = bench.settled(unit, Trial, work)
        if isinstance(result, Trial):
            return result
        failure = result
        bench.event("error", f"{unit}: {failure.trace}")
    return bench.record(errored, Trial, lambda: _errored(stand, unit, failure.line if failure else ""))


def _errored(stand: Stand, unit: str, error: str) -> Trial:
    left = _live(stand, unit).left()
    blob = stand.bench.shop.ledger.blobs.put(left) if left else ""
    return stand.trial(Outcome.ERRORED, error=error, trajectory_blob=blob)


def _live(stand: Stand, unit: str) -> LiveTrajectory:
    return LiveTrajectory(stand.bench.shop.live, stand.bench.id, unit)


def _try(stand: Stand, unit: str, ending: Ending) -> Trial:
    bench, stop = stand.bench, stand.bench.shop.stop
    live = _live(stand, unit)
    desk = TrialDesk(
        engine=bench.shop.engine,
        owner=bench.owner,
        ask=bench.ask(unit),
        seed=bench.seed("trial", stand.number, stand.solver.name),
        session=f"{bench.shop.config.run.name}/{bench.id}/{unit}",
        save=live,
        cancelled=lambda: ending.cancelled() or stop.is_set(),
    )
    with bench.shop.ledger.blobs.incoming() as blob:
        done = try_task(desk, stand.task, stand.solver, blob.file)
        artifacts = blob.keep() if done.verdict is not None else ""
    if done.attempt.stop is StopReason.CANCELLED:
        # Only a decision makes an end of it; else it is not recorded, and finds its calls when it is tried again.
        stop.check()
        if not ending.decided():
            raise Stopped("another trial of the round could not go on")
    blobs = bench.shop.ledger.blobs
    return stand.trial(
        Outcome.CANCELLED if done.verdict is None else _outcome(stand, done.verdict),
        verdict=done.verdict,
        stop=done.attempt.stop.value,
        steps=done.attempt.steps,
        tokens=done.attempt.tokens,
        cost_usd=done.attempt.cost_usd,
        time_sec=done.attempt.time_sec,
        last_message=done.attempt.last_message[-LAST_WORDS:],
        trajectory_blob=blobs.put(live.done()),
        artifacts_blob=artifacts,
        manifest_blob=blobs.put(COLLECTED.dump_json(done.collected)) if done.collected is not None else "",
    )


def _regrade(stand: Stand, before: Trial) -> Trial:
    with stand.bench.shop.ledger.blobs.open(before.artifacts_blob) as artifacts:
        verdict = grade(stand.bench.shop.engine, stand.task, artifacts, stand.bench.owner)
    changes = {
        "revision": stand.number,
        "outcome": _outcome(stand, verdict),
        "verdict": verdict,
        "regraded_from": before.revision if before.regraded_from is None else before.regraded_from,
    }
    return before.model_copy(update=changes)


def _outcome(stand: Stand, verdict: Verdict) -> Outcome:
    """By the table in docs/design.md. A verifier that gives no verdict, also not in a second container, has failed the
    solver's work only if it still passes the solution's. Raises TrialBroken."""
    if verdict.problem is None:
        return Outcome.PASSED if verdict.passed else Outcome.FAILED
    bench = stand.bench
    (solution,) = replay_solution(bench.shop.engine, stand.task, bench.owner, 1)
    if solution.passed:
        return Outcome.FAILED
    raise TrialBroken(f"the verifier gives no verdict, on the solution neither: {verdict.problem}")
