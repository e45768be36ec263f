"""A run as values that can be printed or written as JSON."""

from collections.abc import Sequence
from typing import Any

from forge.domain.candidate import CandidateState
from forge.domain.clue import Clue
from forge.domain.outcome import DecisionKind, Round, Trial
from forge.domain.spend import Spend
from forge.factory.begin import recorded_config
from forge.storage.ledger_reader import LedgerReader
from forge.storage.ledger_values import CandidateRow, RunRow
from solvers.model import is_rehearsal

JSON = dict[str, Any]


def run_view(reader: LedgerReader) -> JSON:
    """What `forge status` shows. Raises LedgerMissing, LedgerDamaged, RunDiffers."""
    run = reader.run()
    spend = reader.spend()
    rows = {row.id: row for row in reader.candidates()}
    nothing = Spend()
    candidates = [
        candidate_view(clue, rows.get(clue.id), reader.rounds(clue.id), spend.by_candidate.get(clue.id, nothing))
        for clue in reader.clues()
    ]
    funnel = reader.funnel()
    return {
        **_run(run),
        "folder": str(reader.run_dir),
        "candidates": candidates,
        "funnel": {
            "clues": funnel.clues,
            "by_state": dict(funnel.by_state),
            "by_reason": dict(funnel.by_reason),
            "first_decision": funnel.first_decision,
            "retained_within_rounds": {str(limit): count for limit, count in funnel.retained_within.items()},
        },
        "spend": {
            "total": spend_view(spend.total),
            "lost": spend_view(spend.lost),
            "by_model": {model: spend_view(part) for model, part in spend.by_model.items()},
            "by_kind": {kind: spend_view(part) for kind, part in spend.by_kind.items()},
        },
    }


def _run(run: RunRow) -> JSON:
    config = recorded_config(run)
    models = config.models_used()
    return {
        "run": run.name,
        "seed": run.seed,
        "strategy": config.calibration.strategy.value,
        "models": list(models),
        "rehearsal": any(map(is_rehearsal, models)),
        "substitutes": [list(pair) for pair in run.substitutes],
        "versions": run.versions,
        "started_at": run.started_at,
        "out": f"{config.run.out}/{run.name}",
    }


def candidate_view(clue: Clue, row: CandidateRow | None, rounds: Sequence[Round], spend: Spend) -> JSON:
    """One candidate: where it stands, the word that each of its rounds ended with, and its last outcomes."""
    words = [round_word(round) for round in rounds]
    return {
        "id": clue.id,
        "clue": clue.text,
        "category": clue.category,
        "state": (row.state if row else CandidateState.WAITING).value,
        "reason": row.reason.value if row else "",
        "detail": row.detail if row else "",
        "rounds": len(rounds),
        "first": words[0] if words else "",
        "path": words,
        "last_outcomes": outcomes(rounds[-1].trials) if rounds else {},
        "spend": spend_view(spend),
    }


def round_word(round: Round) -> str:
    """A decided round in a word: its diagnosis, or what was decided."""
    decision = round.decision
    if decision.kind is DecisionKind.RETAIN:
        return "retained"
    return decision.diagnosis.value if decision.diagnosis else decision.kind.value


def outcomes(trials: Sequence[Trial]) -> dict[str, str]:
    """Solver -> outcome of its first sample."""
    return {trial.solver: trial.outcome.value for trial in trials if trial.sample == 0}


def spend_view(spend: Spend) -> JSON:
    """usd is None as soon as one call's price is unknown; known_usd is what is certain."""
    return {
        "calls": spend.calls,
        "usd": spend.usd,
        "known_usd": spend.known_usd,
        "calls_of_unknown_price": spend.unknown_calls,
        "tokens": spend.tokens,
    }
