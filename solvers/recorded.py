"""An Ask that is bound to one unit of work: it finds recorded answers again, and records new ones."""

import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import replace

from solvers.model import CallLog, Reply, Request


class RecordedAsk:
    """prepare: a request as it is sent, which is what it is recorded as. call: one paid call, with the request, its own
    name for whatever is drawn, and the deadline.

    Equal requests of the unit are numbered from 0 and recorded apart. A replayed answer keeps the cost and the latency
    that were recorded, so that limits hold as they did; nothing is called and nothing is paid."""

    def __init__(
        self,
        unit: str,
        log: CallLog | None,
        prepare: Callable[[Request], Request],
        call: Callable[[Request, str, float], Reply],
    ) -> None:
        self._unit, self._log, self._prepare, self._call = unit, log, prepare, call
        self._asked: Counter[str] = Counter()
        self._lock = threading.Lock()

    def __call__(self, request: Request, *, deadline_sec: float) -> Reply:
        """Raises the errors of solvers/errors.py."""
        request = self._prepare(request)
        digest = request.digest()
        with self._lock:
            sample = self._asked[digest]
            self._asked[digest] += 1
        answered = False
        try:
            reply = self._replayed(digest, sample) or self._paid(request, digest, sample, deadline_sec)
            answered = True
        finally:
            if not answered:
                self._give_back(digest, sample)
        return reply

    def _replayed(self, digest: str, sample: int) -> Reply | None:
        found = None if self._log is None else self._log.find(self._unit, digest, sample)
        return None if found is None else replace(found, replayed=True)

    def _paid(self, request: Request, digest: str, sample: int, deadline_sec: float) -> Reply:
        reply = self._call(request, f"{self._unit}/{digest}/{sample}", deadline_sec)
        if self._log is not None:
            self._log.record(self._unit, digest, sample, request, reply)
        return reply

    def _give_back(self, digest: str, sample: int) -> None:
        """The next equal request is to find this one's number free, unless a later one was taken meanwhile."""
        with self._lock:
            if self._asked[digest] == sample + 1:
                self._asked[digest] = sample
