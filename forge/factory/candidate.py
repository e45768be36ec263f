"""A candidate's life, from its clue to the end: ordinary sequential code over units that are never done twice.

clue - draft - prove - round - retained
                 ^       |---- discarded (reason)
                 '-- revise <-'
"""

from dataclasses import dataclass

from forge.domain.candidate import CandidateState, Reason
from forge.domain.criteria import Criterion
from forge.domain.feedback import Feedback, make_feedback
from forge.domain.outcome import DecisionKind, Outcome, Round, Trial
from forge.domain.revision import StoredArtifacts, TrialsPlan, plan_revision
from forge.domain.task import Task, TaskRefused
from forge.factory.bench import Bench
from forge.factory.duties import duty
from forge.factory.journal import Journal
from forge.factory.keeping import keep
from forge.factory.proving import Unproved, carried, prove, read_task
from forge.factory.records import AuthoredRecord, End
from forge.factory.rounds import Attempts, run_round
from forge.factory.signals import BudgetReached
from forge.factory.transcripts import transcript_of
from forge.factory.trialling import COLLECTED
from forge.stages.authoring import Wanted, draft, revise
from solvers.policies import Solver

FEEDBACK_CHARS = 120_000
"""What an author reads of all trajectories of a round together."""


@dataclass(frozen=True)
class Life:
    """One candidate, what decides about it, and where its facts are written."""

    bench: Bench
    criterion: Criterion
    solvers: tuple[Solver, ...]
    wanted: str
    journal: Journal


@dataclass(frozen=True)
class Before:
    """The last revision: its proved task and its round."""

    task: Task
    round: Round


def live(life: Life) -> End:
    """Live a candidate's life to its end.

    Raises Stopped, RunHalted, UnitFailed; a reached budget is an end."""
    most = life.bench.shop.config.calibration.max_rounds
    before: Before | None = None
    try:
        life.journal.state(CandidateState.DRAFTING)
        record = duty(life.bench, "draft", lambda desk: draft(life.bench.shop.author, desk, life.bench.clue))
        reason = "draft"
        for number in range(1, most + 1):
            found = _round_of(life, record, number, before, reason)
            if isinstance(found, End):
                return found
            before = found
            if found.round.decision.kind is DecisionKind.RETAIN:
                return _retained(life, found)
            if number < most:
                record, reason = _revision(life, found, number + 1)
        return _discarded(life, Reason.ROUNDS_SPENT, f"{most} rounds; {_last(before)}", before)
    except BudgetReached as reached:
        return _discarded(life, reached.reason, f"{reached}; {_last(before)}", before)


def _last(before: Before | None) -> str:
    return "no round was decided" if before is None else f"the last one: {before.round.decision.reason}"


def _round_of(life: Life, record: AuthoredRecord, number: int, before: Before | None, reason: str) -> Before | End:
    """The next proved task and its decided round, or the end that came instead."""
    if before is not None:
        refused = _refused(life, record, before)
        if refused is not None:
            return _discarded(life, Reason.NO_REVISION, refused, before)
    life.journal.state(CandidateState.VALIDATING)
    task = prove(life.bench, life.journal, record, number, None if before is None else before.task)
    if isinstance(task, Unproved):
        return _discarded(life, Reason.NO_DRAFT if before is None else Reason.INVALID, task.reason, before)
    taken_back = "" if before is None else _no_revision(before.task, task)
    if taken_back:
        return _discarded(life, Reason.NO_REVISION, f"{taken_back} by the time it was repaired", before)
    life.journal.revision(number, task, None if before is None else before.task, reason)
    life.journal.state(CandidateState.CALIBRATING)
    earlier = None if before is None or not _regrades(life, before, task) else before.round.trials
    decided = run_round(Attempts(life.bench, task, number, life.criterion, life.solvers, earlier))
    life.journal.round(decided)
    return Before(task, decided)


def _revision(life: Life, found: Before, number: int) -> tuple[AuthoredRecord, str]:
    life.journal.state(CandidateState.REVISING)
    most = life.bench.shop.config.calibration.max_rounds
    feedback = _feedback(life, found.round)
    wanted = Wanted(life.wanted, number - 1, most)
    record = duty(
        life.bench,
        f"r{number}/revise",
        lambda desk: revise(life.bench.shop.author, desk, found.task, feedback, wanted),
    )
    diagnosis = found.round.decision.diagnosis
    return record, diagnosis.value if diagnosis else ""


def _feedback(life: Life, round: Round) -> Feedback:
    blobs = life.bench.shop.ledger.blobs
    transcripts = {
        trial.solver: transcript_of(blobs.get(trial.trajectory_blob)) for trial in round.trials if trial.trajectory_blob
    }
    return make_feedback(round, transcripts, budget_chars=FEEDBACK_CHARS)


def _refused(life: Life, record: AuthoredRecord, before: Before) -> str | None:
    """Why what the author left is no revision; None where it is one, or where it is no task, which is for repair."""
    if record.refused:
        return None
    try:
        task = carried(read_task(life.bench, record), before.task)
    except TaskRefused:
        return None
    refused = _no_revision(before.task, task)
    said = record.said.strip().splitlines()
    return f"{refused}; the author says: {said[-1] if said else 'nothing'}" if refused else None


def _no_revision(before: Task, after: Task) -> str:
    """Why a change is no revision, "" where it is one."""
    return plan_revision(before.parts(), after.parts(), artifacts_suffice=False).refused


def _regrades(life: Life, before: Before, task: Task) -> bool:
    suffice = (
        task.config.separate
        and _excludes_alike(before.task, task)
        and all(_covered(life, before, trial, task) for trial in before.round.trials)
    )
    plan = plan_revision(before.task.parts(), task.parts(), artifacts_suffice=suffice)
    return plan.trials is TrialsPlan.REGRADE


def _excludes_alike(before: Task, task: Task) -> bool:
    """Whether what was left out while collecting is what the new verifier leaves out: nothing, or just the same."""
    old, new = ({(one.source, one.exclude) for one in each.config.artifacts} for each in (before, task))
    return old == new or not any(exclude for _, exclude in old | new)


def _covered(life: Life, before: Before, trial: Trial, task: Task) -> bool:
    """Whether a trial's stored artifacts hold all that the new verifier declares."""
    if trial.outcome not in (Outcome.PASSED, Outcome.FAILED) or not trial.manifest_blob:
        return False
    collected = COLLECTED.validate_json(life.bench.shop.ledger.blobs.get(trial.manifest_blob))
    declared = tuple(artifact.source for artifact in before.task.config.artifacts)
    stored = StoredArtifacts(declared, tuple(path for path, _ in collected.refused))
    return stored.cover([artifact.source for artifact in task.config.artifacts])


def _retained(life: Life, found: Before) -> End:
    folder = keep(life.bench, found.task, found.round.number, life.solvers)
    reason = found.round.decision.reason
    life.journal.end(CandidateState.RETAINED, Reason.CRITERION_HELD, reason)
    return End(
        retained=True,
        reason=Reason.CRITERION_HELD.value,
        detail=reason,
        rounds=found.round.number,
        folder=str(folder),
    )


def _discarded(life: Life, reason: Reason, detail: str, before: Before | None) -> End:
    life.journal.end(CandidateState.DISCARDED, reason, detail)
    rounds = 0 if before is None else before.round.number
    return End(retained=False, reason=reason.value, detail=detail, rounds=rounds)
