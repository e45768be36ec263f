"""What a candidate's code works with: the shop that all candidates share, and the bench of one candidate."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel

from forge.domain.clue import Clue
from forge.domain.config import Config
from forge.domain.spend import Budget
from forge.factory.failures import Failure, UnitFailed, backoff_sec, settle
from forge.factory.images import TrackedEngine
from forge.factory.signals import BudgetReached, StopSignal
from forge.stages.authoring import AuthorSettings
from forge.storage.ledger import Ledger
from sandbox.api import Owner
from solvers.door import ModelDoor
from solvers.model import Ask
from solvers.pool import TrialPool

V = TypeVar("V", bound=BaseModel)

Notify = Callable[[str, str, str], None]
"""(candidate, kind, text): something happened that a person may want to see."""


@dataclass(frozen=True)
class Shop:
    """Shared by all candidates of a run, and safe to use from many threads."""

    config: Config
    engine: TrackedEngine
    door: ModelDoor
    ledger: Ledger
    pool: TrialPool
    stop: StopSignal
    author: AuthorSettings
    notify: Notify
    live: Path
    clock: Callable[[], float]


class Bench:
    """One candidate's view of the shop."""

    def __init__(self, shop: Shop, clue: Clue) -> None:
        self.shop = shop
        self.clue = clue
        limits = shop.config.budget
        hours = limits.candidate_hours
        self._budget = Budget(usd=limits.candidate_usd, ends_at=None if hours is None else shop.clock() + hours * 3600)

    @property
    def id(self) -> str:
        return self.clue.id

    @property
    def owner(self) -> Owner:
        return Owner(self.shop.config.run.name, self.id)

    def unit(self, name: str, kind: type[V], work: Callable[[], V]) -> V:
        """The recorded value of a unit, or its work done and recorded; what may pass is tried again.

        Raises Stopped, RunHalted, BudgetReached, UnitFailed."""
        value = self.settled(name, kind, work)
        if isinstance(value, Failure):
            self.event("error", f"{name}: {value.trace}")
            raise UnitFailed(name, value)
        return value

    def settled(self, name: str, kind: type[V], work: Callable[[], V]) -> V | Failure:
        """As `unit`, with the failure as a value. Each try is an attempt of its own at the unit, so that it finds the
        model calls of the one before."""
        return settle(
            lambda: self._once(name, kind, work),
            retries=self.shop.config.calibration.error_retries,
            wait=lambda attempt: self.shop.stop.wait(backoff_sec(attempt)),
            note=lambda text: self.event("retry", f"{name}: {text}"),
        )

    def record(self, name: str, kind: type[V], value: Callable[[], V]) -> V:
        """The recorded value of something that is decided, not worked for: neither stop nor budget hinders it."""
        return self.shop.ledger.once(self.id, name, value, kind)

    def _once(self, name: str, kind: type[V], work: Callable[[], V]) -> V:
        def guarded() -> V:
            self.shop.stop.check()
            self.check_budget()
            return work()

        return self.shop.ledger.once(self.id, name, guarded, kind)

    def ask(self, unit: str) -> Ask:
        """The door, bound to a unit of this candidate: that unit pays."""
        return self.shop.door.bind(unit=f"{self.id}/{unit}")

    def seed(self, *names: object) -> int:
        """31 bits that follow from the run's seed, the candidate and the names."""
        text = "\0".join(map(str, (self.shop.config.run.seed, self.id, *names)))
        return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big") >> 1

    def event(self, kind: str, text: str, key: str | None = None) -> None:
        """Note that something happened; with a key, once however often the same code runs."""
        self.shop.ledger.event(self.id, kind, text, key=key)
        self.shop.notify(self.id, kind, text)

    def check_budget(self) -> None:
        """Money: of all the candidate's calls. Time: since this process took the candidate up. Raises BudgetReached."""
        reason = self._budget.reached(self.shop.ledger.spend(self.id), self.shop.clock())
        if reason:
            raise BudgetReached(reason, f"the candidate's budget is spent: {reason.value}")
