"""Programs that are killed with SIGKILL at a chosen instant, in a process of their own.

The process is forked from a server that has imported `preload` once, so that hundreds of kills cost milliseconds each.

    switch = KillSwitch(at=7)                      # the 7th event kills the process
    Ledger.open(run_dir, on_commit=switch)         # an event is a commit of the ledger,
    engine = Noticing(FakeEngine(), switch)        # or whatever else calls the switch

    exit = run_killed(program, run_dir, 7, preload=("forge.factory.run",))
"""

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any

LONGEST_SEC = 120.0
WARM = "tests.faults.warm"
"""Preloaded for everybody: there is one server a process, and it keeps what it was started with."""


class KillSwitch:
    """Kills its own process at the n-th event; 0 never does. Safe to call from many threads."""

    def __init__(self, at: int) -> None:
        self.at = at
        self.events = 0
        self._lock = threading.Lock()

    def __call__(self, *_what: object) -> None:
        with self._lock:
            self.events += 1
            if self.events == self.at:
                os.kill(os.getpid(), signal.SIGKILL)


@dataclass(frozen=True)
class Exit:
    """How a program ended. code: None where it was killed by SIGKILL, else its exit code (0: it came to its end)."""

    killed: bool
    code: int | None


class TooLong(Exception):
    """A program neither ended nor was killed in time."""


def run_killed(program: Callable[..., object], *arguments: Any, preload: Sequence[str] = ()) -> Exit:
    """Run `program(*arguments)`, a function of an importable module that kills itself, and say how it ended.

    Raises TooLong."""
    process = _context(preload).Process(target=program, args=arguments)
    process.start()
    return _ended(process)


@contextmanager
def running(
    program: Callable[..., object], *arguments: Any, preload: Sequence[str] = ()
) -> Iterator[tuple[BaseProcess, Connection]]:
    """Run `program(connection, *arguments)`; the block talks with it and may kill it. It is ended behind the block."""
    context = _context(preload)
    ours, theirs = context.Pipe()
    process = context.Process(target=program, args=(theirs, *arguments))
    process.start()
    theirs.close()
    try:
        yield process, ours
    finally:
        process.kill()
        process.join()
        ours.close()


def rest_of(connection: Connection) -> Iterator[Any]:
    """What a program said until its end."""
    while True:
        try:
            yield connection.recv()
        except (EOFError, ConnectionResetError):
            return


def _context(preload: Sequence[str]) -> multiprocessing.context.ForkServerContext:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__, WARM, *preload])
    return context


def _ended(process: BaseProcess) -> Exit:
    process.join(LONGEST_SEC)
    if process.exitcode is None:
        process.kill()
        process.join()
        raise TooLong(f"{process.name} ran for more than {LONGEST_SEC:g} s")
    killed = process.exitcode == -signal.SIGKILL
    return Exit(killed, None if killed else process.exitcode)
