"""One asyncio loop in one thread, for blocking callers: what threads cannot cancel, a loop can."""

import asyncio
import threading
from collections.abc import Coroutine
from concurrent.futures import CancelledError
from typing import Any, TypeVar

T = TypeVar("T")


class LoopThread:
    """Starts with the first work. After `close` it takes no more."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._closed = False
        self._lock = threading.Lock()

    def run(self, work: Coroutine[Any, Any, T], deadline_sec: float) -> T:
        """Await the coroutine on the loop; at the deadline it is cancelled.

        Raises TimeoutError at the deadline, concurrent.futures.CancelledError when the loop is closed meanwhile or
        before, and what the work raises. An interrupt of the calling thread cancels the work as well."""
        with self._lock:
            if self._closed:
                work.close()
                raise CancelledError("the loop is closed")
            future = asyncio.run_coroutine_threadsafe(asyncio.wait_for(work, deadline_sec), self._running())
        try:
            return future.result()
        finally:
            future.cancel()

    def close(self) -> None:
        """Cancel what runs and end the thread. Idempotent."""
        with self._lock:
            self._closed = True
            loop, thread = self._loop, self._thread
            self._loop = self._thread = None
        if loop is None or thread is None:
            return
        asyncio.run_coroutine_threadsafe(_cancel_others(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()

    def _running(self) -> asyncio.AbstractEventLoop:
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            self._thread = threading.Thread(target=self._loop.run_forever, name="model-calls", daemon=True)
            self._thread.start()
        return self._loop


async def _cancel_others() -> None:
    others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
