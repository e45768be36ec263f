"""What the ledger costs beyond bare SQLite: commits a second of 16 threads, each waiting for its own row to be on disk.

    python benchmarks/ledger.py [--seconds 1] [--rounds 7]

`bare` is the least that gives the same promise: one connection (WAL, synchronous FULL), one thread that takes rows from
a queue and commits what has come together, and an event for each row. Both take turns on the same disk in one run;
`ratio` is the median over all turns of ours by bare. Units and calls are what the factory does most: once() of one
small value, and the record of one call with a new message of 1,500 bytes in a conversation of 20.

Prints JSON: rates in operations a second, times in milliseconds, sizes in bytes."""

import argparse
import json
import queue
import sqlite3
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

from forge.storage.ledger import Ledger
from solvers.model import Message, Reply, Request

THREADS = 16
BODY = "x" * 800
GROUP = 256
INSERT = "INSERT INTO events (candidate, kind, text, at) VALUES (?, ?, ?, ?)"

Work = Callable[[int, int], object]
"""(thread, number) -> one operation, done when it returns."""


def rate(work: Work, seconds: float) -> tuple[float, float]:
    """Operations a second of all threads together, and the 99th percentile of one's time in milliseconds."""
    times: list[list[float]] = [[] for _ in range(THREADS)]
    started = time.perf_counter()

    def run(thread: int) -> None:
        number = 0
        while (begin := time.perf_counter()) - started < seconds:
            work(thread, number)
            times[thread].append(time.perf_counter() - begin)
            number += 1

    threads = [threading.Thread(target=run, args=(thread,)) for thread in range(THREADS)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    elapsed = time.perf_counter() - started
    every = sorted(value for some in times for value in some)
    return len(every) / elapsed, 1000 * every[int(0.99 * (len(every) - 1))]


def bare(folder: Path, seconds: float) -> tuple[float, float]:
    connection = sqlite3.connect(folder / "bare.db", isolation_level=None, check_same_thread=False)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("CREATE TABLE events (id INTEGER PRIMARY KEY, candidate TEXT, kind TEXT, text TEXT, at REAL)")
    waiting: queue.SimpleQueue[tuple[tuple[object, ...], threading.Event] | None] = queue.SimpleQueue()

    def write() -> None:
        while (first := waiting.get()) is not None:
            group = [first]
            while len(group) < GROUP and not waiting.empty():
                one = waiting.get()
                if one is None:
                    return
                group.append(one)
            connection.execute("BEGIN IMMEDIATE")
            connection.executemany(
                "INSERT INTO events (candidate, kind, text, at) VALUES (?, ?, ?, ?)", [r for r, _ in group]
            )
            connection.execute("COMMIT")
            for _, done in group:
                done.set()

    def work(thread: int, _number: int) -> None:
        done = threading.Event()
        waiting.put(((str(thread), "kind", BODY, time.time()), done))
        done.wait()

    writer = threading.Thread(target=write)
    writer.start()
    result = rate(work, seconds)
    waiting.put(None)
    writer.join()
    connection.close()
    return result


def ours(folder: Path, seconds: float) -> tuple[float, float]:
    with Ledger.open(folder) as ledger:
        return rate(lambda thread, _number: ledger.event(str(thread), "kind", BODY), seconds)


def units(folder: Path, seconds: float) -> tuple[float, float]:
    with Ledger.open(folder) as ledger:
        return rate(lambda thread, number: ledger.once(f"c{thread}", f"u/{number}", lambda: number, int), seconds)


def calls(folder: Path, seconds: float) -> tuple[tuple[float, float], float]:
    """Rate and latency, and bytes of the ledger a call."""
    past = [Message("user", f"{number} " + "y" * 1500) for number in range(20)]
    recorded = [0] * THREADS

    with Ledger.open(folder) as ledger:

        def record(thread: int, number: int) -> None:
            request = Request("m", (*past, Message("user", f"{thread} {number} " + "z" * 1500)))
            ledger.calls.record(f"c{thread}/u", request.digest(), 0, request, Reply(f"{thread} {number} ls -l"))
            recorded[thread] += 1

        inside, release = threading.Barrier(THREADS + 1), threading.Event()

        def stay_open() -> int:
            inside.wait()
            release.wait()
            return 1

        holders = [
            threading.Thread(target=ledger.once, args=(f"c{thread}", "u", stay_open, int)) for thread in range(THREADS)
        ]
        for one in holders:
            one.start()
        inside.wait()
        measured = rate(record, seconds)
        release.set()
        for one in holders:
            one.join()
    return measured, (folder / "ledger.db").stat().st_size / sum(recorded)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=1.0, help="of each measurement")
    parser.add_argument("--rounds", type=int, default=7, help="turns of each")
    options = parser.parse_args()
    found: dict[str, list[tuple[float, float]]] = {"bare": [], "ours": [], "units": [], "calls": []}
    sizes = []
    with tempfile.TemporaryDirectory(dir=".") as folder:
        for turn in range(options.rounds):
            pair = [("bare", bare), ("ours", ours)]
            for name, measure in (*(pair if turn % 2 else reversed(pair)), ("units", units)):
                place = Path(folder) / f"{name}{turn}"
                place.mkdir()
                found[name].append(measure(place, options.seconds))
            place = Path(folder) / f"calls{turn}"
            result, size = calls(place, options.seconds)
            found["calls"].append(result)
            sizes.append(size)
    rates = {name: median(rate for rate, _ in results) for name, results in found.items()}
    ratios = [our / plain for (our, _), (plain, _) in zip(found["ours"], found["bare"], strict=True)]
    report = {
        "threads": THREADS,
        "rates": {name: round(value) for name, value in rates.items()},
        "p99_ms": {name: round(median(late for _, late in results), 2) for name, results in found.items()},
        "bytes_per_call": round(median(sizes)),
        "ratio": round(median(ratios), 3),
    }
    print(json.dumps(report, indent=2))


if __name__ == "__main__":
    main()
