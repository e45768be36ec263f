"""What status, show, report and export ask of a ledger, also while a run writes it."""

import json
import sqlite3
from collections import Counter, defaultdict
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from forge.domain.candidate import CandidateState, Reason
from forge.domain.clue import Clue
from forge.domain.outcome import Decision, DecisionKind, Round, Trial
from forge.domain.spend import Spend
from forge.storage.errors import LedgerDamaged, LedgerMissing
from forge.storage.ledger_units import UnitReader
from forge.storage.ledger_values import (
    CandidateRow,
    EventRow,
    Funnel,
    RevisionRow,
    RunRow,
    SpendReport,
    UnitRow,
    ValidationRow,
)

T = TypeVar("T", bound=BaseModel)

WITHIN = (1, 5, 10, 20, 50)
"""Rounds at which the funnel counts what was retained."""

_SUMS = (
    "count(*) AS calls, total(cost_usd) AS known_usd, sum(cost_usd IS NULL) AS unknown_calls,"
    " sum(coalesce(prompt_tokens, 0) + coalesce(completion_tokens, 0)) AS tokens,"
    " sum(prompt_tokens IS NULL AND completion_tokens IS NULL) AS untold_calls"
)


class LedgerReader(UnitReader):
    """A run's ledger, read only and without its lock. Use it in a `with` block; safe to use from many threads.

    Entering raises LedgerMissing, LedgerNewer, LedgerDamaged; a row that cannot be read LedgerDamaged. Lists are in the
    order of candidates, then of time."""

    def run(self) -> RunRow:
        """Raises LedgerMissing while the run has not written its row."""
        found = self.rows("SELECT * FROM run")
        if not found:
            raise LedgerMissing(f"{self.run_dir}: no run has been started in this folder")
        return _value(RunRow, _plain(found[0], "id") | _parsed(found[0], "versions", "substitutes"))

    def clues(self) -> list[Clue]:
        return [
            _value(Clue, _parsed(row, "body")["body"]) for row in self.rows("SELECT body FROM clues ORDER BY position")
        ]

    def candidates(self) -> list[CandidateRow]:
        """In the order of their clues."""
        found = self.rows("SELECT c.* FROM candidates c LEFT JOIN clues k USING (id) ORDER BY k.position, c.id")
        return [_value(CandidateRow, _plain(row)) for row in found]

    def candidate(self, candidate: str) -> CandidateRow | None:
        found = self.rows("SELECT * FROM candidates WHERE id = ?", (candidate,))
        return _value(CandidateRow, _plain(found[0])) if found else None

    def revisions(self, candidate: str) -> list[RevisionRow]:
        found = self.rows("SELECT * FROM revisions WHERE candidate = ? ORDER BY number", (candidate,))
        return [_value(RevisionRow, _plain(row)) for row in found]

    def trials(self, candidate: str, round_number: int | None = None) -> list[Trial]:
        """The trials of one round, or of all."""
        found = self.rows(
            "SELECT * FROM trials WHERE candidate = ? AND (? IS NULL OR round = ?) ORDER BY round, solver, sample",
            (candidate, round_number, round_number),
        )
        return [_trial(row) for row in found]

    def rounds(self, candidate: str) -> list[Round]:
        """The decided rounds with their trials."""
        trials = defaultdict(list)
        for row in self.rows("SELECT * FROM trials WHERE candidate = ? ORDER BY solver, sample", (candidate,)):
            trials[row["round"]].append(_trial(row))
        found = self.rows("SELECT * FROM rounds WHERE candidate = ? ORDER BY number", (candidate,))
        return [
            Round(
                number=row["number"],
                task_digest=row["task_digest"],
                trials=tuple(trials[row["number"]]),
                decision=_value(Decision, _plain(row, "candidate", "number", "task_digest")),
            )
            for row in found
        ]

    def validations(self, candidate: str) -> list[ValidationRow]:
        found = self.rows(
            "SELECT * FROM validations WHERE candidate = ? ORDER BY revision, number, rowid", (candidate,)
        )
        return [_value(ValidationRow, _plain(row) | _parsed(row, "findings")) for row in found]

    def events(self, candidate: str | None = None) -> list[EventRow]:
        """Of one candidate ("" for the run itself), or all."""
        found = self.rows(
            "SELECT candidate, kind, text, at FROM events WHERE ? IS NULL OR candidate = ? ORDER BY id",
            (candidate, candidate),
        )
        return [_value(EventRow, _plain(row)) for row in found]

    def units(self, candidate: str) -> list[UnitRow]:
        found = self.rows(
            "SELECT candidate, unit, attempt, started_at, finished_at FROM units WHERE candidate = ?"
            " ORDER BY started_at, unit",
            (candidate,),
        )
        return [_value(UnitRow, _plain(row)) for row in found]

    def funnel(self) -> Funnel:
        candidates = self.candidates()
        decided = self.rows(
            "SELECT kind, diagnosis, min(number) FROM rounds WHERE kind IN (?, ?) GROUP BY candidate",
            (DecisionKind.RETAIN, DecisionKind.REVISE),
        )
        retained = [one.rounds for one in candidates if one.state is CandidateState.RETAINED]
        return Funnel(
            clues=self.rows("SELECT count(*) FROM clues")[0][0],
            by_state=dict(Counter(one.state for one in candidates)),
            by_reason=dict(Counter(one.reason for one in candidates if one.reason is not Reason.NONE)),
            first_decision=dict(Counter(row["diagnosis"] or row["kind"] for row in decided)),
            retained_within={limit: sum(rounds <= limit for rounds in retained) for limit in WITHIN},
        )

    def spent(self, candidate: str | None = None) -> Spend:
        """What was paid for one candidate, or for all; lost calls included."""
        where, parameters = ("", ()) if candidate is None else (" WHERE candidate = ?", (candidate,))
        return _spend(self.rows(f"SELECT {_SUMS} FROM calls{where}", parameters)[0])

    def spend(self) -> SpendReport:
        total = lost = Spend()
        by_model: dict[str, Spend] = defaultdict(Spend)
        by_candidate: dict[str, Spend] = defaultdict(Spend)
        by_kind: dict[str, Spend] = defaultdict(Spend)
        groups = f"SELECT model, candidate, unit, lost, {_SUMS} FROM spending GROUP BY model, candidate, unit, lost"
        for row in self.rows(groups):
            part = _spend(row)
            total += part
            lost += part if row["lost"] else Spend()
            by_model[row["model"]] += part
            by_candidate[row["candidate"]] += part
            by_kind[unit_kind(row["unit"])] += part
        return SpendReport(
            total=total, lost=lost, by_model=dict(by_model), by_candidate=dict(by_candidate), by_kind=dict(by_kind)
        )


