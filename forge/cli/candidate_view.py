"""One candidate with all its rounds as values that can be printed or written as JSON."""

from forge.cli.run_view import JSON, candidate_view, round_word
from forge.cli.usage import UsageError
from forge.domain.outcome import CheckStatus, Round, Trial
from forge.domain.spend import Spend
from forge.storage.ledger_reader import LedgerReader
from forge.storage.ledger_values import RevisionRow

PARTS = ("instruction", "environment", "verifier", "solution", "metadata")


def full_view(reader: LedgerReader, candidate: str) -> JSON:
    """What `forge show` shows. Raises UsageError, LedgerMissing, LedgerDamaged, BlobMissing, BlobCorrupt."""
    clues = {clue.id: clue for clue in reader.clues()}
    if candidate not in clues:
        raise UsageError(f"{candidate}: no such candidate in this run (there are: {', '.join(clues) or 'none'})")
    rounds = reader.rounds(candidate)
    spend = reader.spend().by_candidate.get(candidate, Spend())
    revisions = reader.revisions(candidate)
    return {
        **candidate_view(clues[candidate], reader.candidate(candidate), rounds, spend),
        "revisions": [
            _revision(reader, row, revisions[index - 1] if index else None) for index, row in enumerate(revisions)
        ],
        "round_list": [_round(round) for round in rounds],
        "validations": [row.model_dump(mode="json", exclude={"candidate"}) for row in reader.validations(candidate)],
        "events": [row.model_dump(mode="json", exclude={"candidate"}) for row in reader.events(candidate)],
    }


def _revision(reader: LedgerReader, row: RevisionRow, before: RevisionRow | None) -> JSON:
    changed = [part for part in PARTS if before is not None and getattr(row, part) != getattr(before, part)]
    return {
        "number": row.number,
        "reason": row.reason,
        "task_digest": row.task_digest,
        "changed": changed,
        "diff": reader.blobs.get(row.diff_blob).decode("utf-8", "replace") if row.diff_blob else "",
    }


def _round(round: Round) -> JSON:
    return {
        "number": round.number,
        "word": round_word(round),
        "decision": round.decision.kind.value,
        "diagnosis": round.decision.diagnosis.value if round.decision.diagnosis else None,
        "reason": round.decision.reason,
        "trials": [_trial(trial) for trial in round.trials],
    }


def _trial(trial: Trial) -> JSON:
    checks = trial.verdict.checks if trial.verdict else ()
    return {
        "solver": trial.solver,
        "sample": trial.sample,
        "outcome": trial.outcome.value,
        "reward": trial.verdict.reward if trial.verdict else None,
        "checks": {check.name: check.status.value for check in checks},
        "checks_passed": sum(check.status is CheckStatus.PASSED for check in checks),
        "stop": trial.stop,
        "steps": trial.steps,
        "tokens": trial.tokens,
        "cost_usd": trial.cost_usd,
        "time_sec": trial.time_sec,
        "regraded_from": trial.regraded_from,
        "error": trial.error,
        "last_message": trial.last_message,
        "trajectory_blob": trial.trajectory_blob,
    }
