"""Writing what status, show and export read. Every row has a natural key: writing it again changes nothing."""

import json
import sqlite3
import time
from collections.abc import Mapping, Sequence
from typing import Any

from forge.domain.candidate import CandidateState, Reason
from forge.domain.clue import Clue
from forge.domain.outcome import Round, Trial
from forge.storage.ledger_values import RevisionRow, RunRow, ValidationRow
from forge.storage.ledger_writer import Writer

Row = Mapping[str, Any]


class LedgerRows:
    """The rows of an open ledger. Every method returns when its row is on disk; all raise LedgerFull, LedgerDamaged."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer

    def put_run(self, run: RunRow) -> None:
        """The run's own row; started_at stays what it was at first (now, where it is not given)."""
        row = {
            "id": 1,
            "name": run.name,
            "config": run.config,
            "versions": json.dumps(run.versions),
            "seed": run.seed,
            "substitutes": json.dumps(run.substitutes),
            "started_at": run.started_at or time.time(),
        }
        self._put("run", ("id",), row, keep=("started_at",))

    def put_clues(self, clues: Sequence[Clue]) -> tuple[str, ...]:
        """Add clues behind those that are there. Returns the ids that are there with another content; these stay as
        they were."""
        return self._writer.write(lambda connection: _put_clues(connection, clues))

    def put_candidate(
        self,
        candidate: str,
        state: CandidateState,
        *,
        reason: Reason = Reason.NONE,
        detail: str = "",
        rounds: int = 0,
    ) -> None:
        """A candidate's state as it is now. It starts with its first row and ends with a state that has ended."""
        now = time.time()
        row = {
            "id": candidate,
            "state": state.value,
            "reason": reason.value,
            "detail": _clean(detail),
            "rounds": rounds,
            "started_at": now,
            "ended_at": now if state.ended else None,
        }
        self._writer.write(lambda connection: _put_candidate(connection, row))

    def put_revision(self, revision: RevisionRow) -> None:
        self._put("revisions", ("candidate", "number"), revision.model_dump())

    def put_trial(self, candidate: str, round_number: int, trial: Trial) -> None:
        """The last attempt of a solver and sample in a round; it takes the place of an earlier one."""
        self._writer.write(lambda connection: _put_trial(connection, candidate, round_number, trial))

    def put_round(self, candidate: str, round: Round) -> None:
        """A round's decision, and its trials."""
        self._writer.write(lambda connection: _put_round(connection, candidate, round))

    def put_validation(self, validation: ValidationRow) -> None:
        row = validation.model_dump() | {"findings": json.dumps(validation.findings)}
        self._put("validations", ("candidate", "revision", "number", "stage"), row)

    def put_event(self, candidate: str, kind: str, text: str, *, key: str | None = None) -> None:
        """Something that happened now. An event whose key is there already is left out."""
        full_key = None if key is None else f"{candidate}/{kind}/{key}"
        row = (candidate, kind, _clean(text), time.time(), full_key)
        statement = "INSERT OR IGNORE INTO events (candidate, kind, text, at, key) VALUES (?, ?, ?, ?, ?)"
        self._writer.write(lambda connection: connection.execute(statement, row).rowcount)

    def _put(self, table: str, keys: tuple[str, ...], row: Row, keep: tuple[str, ...] = ()) -> None:
        self._writer.write(lambda connection: _upsert(connection, table, keys, row, keep))


def _upsert(
    connection: sqlite3.Connection, table: str, keys: tuple[str, ...], row: Row, keep: tuple[str, ...] = ()
) -> None:
    """Write a row by its key; columns in `keep` stay as they were where the row is there."""
    columns, marks = ", ".join(row), ", ".join(f":{name}" for name in row)
    changes = ", ".join(f"{name} = excluded.{name}" for name in row if name not in (*keys, *keep))
    connection.execute(
        f"INSERT INTO {table} ({columns}) VALUES ({marks}) ON CONFLICT ({', '.join(keys)}) DO UPDATE SET {changes}", row
    )


def _put_trial(connection: sqlite3.Connection, candidate: str, round_number: int, trial: Trial) -> None:
    row = trial.model_dump(mode="json", exclude={"verdict"})
    verdict = None if trial.verdict is None else json.dumps(trial.verdict.model_dump(mode="json"))
    row |= {"candidate": candidate, "round": round_number, "verdict": verdict}
    _upsert(connection, "trials", ("candidate", "round", "solver", "sample"), row)


def _put_round(connection: sqlite3.Connection, candidate: str, round: Round) -> None:
    for trial in round.trials:
        _put_trial(connection, candidate, round.number, trial)
    decision = round.decision.model_dump(mode="json")
    row = {"candidate": candidate, "number": round.number, "task_digest": round.task_digest, **decision}
    _upsert(connection, "rounds", ("candidate", "number"), row)


def _put_candidate(connection: sqlite3.Connection, row: Row) -> None:
    old = connection.execute("SELECT state, ended_at FROM candidates WHERE id = ?", (row["id"],)).fetchone()
    if old is not None and old[0] == row["state"] and old[1] is not None:
        row = {**row, "ended_at": old[1]}
    _upsert(connection, "candidates", ("id",), row, keep=("started_at",))


def _put_clues(connection: sqlite3.Connection, clues: Sequence[Clue]) -> tuple[str, ...]:
    (position,) = connection.execute("SELECT coalesce(max(position) + 1, 0) FROM clues").fetchone()
    differing: list[str] = []
    for clue in clues:
        body = json.dumps(clue.model_dump(mode="json"), sort_keys=True)
        old = connection.execute("SELECT body FROM clues WHERE id = ?", (clue.id,)).fetchone()
        if old is None:
            connection.execute("INSERT INTO clues (id, position, body) VALUES (?, ?, ?)", (clue.id, position, body))
            position += 1
        elif old[0] != body:
            differing.append(clue.id)
    return tuple(differing)


def _clean(text: str) -> str:
    """Texts of errors may hold what came from file names and cannot be written as UTF-8."""
    return text.encode("utf-8", "backslashreplace").decode()
