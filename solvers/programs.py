"""Running a program that stands in for a model, as one call among others. Knows no SDK."""

import asyncio
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from solvers.model import Message, Program, Request

MOST_AT_ONCE = 32


@dataclass
class ProgramCall:
    """One call. error: what the program raised; it is kept aside, since an SDK would take it for a lost connection."""

    program: Program
    seed: int | None
    workers: ThreadPoolExecutor
    error: BaseException | None = None

    async def answer(self, messages: Sequence[Message]) -> str:
        """The program's answer, "" where it raised. A thread of its own keeps a slow program from holding the loop."""
        future = asyncio.wrap_future(self.workers.submit(self.program, messages, self.seed))
        await asyncio.wait([future])
        self.error = future.exception()
        return "" if self.error is not None else future.result()


class Programs:
    """Full model name -> program, and the threads that they run in (started at the first call)."""

    def __init__(self, programs: Mapping[str, Program]) -> None:
        self._programs = dict(programs)
        self._workers: ThreadPoolExecutor | None = None
        self._lock = threading.Lock()

    def __contains__(self, model: str) -> bool:
        return model in self._programs

    def names(self) -> list[str]:
        return sorted(self._programs)

    def call(self, request: Request) -> ProgramCall | None:
        """A call of the program that the request names, None where it names none."""
        program = self._programs.get(request.model)
        if program is None:
            return None
        with self._lock:
            if self._workers is None:
                self._workers = ThreadPoolExecutor(MOST_AT_ONCE, thread_name_prefix="program")
            return ProgramCall(program, request.seed, self._workers)

    def close(self) -> None:
        """Does not wait for a program that still runs."""
        with self._lock:
            workers, self._workers = self._workers, None
        if workers is not None:
            workers.shutdown(wait=False, cancel_futures=True)
