"""What was paid, where a price may be unknown: an unknown price is never counted as 0."""

from dataclasses import dataclass

from forge.domain.candidate import Reason


@dataclass(frozen=True)
class Spend:
    """Sums over model calls. known_usd: US dollars of the calls with a price; unknown_calls: those without one.

    tokens: prompt and completion of the calls that told them; untold_calls: those that told none."""

    calls: int = 0
    known_usd: float = 0.0
    unknown_calls: int = 0
    tokens: int = 0
    untold_calls: int = 0

    def __add__(self, other: "Spend") -> "Spend":
        return Spend(
            self.calls + other.calls,
            self.known_usd + other.known_usd,
            self.unknown_calls + other.unknown_calls,
            self.tokens + other.tokens,
            self.untold_calls + other.untold_calls,
        )

    @property
    def usd(self) -> float | None:
        """The whole price in US dollars, None as soon as one call's is unknown."""
        return None if self.unknown_calls else self.known_usd


@dataclass(frozen=True)
class Budget:
    """What a run or a candidate may spend; None is no limit. usd in US dollars, ends_at in seconds on the caller's
    clock."""

    usd: float | None = None
    ends_at: float | None = None

    def reached(self, spend: Spend, now: float = 0.0) -> Reason:
        """The reason to stop, Reason.NONE (which is false) while there is none. Unknown prices alone never stop."""
        if self.usd is not None and spend.known_usd >= self.usd:
            return Reason.MONEY_SPENT
        if self.ends_at is not None and now >= self.ends_at:
            return Reason.TIME_SPENT
        return Reason.NONE
