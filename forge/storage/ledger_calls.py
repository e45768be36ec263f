"""Model calls: recorded before anyone sees the answer, found again when an interrupted unit runs once more."""

import json
import sqlite3
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from forge.storage.ledger_texts import store_messages, store_text
from forge.storage.ledger_units import UnitReader, split_unit
from forge.storage.ledger_writer import Writer
from solvers.model import Reply, Request


@dataclass
class RunningUnit:
    """An attempt at a unit. found: ids of the calls of earlier attempts whose replies it took."""

    attempt: int
    found: set[int] = field(default_factory=set)


class LedgerCalls:
    """solvers.model.CallLog on the ledger. `unit` is "candidate/unit", and must be one that is being worked on.

    running gives the running attempt at a unit and raises UnitNotOpen where there is none."""

    def __init__(self, writer: Writer, reader: UnitReader, running: Callable[[str, str], RunningUnit]) -> None:
        self._writer = writer
        self._reader = reader
        self._running = running

    def find(self, unit: str, digest: str, sample: int) -> Reply | None:
        """The reply that an earlier attempt of this unit paid for; the running attempt's own are not found.

        Raises UnitNotOpen."""
        running = self._running(*split_unit(unit))
        found = self._reader.reply(unit, digest, sample, before=running.attempt)
        if found is None:
            return None
        call, reply = found
        # Only the attempt that finishes the unit tells which calls were of use, so this is written when it does.
        running.found.add(call)
        return reply

    def record(self, unit: str, digest: str, sample: int, request: Request, reply: Reply) -> None:
        """Store an answered call; it is on disk when this returns. Raises UnitNotOpen, LedgerFull."""
        candidate, name = split_unit(unit)
        parameters = {"temperature": request.temperature, "max_tokens": request.max_tokens, "seed": request.seed}
        row = {
            "candidate": candidate,
            "unit": name,
            "attempt": self._running(candidate, name).attempt,
            "digest": digest,
            "sample": sample,
            "model": request.model,
            "parameters": json.dumps(parameters),
            "prompt_tokens": reply.prompt_tokens,
            "completion_tokens": reply.completion_tokens,
            "cached_tokens": reply.cached_tokens,
            "cost_usd": reply.cost_usd,
            "latency_sec": reply.latency_sec,
            "finish_reason": reply.finish_reason,
            "recorded_at": time.time(),
        }
        self._writer.write(lambda connection: _insert(connection, row, request, reply))


def _insert(connection: sqlite3.Connection, row: dict[str, Any], request: Request, reply: Reply) -> None:
    stored = {
        **row,
        "messages": store_messages(connection, request.messages),
        "reply": store_text(connection, reply.text),
        "reasoning": None if reply.reasoning is None else store_text(connection, reply.reasoning),
    }
    marks = ", ".join(f":{name}" for name in stored)
    connection.execute(f"INSERT INTO calls ({', '.join(stored)}) VALUES ({marks})", stored)
