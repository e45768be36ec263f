"""A run's progress on stderr: a bar of candidates, and a line for each that ended and for each event."""

import threading
from typing import Never

from tqdm import tqdm

from forge.cli.output import Stderr, plain
from forge.factory.progress import Ending


class ProgressBar:
    """forge.factory.progress.Progress. Use it in a `with` block. events: also print what happens to each candidate."""

    def __init__(self, run: str, events: bool) -> None:
        self._run = run
        self._events = events
        self._bar: tqdm[Never] | None = None
        self._lock = threading.Lock()

    def __enter__(self) -> "ProgressBar":
        return self

    def __exit__(self, *_error: object) -> None:
        with self._lock:
            if self._bar is not None:
                self._bar.close()

    def started(self, total: int, already_ended: int) -> None:
        with self._lock:
            self._bar = tqdm(
                total=total,
                initial=already_ended,
                desc=self._run,
                unit="candidate",
                dynamic_ncols=True,
                file=Stderr(),
                disable=None,  # where stderr is no terminal there are only lines
            )

    def happened(self, candidate: str, kind: str, text: str) -> None:
        if self._events or kind in ("retry", "error"):
            self.say(f"{candidate}: {kind}: {text.strip().splitlines()[-1] if text.strip() else ''}")

    def candidate_ended(self, candidate: str, ending: Ending, detail: str) -> None:
        self.say(f"{candidate}: {ending.value}: {detail}" if detail else f"{candidate}: {ending.value}")
        with self._lock:
            if self._bar is not None and ending is not Ending.INTERRUPTED:
                self._bar.update()

    def say(self, text: str) -> None:
        """One line above the bar."""
        tqdm.write(plain(text), file=Stderr())
