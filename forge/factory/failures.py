"""The one place where an error becomes data.

What is nobody's fault is tried again; what then stays becomes a Failure, which the caller records: as an errored trial,
or as a candidate that errored. What every candidate needs (engine, disk, ledger, money) halts the run instead."""

import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from forge.domain.candidate import Reason
from forge.factory.signals import BudgetReached, RunHalted, Stopped
from forge.stages.trials import TrialBroken
from forge.storage.errors import StorageError
from forge.storage.ledger_file import is_full
from sandbox.errors import BuildFailed, ContextRefused, CopyRefused, EngineUnavailable, HostFull, SandboxError
from solvers.errors import (
    BudgetSpent,
    ModelError,
    ModelForbidden,
    ModelKeyMissing,
    ModelRefused,
    ModelUnknown,
    ProgramError,
)

T = TypeVar("T")

PASSES_THROUGH = (Stopped, RunHalted, BudgetReached, BudgetSpent, StorageError)
HALTS = (EngineUnavailable, HostFull, ModelForbidden, ModelKeyMissing, ModelUnknown)
LASTS = (BuildFailed, ContextRefused, CopyRefused, ModelKeyMissing, ModelRefused, ModelUnknown, ProgramError)
MAY_PASS = (SandboxError, ModelError, OSError, TrialBroken)


@dataclass(frozen=True)
class Failure:
    """An error that stayed. line: what failed, in one line. trace: for the record. reason: whose error it was."""

    line: str
    trace: str
    reason: Reason


class UnitFailed(Exception):
    """A unit that a candidate cannot go on without failed for good."""

    def __init__(self, unit: str, failure: Failure) -> None:
        super().__init__(f"{unit}: {failure.line}")
        self.failure = failure


def settle(
    work: Callable[[], T],
    *,
    retries: int,
    wait: Callable[[int], None],
    note: Callable[[str], None],
) -> T | Failure:
    """Do the work; on an error that may pass, `wait(attempt)` and do it again, at most `retries` times.

    Raises Stopped, RunHalted, BudgetReached, BudgetSpent and ledger errors as they are, RunHalted for what hurts every
    candidate."""
    for attempt in range(1, retries + 2):
        try:
            return work()
        except PASSES_THROUGH:
            raise
        except Exception as error:
            line = f"{type(error).__name__}: {error}".split("\n", 1)[0]
            if attempt <= retries and isinstance(error, MAY_PASS) and not (isinstance(error, LASTS) or is_full(error)):
                note(f"{line}; trying again ({attempt} of {retries})")
                wait(attempt)
                continue
            if isinstance(error, HALTS) or is_full(error):
                raise RunHalted(line) from error
            return Failure(line, traceback.format_exc(), _reason(error))
    raise AssertionError("unreachable")  # pragma: no cover


def _reason(error: Exception) -> Reason:
    if isinstance(error, UnitFailed):
        return error.failure.reason
    if isinstance(error, ModelError) and not isinstance(error, ProgramError):
        return Reason.MODEL
    return Reason.ENGINE if isinstance(error, SandboxError | OSError | TrialBroken) else Reason.BUG


def backoff_sec(attempt: int) -> float:
    """Seconds before attempt + 1: 2, 8, 32, at most 60."""
    return min(60.0, 2.0 * 4.0 ** min(attempt - 1, 3))
