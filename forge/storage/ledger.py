"""The durable record of a run, open for its one writer.

A candidate's life is ordinary sequential code in which every finished unit of work is remembered:

    with Ledger.open(run_dir) as ledger:
        draft = ledger.once("fix-logs", "draft", lambda: author.draft(clue), Draft)

Run again after a crash, the same code gets the stored values of what had finished and goes on where it was."""

import json
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from pydantic import TypeAdapter

from forge.domain.spend import Spend
from forge.storage.blobs import BlobStore
from forge.storage.errors import LedgerFull, UnitBusy, UnitNotOpen, UnitValueRefused
from forge.storage.ledger_calls import LedgerCalls, RunningUnit
from forge.storage.ledger_file import LEDGER_NAME, connect_writer, is_full
from forge.storage.ledger_reader import LedgerReader
from forge.storage.ledger_rows import LedgerRows
from forge.storage.ledger_writer import Writer
from forge.storage.lock import run_lock

T = TypeVar("T")


class Ledger:
    """Made by `Ledger.open`. Safe to use from many threads, one thread a unit.

    calls: where models' answers are recorded and found. rows: what status, show and export read. blobs: files by
    content. read: all queries."""

    def __init__(self, run_dir: Path, writer: Writer, reader: LedgerReader) -> None:
        self.run_dir = run_dir
        self.read = reader
        self.blobs: BlobStore = reader.blobs
        self.rows = LedgerRows(writer)
        self.calls = LedgerCalls(writer, reader, self._running_unit)
        self._writer = writer
        self._gate = threading.Lock()
        self._running: dict[tuple[str, str], RunningUnit | None] = {}

    @classmethod
    @contextmanager
    def open(cls, run_dir: Path, *, on_commit: Callable[[int], None] | None = None) -> Iterator["Ledger"]:
        """Lock and open a run's ledger, made where it is missing. on_commit: see Writer.

        Raises RunLocked, LedgerNewer, LedgerDamaged, LedgerFull."""
        try:
            run_dir.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            if is_full(error):
                raise LedgerFull(f"{run_dir}: no space left; free some on this disk and resume the run") from error
            raise
        with run_lock(run_dir):
            writer = Writer(connect_writer(run_dir), run_dir / LEDGER_NAME, on_commit)
            writer.start()
            try:
                with LedgerReader(run_dir) as reader:
                    reader.blobs.clear_incoming()
                    yield cls(run_dir, writer, reader)
            finally:
                writer.close()

    def once(self, candidate: str, unit: str, work: Callable[[], T], kind: type[T] | TypeAdapter[T]) -> T:
        """The value of a unit of work: the stored one where it has finished, else what `work` gives, stored first.

        The value goes through JSON as `kind` says, also when it is fresh, so that a resumed run sees what this one saw.
        What `work` raises passes through; the unit is then not finished, and its next attempt finds the calls of this
        one. Units may be nested.

        Raises UnitBusy, UnitValueRefused, LedgerFull, LedgerDamaged."""
        codec: TypeAdapter[T] = kind if isinstance(kind, TypeAdapter) else TypeAdapter(kind)
        with self._claimed(candidate, unit):
            stored = self.read.value(candidate, unit)
            if stored is not None:
                return _decoded(codec, stored, candidate, unit)
            attempt = self._writer.write(lambda connection: _start(connection, candidate, unit, time.time()))
            running = self._running[candidate, unit] = RunningUnit(attempt)
            text = _encoded(codec, work(), candidate, unit)
            value = _decoded(codec, text, candidate, unit)
            self._writer.write(lambda connection: _finish(connection, candidate, unit, text, running))
            return value

    def finished(self, candidate: str, unit: str) -> bool:
        """Whether a unit's value is stored."""
        return self.read.value(candidate, unit) is not None

    def event(self, candidate: str, kind: str, text: str, *, key: str | None = None) -> None:
        """Note that something happened; with a key, only once however often the same code runs. candidate "" is the
        run itself."""
        self.rows.put_event(candidate, kind, text, key=key)

    def spend(self, candidate: str | None = None) -> Spend:
        """What was paid so far, lost calls included: for one candidate, or for the run."""
        return self.read.spent(candidate)

    def _running_unit(self, candidate: str, unit: str) -> RunningUnit:
        running = self._running.get((candidate, unit))
        if running is None:
            raise UnitNotOpen(f"{candidate}/{unit}: a model call outside of a unit of work cannot be recorded")
        return running

    @contextmanager
    def _claimed(self, candidate: str, unit: str) -> Iterator[None]:
        if not candidate or "/" in candidate or not unit:
            raise ValueError(f"not the names of a candidate and a unit: {candidate!r}, {unit!r}")
        with self._gate:
            if (candidate, unit) in self._running:
                raise UnitBusy(f"{candidate}/{unit}: this unit of work is being done already")
            self._running[candidate, unit] = None
        try:
            yield
        finally:
            with self._gate:
                del self._running[candidate, unit]


def _start(connection: sqlite3.Connection, candidate: str, unit: str, now: float) -> int:
    (attempt,) = connection.execute(
        "INSERT INTO units (candidate, unit, attempt, state, started_at) VALUES (?, ?, 1, 'started', ?)"
        " ON CONFLICT (candidate, unit) DO UPDATE SET attempt = attempt + 1, started_at = excluded.started_at"
        " RETURNING attempt",
        (candidate, unit, now),
    ).fetchone()
    return int(attempt)


def _finish(connection: sqlite3.Connection, candidate: str, unit: str, value: str, running: RunningUnit) -> None:
    connection.executemany(
        "UPDATE calls SET found_by = ? WHERE id = ?", [(running.attempt, call) for call in sorted(running.found)]
    )
    connection.execute(
        "UPDATE units SET state = 'finished', value = ?, finished_at = ? WHERE candidate = ? AND unit = ?",
        (value, time.time(), candidate, unit),
    )


def _encoded(codec: TypeAdapter[Any], value: Any, candidate: str, unit: str) -> str:
    try:
        return json.dumps(codec.dump_python(value, mode="json", warnings="error"), separators=(",", ":"))
    except ValueError as error:
        raise UnitValueRefused(f"{candidate}/{unit}: the value cannot be stored: {error}") from error


def _decoded(codec: TypeAdapter[T], text: str, candidate: str, unit: str) -> T:
    try:
        return codec.validate_python(json.loads(text))
    except ValueError as error:
        raise UnitValueRefused(f"{candidate}/{unit}: the stored value does not fit this program: {error}") from error
