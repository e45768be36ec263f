import asyncio
import threading
from concurrent.futures import CancelledError, ThreadPoolExecutor

import pytest

from solvers.loop import LoopThread


async def double(number: int) -> int:
    return 2 * number


def test_results_and_errors_come_back():
    async def fail() -> None:
        raise LookupError("no")

    loop = LoopThread()
    try:
        assert loop.run(double(4), 30) == 8
        with pytest.raises(LookupError):
            loop.run(fail(), 30)
    finally:
        loop.close()


def test_work_is_cancelled_at_its_deadline():
    ended: list[str] = []

    async def endless() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("cancelled")

    loop = LoopThread()
    try:
        with pytest.raises(TimeoutError):
            loop.run(endless(), 0.01)
        assert ended == ["cancelled"]
        assert loop.run(double(1), 30) == 2
    finally:
        loop.close()


def test_closing_cancels_what_runs_and_refuses_what_comes():
    started = threading.Event()

    async def endless() -> None:
        started.set()
        await asyncio.Event().wait()

    loop = LoopThread()
    with ThreadPoolExecutor(1) as threads:
        running = threads.submit(loop.run, endless(), 600)
        assert started.wait(60)
        loop.close()
        assert isinstance(running.exception(60), CancelledError)
    with pytest.raises(CancelledError):
        loop.run(double(1), 30)
    loop.close()
