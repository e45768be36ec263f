"""How many calls of one model may happen at once, and how fast they may start. What is beyond queues."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Gate:
    """clock in seconds, monotonic; sleep waits for that many seconds."""

    def __init__(
        self, concurrency: int, per_minute: float | None, clock: Callable[[], float], sleep: Callable[[float], object]
    ) -> None:
        self._slots = threading.BoundedSemaphore(concurrency)
        self._gap_sec = 60.0 / per_minute if per_minute else 0.0
        self._clock, self._sleep = clock, sleep
        self._lock = threading.Lock()
        self._next_start = float("-inf")

    @contextmanager
    def entered(self) -> Iterator[None]:
        """Waits for a slot, and for the turn that the rate gives."""
        with self._slots:
            wait = self._reserve()
            if wait > 0:
                self._sleep(wait)
            yield

    def _reserve(self) -> float:
        with self._lock:
            now = self._clock()
            start = max(now, self._next_start)
            self._next_start = start + self._gap_sec
            return start - now
