"""What a run tells while it goes on, and what it says at its end."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from forge.factory.signals import StopKind


class Ending(StrEnum):
    """How a candidate was left by this run of the program."""

    RETAINED = "retained"
    DISCARDED = "discarded"
    ERRORED = "errored"
    INTERRUPTED = "interrupted"


class Progress(Protocol):
    """Called from many threads. candidate_ended comes once for each candidate that was worked on."""

    def started(self, total: int, already_ended: int) -> None: ...

    def happened(self, candidate: str, kind: str, text: str) -> None: ...

    def candidate_ended(self, candidate: str, ending: Ending, detail: str) -> None: ...


class Silent:
    """Progress for nobody."""

    def started(self, total: int, already_ended: int) -> None:
        pass

    def happened(self, candidate: str, kind: str, text: str) -> None:
        pass

    def candidate_ended(self, candidate: str, ending: Ending, detail: str) -> None:
        pass


SILENT = Silent()


@dataclass(frozen=True)
class RunSummary:
    """Counts over all candidates of the run. stopped, why: what made it stop before its end; None and "" if nothing."""

    run: str
    retained: int
    discarded: int
    errored: int
    interrupted: int
    stopped: StopKind | None = None
    why: str = ""

    @property
    def finished(self) -> bool:
        return not (self.stopped or self.errored or self.interrupted)
