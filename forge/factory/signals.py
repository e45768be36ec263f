"""How a run is told to stop, and the control flow that follows.

Stopped         unwinds a candidate whose run is stopping; nothing is wrong with it, a later run goes on with it
RunHalted       what every candidate needs is gone (engine, disk, ledger, run budget): the run stops, resumable
BudgetReached   a candidate's own money or time is spent: it is discarded
"""

import threading
from enum import StrEnum

from forge.domain.candidate import Reason


class Stopped(Exception):
    """The run is stopping; this unit of work was left as it was."""


class RunHalted(Exception):
    """The run cannot go on; the message says what is gone and what to do."""


class BudgetReached(Exception):
    """The candidate's own money or time is spent; it is discarded with this reason."""

    def __init__(self, reason: Reason, message: str) -> None:
        super().__init__(message)
        self.reason = reason


class StopKind(StrEnum):
    """INTERRUPTED: a person asked. HALTED: what every candidate needs is gone. BUDGET: the run's money is spent. CUT:
    at once, by a second Ctrl-C or a bug."""

    INTERRUPTED = "interrupted"
    HALTED = "halted"
    BUDGET = "budget"
    CUT = "cut"


class StopSignal:
    """Set once for all who work on a run: they leave the unit at hand, or finish it where that is cheap."""

    def __init__(self) -> None:
        self._event = threading.Event()
        self._lock = threading.Lock()
        self._first: tuple[StopKind, str] | None = None

    def set(self, kind: StopKind, reason: str) -> None:
        """Ask everybody to stop; the first kind and reason stay."""
        with self._lock:
            self._first = self._first or (kind, reason)
        self._event.set()

    @property
    def kind(self) -> StopKind | None:
        return self._first[0] if self._first else None

    @property
    def reason(self) -> str:
        """Why, in one line; "" while nobody asked."""
        return self._first[1] if self._first else ""

    def is_set(self) -> bool:
        return self._event.is_set()

    def check(self) -> None:
        """Raises Stopped once the signal is set."""
        if self._event.is_set():
            raise Stopped(self.reason)

    def wait(self, seconds: float) -> None:
        """Back off, but no longer than until the signal is set. Raises Stopped then."""
        self._event.wait(seconds)
        self.check()
