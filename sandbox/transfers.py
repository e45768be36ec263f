"""The builds and pulls that are going on: what has to be cut off when an engine is told to stop."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from sandbox.daemon import Stream
from sandbox.errors import EngineUnavailable


class Transfers:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: set[Stream] = set()
        self._cancelled = False

    @contextmanager
    def going_on(self, stream: Stream) -> Iterator[None]:
        """The stream is closed at the end. Raises EngineUnavailable after `cancel`."""
        with self._lock:
            self._running.add(stream)
        try:
            self.check()
            yield
        finally:
            with self._lock:
                self._running.discard(stream)
            stream.close()

    def check(self) -> None:
        """Raises EngineUnavailable after `cancel`."""
        if self._cancelled:
            raise EngineUnavailable("the engine is being closed")

    def cancel(self) -> None:
        """End all that is going on; nothing begins any more."""
        with self._lock:
            self._cancelled = True
            running = list(self._running)
        for stream in running:
            stream.hang_up()
