"""The bounded pool of trials: however many candidates ask, only so many trials run at once."""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from types import TracebackType
from typing import Generic, Self, TypeVar

T = TypeVar("T")

Cancelled = Callable[[], bool]
Job = Callable[[Cancelled], T]


@dataclass(frozen=True)
class Finished(Generic[T]):
    value: T


@dataclass(frozen=True)
class Raised:
    error: BaseException


@dataclass(frozen=True)
class NotRun:
    """Cancelled before it started."""


Result = Finished[T] | Raised | NotRun


class _Batch:
    """The jobs of one call. Counts those that run by itself: an interrupt can come between handing a job over and
    learning of its future."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._running = 0
        self._unwanted = threading.Event()

    def run(self, job: Job[T]) -> Result[T]:
        with self._changed:
            if self._unwanted.is_set():
                return NotRun()
            self._running += 1
        try:
            return Finished(job(self._unwanted.is_set))
        finally:
            with self._changed:
                self._running -= 1
                self._changed.notify_all()

    def stop(self) -> None:
        """Nothing starts any more, and what runs is told."""
        with self._changed:
            self._unwanted.set()

    def stopped(self) -> bool:
        return self._unwanted.is_set()

    def wait(self) -> None:
        """Until no job runs."""
        with self._changed:
            self._changed.wait_for(lambda: self._running == 0)


class TrialPool:
    """Use it in a `with` block; `run` may be called from many threads at once. Jobs start in the order of the calls."""

    def __init__(self, size: int) -> None:
        self._threads = ThreadPoolExecutor(max_workers=size, thread_name_prefix="trial")
        self._batches: set[_Batch] = set()
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Cancel every batch and wait for the jobs that run."""
        self.cancel_all()
        self._threads.shutdown(wait=True, cancel_futures=True)

    def cancel_all(self) -> None:
        """Tell every batch that its results are not wanted any more. Does not wait."""
        with self._lock:
            batches = tuple(self._batches)
        for batch in batches:
            batch.stop()

    def run(
        self,
        jobs: Sequence[Job[T]],
        stop_when: Callable[[Sequence[Result[T] | None]], bool] = lambda _: False,
    ) -> list[Result[T]]:
        """Run the jobs and give their results in their order.

        Each job gets a function that says whether its result is not wanted any more. After every job that ends,
        `stop_when` sees the results so far (None: still open); once it holds, what has not started is not run, what
        runs is told, and its result is waited for. An exception of a job is its result. An interrupt of the calling
        thread stops the batch in the same way and is raised again when the jobs that run have ended; a second one is
        raised at once."""
        batch = _Batch()
        futures: list[Future[Result[T]]] = []
        with self._lock:
            self._batches.add(batch)
        try:
            futures.extend(self._threads.submit(batch.run, job) for job in jobs)
            _await(futures, batch, stop_when)
        finally:
            batch.stop()
            for future in futures:
                future.cancel()
            batch.wait()
            with self._lock:
                self._batches.discard(batch)
        return [_result(future) for future in futures]


def _await(
    futures: Sequence[Future[Result[T]]], batch: _Batch, stop_when: Callable[[Sequence[Result[T] | None]], bool]
) -> None:
    open_ones = set(futures)
    while open_ones and not batch.stopped():
        _, open_ones = wait(open_ones, return_when=FIRST_COMPLETED)
        if stop_when([_result(future) if future.done() else None for future in futures]):
            return


def _result(future: Future[Result[T]]) -> Result[T]:
    if future.cancelled():
        return NotRun()
    error = future.exception()
    return future.result() if error is None else Raised(error)
