"""The one thread that writes: what many threads ask for at the same time is committed together (group commit)."""

import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, Generic, TypeVar

from forge.storage.errors import LedgerClosed, StorageError
from forge.storage.ledger_file import translated

T = TypeVar("T")

GROUP = 256
"""The most writes that one commit may hold."""


class _Write(Generic[T]):
    def __init__(self, work: Callable[[sqlite3.Connection], T]) -> None:
        self.work = work
        self.result: Future[T] = Future()
        self.value: T | None = None


class Writer:
    """Owns the writing connection between `start` and `close`.

    A write is a function of the connection. It may be run again, so it must depend on nothing but its arguments.
    on_commit is called in the writer's thread with the number of commits so far, after each commit and before anyone
    hears of it; it must not raise."""

    def __init__(
        self, connection: sqlite3.Connection, path: Path, on_commit: Callable[[int], None] | None = None
    ) -> None:
        self._connection = connection
        self._path = path
        self._on_commit = on_commit
        self._queue: SimpleQueue[_Write[Any] | None] = SimpleQueue()
        self._gate = threading.Lock()
        self._group: list[_Write[Any]] = []
        self._open = False
        self._commits = 0
        self._thread = threading.Thread(target=self._run, name="ledger-writer", daemon=True)

    def start(self) -> None:
        self._open = True
        self._thread.start()

    def write(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run `work` in a transaction and return its value once that is on disk.

        Raises LedgerFull, LedgerDamaged, LedgerClosed, and what `work` raises; then nothing of it is stored."""
        asked = _Write(work)
        with self._gate:
            if not self._open:
                raise LedgerClosed(f"{self._path}: the ledger is closed")
            self._queue.put(asked)
        return asked.result.result()

    def close(self) -> None:
        """Commit what was asked for so far and close the connection."""
        with self._gate:
            if self._open:
                self._open = False
                self._queue.put(None)
        self._thread.join()

    def _run(self) -> None:
        try:
            while (group := self._next_group())[0] is not None:
                self._group = [one for one in group if one is not None]
                self._commit(self._group)
                if group[-1] is None:
                    break
        finally:
            with self._gate:
                self._open = False
            self._connection.close()
            self._refuse_rest()

    def _next_group(self) -> list[_Write[Any] | None]:
        group = [self._queue.get()]
        while group[-1] is not None and len(group) < GROUP:
            try:
                group.append(self._queue.get_nowait())
            except Empty:
                break
        return group

    def _commit(self, group: list[_Write[Any]]) -> None:
        failure = self._try(group)
        if failure is None:
            return
        if len(group) == 1:
            group[0].result.set_exception(failure)
            return
        # One write of the group spoiled it for all: give each a transaction of its own.
        for one in group:
            self._commit([one])

    def _try(self, group: list[_Write[Any]]) -> Exception | None:
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            for one in group:
                one.value = one.work(self._connection)
            self._connection.execute("COMMIT")
        except (StorageError, ValueError, OverflowError) as error:
            self._roll_back()
            return error
        except sqlite3.Error as error:
            self._roll_back()
            return translated(error, self._path)
        self._commits += 1
        if self._on_commit is not None:
            self._on_commit(self._commits)
        for one in group:
            one.result.set_result(one.value)
        return None

    def _roll_back(self) -> None:
        if self._connection.in_transaction:
            self._connection.execute("ROLLBACK")

    def _refuse_rest(self) -> None:
        """Whoever still waits (the thread ended by a bug, or the write came too late) must hear of it."""
        left: list[_Write[Any] | None] = [one for one in self._group if not one.result.done()]
        while not self._queue.empty():
            left.append(self._queue.get_nowait())
        for one in left:
            if one is not None:
                one.result.set_exception(LedgerClosed(f"{self._path}: the ledger is closed"))
