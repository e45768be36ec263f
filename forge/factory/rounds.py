"""One round: every solver's trial on one revision, regraded from stored artifacts where these suffice; the decision."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass

from forge.domain.criteria import Criterion
from forge.domain.outcome import DecisionKind, Outcome, Round, Trial
from forge.domain.task import Task
from forge.factory.bench import Bench
from forge.factory.failures import backoff_sec
from forge.factory.signals import Stopped
from forge.factory.trialling import Ending, Stand, cancelled_trial, regraded, tried
from solvers.policies import Solver
from solvers.pool import Finished, Job, NotRun, Raised, Result


@dataclass(frozen=True)
class Attempts:
    """A round before it is decided. earlier: the trials to regrade, None for new ones."""

    bench: Bench
    task: Task
    number: int
    criterion: Criterion
    solvers: tuple[Solver, ...]
    earlier: tuple[Trial, ...] | None


def run_round(attempts: Attempts) -> Round:
    """The decided round, recorded. Raises what Bench.unit raises."""
    return attempts.bench.record(f"r{attempts.number}/round", Round, lambda: _decided(attempts))


def _decided(attempts: Attempts) -> Round:
    bench = attempts.bench
    known: dict[str, Trial] = {}
    for again in range(1_000_000):
        _fill(attempts, known, again)
        trials = tuple(known[solver.name] for solver in attempts.solvers)
        decision = attempts.criterion.decide(trials)
        if decision.kind is not DecisionKind.UNDECIDED:
            return Round(number=attempts.number, task_digest=attempts.task.digest(), trials=trials, decision=decision)
        bench.event("undecided", f"round {attempts.number}: {decision.reason}")
        bench.shop.stop.wait(backoff_sec(again + 1))
        bench.check_budget()
    raise AssertionError("unreachable")  # pragma: no cover


def _fill(attempts: Attempts, known: dict[str, Trial], again: int) -> None:
    """Trials of all solvers without an outcome.

    A decision cancels what still runs, and that is recorded; an error that ends the round cuts it off as well, and then
    it is left as it was."""
    decided = threading.Event()
    outcomes = (Outcome.PASSED, Outcome.FAILED)
    open_ones = [s for s in attempts.solvers if s.name not in known or known[s.name].outcome not in outcomes]

    def enough(results: Sequence[Result[Trial] | None]) -> bool:
        done = [result.value for result in results if isinstance(result, Finished)]
        if any(isinstance(result, Raised) for result in results):
            return True
        if not attempts.criterion.open_solvers([*_certain(known), *done]):
            decided.set()
        return decided.is_set()

    def job(solver: Solver) -> Job[Trial]:
        return lambda cancelled: _trial(attempts, solver, again, Ending(cancelled, decided.is_set))

    results = attempts.bench.shop.pool.run([job(solver) for solver in open_ones], enough)
    _raise_first(results)
    for solver, result in zip(open_ones, results, strict=True):
        if isinstance(result, NotRun):
            known[solver.name] = cancelled_trial(solver, attempts.number)
        elif isinstance(result, Finished):
            known[solver.name] = result.value


def _raise_first(results: Sequence[Result[Trial]]) -> None:
    """Raise an error of a trial: the one that cut the others off before one of those that were."""
    errors = [result.error for result in results if isinstance(result, Raised)]
    for error in sorted(errors, key=lambda error: isinstance(error, Stopped)):
        raise error


def _certain(known: dict[str, Trial]) -> list[Trial]:
    return [trial for trial in known.values() if trial.outcome is not Outcome.ERRORED]


def _trial(attempts: Attempts, solver: Solver, again: int, ending: Ending) -> Trial:
    stand = Stand(attempts.bench, attempts.task, solver, attempts.number)
    before = next((trial for trial in attempts.earlier or () if trial.solver == solver.name), None)
    if before is not None and again == 0:
        return regraded(stand, before)
    return tried(stand, again, ending)
