import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from solvers.pool import Cancelled, Finished, NotRun, Raised, TrialPool


def test_results_come_in_the_order_of_the_jobs_and_errors_are_results():
    error = LookupError("no")

    def bad(cancelled: Cancelled) -> int:
        raise error

    with TrialPool(2) as pool:
        assert pool.run([lambda _: 1, bad, lambda _: 3]) == [Finished(1), Raised(error), Finished(3)]
        assert pool.run([]) == []


def test_no_more_than_its_size_run_at_once_over_all_callers():
    lock, inside, most = threading.Lock(), [0], [0]
    trio = threading.Barrier(3)

    def job(cancelled: Cancelled) -> None:
        with lock:
            inside[0] += 1
            most[0] = max(most[0], inside[0])
        trio.wait(60)
        with lock:
            inside[0] -= 1

    with TrialPool(3) as pool, ThreadPoolExecutor(4) as callers:
        for results in callers.map(lambda _: pool.run([job] * 3), range(4)):
            assert results == [Finished(None)] * 3
    assert most == [3]


def test_what_has_not_started_is_not_run_once_it_is_decided():
    ran: list[int] = []
    with TrialPool(1) as pool:
        jobs = [lambda _, number=number: ran.append(number) for number in range(50)]
        results = pool.run(jobs, lambda results: results[0] is not None)
    assert results[0] == Finished(None)
    assert results[-1] == NotRun()
    assert len(ran) < 50
    assert sum(isinstance(result, Finished) for result in results) == len(ran)


def test_what_runs_is_told_and_its_result_is_kept():
    running = threading.Event()

    def slow(cancelled: Cancelled) -> str:
        running.set()
        while not cancelled():
            threading.Event().wait(0.005)
        return "stopped early"

    def quick(cancelled: Cancelled) -> str:
        running.wait(60)
        return "quick"

    with TrialPool(2) as pool:
        results = pool.run([slow, quick], lambda results: results[1] is not None)
    assert results == [Finished("stopped early"), Finished("quick")]


def test_stopping_one_batch_leaves_the_others():
    release = threading.Event()

    def waits(cancelled: Cancelled) -> bool:
        release.wait(60)
        return cancelled()

    with TrialPool(2) as pool, ThreadPoolExecutor(1) as caller:
        other = caller.submit(pool.run, [waits])
        assert pool.run([lambda _: 1, lambda _: 2], lambda _: True)[0] == Finished(1)
        release.set()
        assert other.result(60) == [Finished(False)]


def test_an_interrupt_stops_the_batch_and_comes_up_when_all_have_ended():
    ended: list[bool] = []
    running = threading.Event()

    def job(cancelled: Cancelled) -> None:
        running.set()
        while not cancelled():
            threading.Event().wait(0.005)
        ended.append(True)

    def decide(results: object) -> bool:
        running.wait(60)
        raise KeyboardInterrupt

    with TrialPool(2) as pool:
        with pytest.raises(KeyboardInterrupt):
            pool.run([job, lambda _: None, job], decide)
        assert ended
        assert pool.run([lambda _: "again"]) == [Finished("again")]


def test_cancel_all_reaches_every_batch():
    started = threading.Barrier(3)

    def job(cancelled: Cancelled) -> str:
        started.wait(60)
        while not cancelled():
            threading.Event().wait(0.005)
        return "told"

    with TrialPool(2) as pool, ThreadPoolExecutor(2) as callers:
        batches = [callers.submit(pool.run, [job]) for _ in range(2)]
        started.wait(60)
        pool.cancel_all()
        assert [batch.result(60) for batch in batches] == [[Finished("told")]] * 2


def test_a_closed_pool_takes_no_jobs():
    pool = TrialPool(1)
    pool.close()
    with pytest.raises(RuntimeError):
        pool.run([lambda _: 1])


INTERRUPTED = """
import os
import sys
import threading
from solvers.pool import TrialPool

def job(cancelled):
    os.write(1, b"running\\n")
    while not cancelled():
        threading.Event().wait(0.01)
    os.write(1, b"told\\n")

with TrialPool(2) as pool:
    try:
        pool.run([job, job, job])
    except KeyboardInterrupt:
        os.write(1, b"interrupted\\n")
        sys.exit(130)
"""


def test_ctrl_c_stops_a_batch_and_the_process_ends(request: pytest.FixtureRequest):
    command = [sys.executable, "-c", INTERRUPTED]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=request.config.rootpath) as process:
        assert process.stdout is not None
        lines = [process.stdout.readline(), process.stdout.readline()]
        process.send_signal(signal.SIGINT)
        rest, _ = process.communicate(timeout=60)
    assert lines == ["running\n"] * 2
    assert rest.splitlines() == ["told", "told", "interrupted"]
    assert process.returncode == 130
