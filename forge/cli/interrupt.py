"""Ctrl-C, SIGTERM and a terminal that closes. A run is asked once to finish what is cheap, twice to end now; what is
shorter ends at once. Either cleans up."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from forge.factory.signals import StopKind, StopSignal

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

Handler = Callable[[int, FrameType | None], object]


@contextmanager
def stop_on_signals(stop: StopSignal, say: Callable[[str], None]) -> Iterator[None]:
    """The first signal sets `stop`, the second raises KeyboardInterrupt, further ones let the cleaning up be. To be
    used in the main thread."""
    seen: list[int] = []

    def handle(number: int, _frame: FrameType | None) -> None:
        seen.append(number)
        if len(seen) == 1:
            stop.set(StopKind.INTERRUPTED, "interrupted")
            say("stopping: finishing what is cheap; once more to stop now")
        elif len(seen) == 2:
            say("stopping now")
            raise KeyboardInterrupt
        else:
            say("still cleaning up")

    with _handled(handle):
        yield


@contextmanager
def end_on_signals() -> Iterator[None]:
    """The first signal raises KeyboardInterrupt, further ones let the cleaning up be. To be used in the main thread."""
    seen: list[int] = []

    def handle(number: int, _frame: FrameType | None) -> None:
        seen.append(number)
        if len(seen) == 1:
            raise KeyboardInterrupt

    with _handled(handle):
        yield


@contextmanager
def _handled(handler: Handler) -> Iterator[None]:
    """What is ignored from outside stays ignored: nohup is for that."""
    numbers = [number for number in SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]
    before = {number: signal.signal(number, handler) for number in numbers}
    try:
        yield
    finally:
        for number, old in before.items():
            signal.signal(number, old)