def unit_kind(unit: str) -> str:
    """What a unit is for: its first word that is neither a number nor a round ("r3")."""
    words = [word for word in unit.split("/") if not word.removeprefix("r").isdigit()]
    return words[0] if words else unit


def _trial(row: sqlite3.Row) -> Trial:
    return _value(Trial, _plain(row, "candidate", "round", "verdict") | _parsed(row, "verdict"))


def _plain(row: sqlite3.Row, *without: str) -> dict[str, Any]:
    return {name: row[name] for name in row.keys() if name not in without}  # noqa: SIM118  a Row iterates over values


def _parsed(row: sqlite3.Row, *names: str) -> dict[str, Any]:
    try:
        return {name: None if row[name] is None else json.loads(row[name]) for name in names}
    except ValueError as error:
        raise LedgerDamaged(f"the ledger holds what is no JSON: {error}") from error


def _value(kind: type[T], values: Any) -> T:
    try:
        return kind.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise LedgerDamaged(
            f"the ledger holds a {kind.__name__} that cannot be read: {where}: {first['msg']}"
        ) from error


def _spend(row: sqlite3.Row) -> Spend:
    sums = (row[name] for name in ("calls", "known_usd", "unknown_calls", "tokens", "untold_calls"))
    return Spend(*(value or 0 for value in sums))
