"""The values of units: what is stored of each piece of work, so that it is never done twice."""

from forge.domain.outcome import Value, Verdict
from forge.domain.structure import Finding


class Findings(Value):
    """What validation saw; empty is fine."""

    findings: tuple[Finding, ...] = ()


class AuthoredRecord(Value):
    """What one of the author's duties left. tree, trajectory: blobs. refused: why the folder could not be read back.

    cost in US dollars, None where a price is unknown; time in seconds."""

    tree: str
    trajectory: str
    said: str = ""
    stop: str = ""
    refused: str = ""
    steps: int = 0
    tokens: int = 0
    cost_usd: float | None = None
    time_sec: float = 0.0


class Replays(Value):
    """Verdicts of the reference solution in clean containers."""

    verdicts: tuple[Verdict, ...] = ()

    @property
    def passed(self) -> bool:
        return bool(self.verdicts) and all(verdict.passed for verdict in self.verdicts)


class Bases(Value):
    """What a kept task's images stand on. substitutes: (asked, used) base images that were mapped to a stand-in."""

    substitutes: tuple[tuple[str, str], ...] = ()


class End(Value):
    """How a candidate ended, or was left. reason: a forge.domain.candidate.Reason's value. folder: of the kept task."""

    retained: bool
    reason: str
    detail: str
    rounds: int
    folder: str = ""
