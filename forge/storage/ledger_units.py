"""Reading units and calls out of a ledger, also while a run writes it. What status and export ask: ledger_reader."""

import json
import sqlite3
import threading
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from forge.storage.blobs import BlobStore
from forge.storage.errors import LedgerClosed
from forge.storage.ledger_file import LEDGER_NAME, connect_reader, translated
from forge.storage.ledger_texts import MESSAGES_OF_NODE, decode
from solvers.model import Message, Reply, Request


class UnitReader:
    """A run's ledger, read only and without its lock. Use it in a `with` block; safe to use from many threads.

    Entering raises LedgerMissing, LedgerNewer, LedgerDamaged."""

    def __init__(self, run_dir: Path) -> None:
        self.run_dir = run_dir
        self.blobs = BlobStore(run_dir)
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None

    def __enter__(self) -> Self:
        self._connection = connect_reader(self.run_dir)
        self._connection.row_factory = sqlite3.Row
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def rows(self, statement: str, parameters: Sequence[Any] = ()) -> list[sqlite3.Row]:
        """The rows of one SELECT. Raises LedgerClosed, LedgerDamaged."""
        with self._lock:
            if self._connection is None:
                raise LedgerClosed(f"{self.run_dir}: the ledger is not open")
            try:
                return self._connection.execute(statement, parameters).fetchall()
            except sqlite3.Error as error:
                raise translated(error, self.run_dir / LEDGER_NAME) from error

    def value(self, candidate: str, unit: str) -> str | None:
        """A finished unit's stored JSON, None where it is not finished."""
        found = self.rows("SELECT value FROM units WHERE candidate = ? AND unit = ?", (candidate, unit))
        return found[0]["value"] if found else None

    def reply(self, unit: str, digest: str, sample: int, *, before: int | None = None) -> tuple[int, Reply] | None:
        """A recorded call's id and reply, marked as replayed: the last one of the unit that answered this request.

        With `before`, only attempts before that one count; without, replies that served the finished attempt win."""
        found = self.rows(
            "SELECT c.*, t.body AS text_body, r.body AS reasoning_body FROM spending c"
            " JOIN texts t ON t.digest = c.reply LEFT JOIN texts r ON r.digest = c.reasoning"
            " WHERE c.candidate = ? AND c.unit = ? AND c.digest = ? AND c.sample = ? AND c.attempt < ?"
            " ORDER BY c.lost, c.id DESC LIMIT 1",
            (*split_unit(unit), digest, sample, 1 << 62 if before is None else before),
        )
        return (found[0]["id"], _reply(found[0])) if found else None

    def request(self, call: int) -> Request:
        """The whole request of a recorded call. Raises KeyError."""
        found = self.rows("SELECT model, parameters, messages FROM calls WHERE id = ?", (call,))
        if not found:
            raise KeyError(call)
        chain = self.rows(MESSAGES_OF_NODE, (found[0]["messages"],))
        messages = tuple(Message(role, decode(body)) for role, body in chain)
        return Request(found[0]["model"], messages, **json.loads(found[0]["parameters"]))


def split_unit(unit: str) -> tuple[str, str]:
    """ "candidate/unit" as its two names."""
    candidate, _, name = unit.partition("/")
    return candidate, name


def _reply(row: sqlite3.Row) -> Reply:
    return Reply(
        text=decode(row["text_body"]),
        reasoning=None if row["reasoning_body"] is None else decode(row["reasoning_body"]),
        prompt_tokens=row["prompt_tokens"],
        completion_tokens=row["completion_tokens"],
        cached_tokens=row["cached_tokens"],
        cost_usd=row["cost_usd"],
        latency_sec=row["latency_sec"],
        finish_reason=row["finish_reason"],
        replayed=True,
    )
