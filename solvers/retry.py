"""When a failed call is made again, and after how long. Pure."""

import random
from dataclasses import dataclass


@dataclass(frozen=True)
class BackOff:
    """Exponential with jitter: before retry n (from 0) between half and all of first_sec * 2^n, at most most_sec.
    What the endpoint asks for (Retry-After) is waited for at least, up to most_asked_sec."""

    first_sec: float = 1.0
    most_sec: float = 60.0
    most_asked_sec: float = 600.0

    def delay(self, retry: int, asked_sec: float | None, rng: random.Random) -> float:
        """Seconds to wait before retry number `retry`."""
        full = min(self.most_sec, self.first_sec * 2.0 ** min(retry, 62))
        jittered = full * rng.uniform(0.5, 1.0)
        asked = min(asked_sec or 0.0, self.most_asked_sec)
        return max(jittered, asked)
