"""What a round's outcomes decide. Pure; only verified outcomes count, never a solver's own opinion.

One sample decides for a solver: sample 0. Repeats would grow here, in `_known`, as a rule that makes one outcome of
several samples and asks for another one (DecisionKind.SAMPLE_MORE) while they disagree."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from forge.domain.outcome import Decision, DecisionKind, Diagnosis, Outcome, Trial

DECIDING_SAMPLE = 0


class Criterion(Protocol):
    """A pure rule over the trials of one round, each solver's last attempt. Their order means nothing.

    An errored, cancelled or missing trial is no outcome: the decision is made without it where it could not change
    it, else it is UNDECIDED. Both methods raise ValueError for a solver that both passed and failed."""

    @property
    def solvers(self) -> tuple[str, ...]:
        """Names of the solvers that are asked."""
        ...

    def decide(self, trials: Sequence[Trial]) -> Decision: ...

    def open_solvers(self, trials: Sequence[Trial]) -> tuple[str, ...]:
        """The solvers whose outcome is unknown and could still change the decision; the others can be cancelled."""
        ...


@dataclass(frozen=True)
class MultiSolver:
    """Retain when some solvers of a pool pass and some fail. At least two solvers, or nothing could be retained."""

    solvers: tuple[str, ...]

    def __post_init__(self) -> None:
        if len(set(self.solvers)) < 2 or len(set(self.solvers)) != len(self.solvers):
            raise ValueError(f"a pool needs at least two solvers with different names, got {', '.join(self.solvers)}")

    def decide(self, trials: Sequence[Trial]) -> Decision:
        known = _known(self.solvers, trials)
        passes = sum(known.values())
        said = f"{passes} of {len(self.solvers)} solvers passed"
        if 0 < passes < len(known):
            unknown = _names(_unknown(self.solvers, known))
            return Decision(kind=DecisionKind.RETAIN, reason=said + (f", without {unknown}" if unknown else ""))
        if len(known) < len(self.solvers):
            return _undecided(_unknown(self.solvers, known))
        return _revise(Diagnosis.TOO_EASY if passes else Diagnosis.TOO_HARD, said)

    def open_solvers(self, trials: Sequence[Trial]) -> tuple[str, ...]:
        known = _known(self.solvers, trials)
        return () if len(set(known.values())) == 2 else _unknown(self.solvers, known)


@dataclass(frozen=True)
class Contrastive:
    """Retain when the strong solver passes and the weak one fails. Every pair of outcomes means something else, so
    neither outcome alone decides."""

    strong: str
    weak: str

    def __post_init__(self) -> None:
        if self.strong == self.weak:
            raise ValueError(f"the strong and the weak solver need different names, got {self.strong} twice")

    @property
    def solvers(self) -> tuple[str, ...]:
        return (self.strong, self.weak)

    def decide(self, trials: Sequence[Trial]) -> Decision:
        known = _known(self.solvers, trials)
        if len(known) < 2:
            return _undecided(_unknown(self.solvers, known))
        match known[self.strong], known[self.weak]:
            case True, False:
                return Decision(kind=DecisionKind.RETAIN, reason=f"{self.strong} passed, {self.weak} failed")
            case True, True:
                return _revise(Diagnosis.TOO_EASY, f"both {self.strong} and {self.weak} passed")
            case False, False:
                return _revise(Diagnosis.TOO_HARD, f"both {self.strong} and {self.weak} failed")
        return _revise(Diagnosis.INVERTED, f"{self.strong} failed, {self.weak} passed")

    def open_solvers(self, trials: Sequence[Trial]) -> tuple[str, ...]:
        return _unknown(self.solvers, _known(self.solvers, trials))


def _known(solvers: tuple[str, ...], trials: Sequence[Trial]) -> Mapping[str, bool]:
    """Solver -> passed, of those that have an outcome."""
    known: dict[str, bool] = {}
    for trial in trials:
        if trial.solver not in solvers or trial.sample != DECIDING_SAMPLE:
            continue
        if trial.outcome in (Outcome.PASSED, Outcome.FAILED):
            passed = trial.outcome is Outcome.PASSED
            if known.setdefault(trial.solver, passed) != passed:
                raise ValueError(f"{trial.solver} both passed and failed in one round")
    return known


def _unknown(solvers: tuple[str, ...], known: Mapping[str, bool]) -> tuple[str, ...]:
    return tuple(solver for solver in solvers if solver not in known)


def _undecided(unknown: tuple[str, ...]) -> Decision:
    return Decision(kind=DecisionKind.UNDECIDED, reason=f"no outcome yet of {_names(unknown)}")


def _revise(diagnosis: Diagnosis, reason: str) -> Decision:
    return Decision(kind=DecisionKind.REVISE, diagnosis=diagnosis, reason=reason)


def _names(solvers: tuple[str, ...]) -> str:
    return ", ".join(solvers)
