"""What is tried again, what halts the run, what becomes data, what passes through."""

import pytest

from forge.domain.candidate import Reason
from forge.factory.failures import Failure, UnitFailed, backoff_sec, settle
from forge.factory.signals import BudgetReached, RunHalted, Stopped
from forge.stages.trials import TrialBroken
from forge.storage.errors import LedgerFull, UnitBusy
from sandbox.errors import (
    BuildFailed,
    BuildTimedOut,
    ContextRefused,
    CopyRefused,
    EngineUnavailable,
    HostFull,
    ImageMissing,
    SandboxError,
    SandboxGone,
)
from solvers.errors import (
    BudgetSpent,
    ModelError,
    ModelForbidden,
    ModelKeyMissing,
    ModelRefused,
    ModelUnavailable,
    ModelUnknown,
    Overdue,
    ProgramError,
)

RETRIES = 3


class Work:
    """Raises an error the first `times` times. calls, waited, notes: what happened."""

    def __init__(self, error: BaseException, times: int = 1 << 30) -> None:
        self.error, self.times = error, times
        self.calls = 0
        self.waited: list[int] = []
        self.notes: list[str] = []

    def __call__(self) -> str:
        self.calls += 1
        if self.calls <= self.times:
            raise self.error
        return "done"

    def settled(self) -> str | Failure:
        return settle(self, retries=RETRIES, wait=self.waited.append, note=self.notes.append)


MAY_PASS = [
    SandboxError("x"),
    SandboxGone("x"),
    ImageMissing("x"),
    ModelUnavailable("x"),
    Overdue("x"),
    TrialBroken("x"),
    ConnectionResetError("x"),
]
LASTS = [
    BuildFailed("x"),
    BuildTimedOut("x"),
    ContextRefused("x"),
    CopyRefused("/p", "x"),
    ModelRefused("x"),
    ProgramError("x"),
    ZeroDivisionError("x"),
]
HALTS_AT_ONCE = [ModelKeyMissing("x"), ModelUnknown("x"), ModelForbidden("x")]
HALTS_IF_IT_STAYS = [EngineUnavailable("x"), HostFull("x")]
PASSES = [
    Stopped("x"),
    RunHalted("x"),
    BudgetReached(Reason.MONEY_SPENT, "x"),
    BudgetSpent("x"),
    LedgerFull("x"),
    UnitBusy("x"),
    KeyboardInterrupt(),
]


def of_type(error: BaseException) -> str:
    return type(error).__name__


@pytest.mark.parametrize("error", [*MAY_PASS, *HALTS_IF_IT_STAYS], ids=of_type)
def test_error_that_passes_is_tried_again_and_forgotten(error: Exception) -> None:
    work = Work(error, times=RETRIES)
    assert work.settled() == "done"
    assert work.waited == [1, 2, 3]
    assert len(work.notes) == RETRIES
    assert all(type(error).__name__ in note for note in work.notes)


@pytest.mark.parametrize("error", MAY_PASS, ids=of_type)
def test_error_that_stays_becomes_data(error: Exception) -> None:
    work = Work(error)
    failure = work.settled()
    assert isinstance(failure, Failure)
    assert failure.reason is (Reason.MODEL if isinstance(error, ModelError) else Reason.ENGINE)
    assert failure.line.startswith(f"{type(error).__name__}: ")
    assert "Traceback" in failure.trace
    assert work.calls == RETRIES + 1


@pytest.mark.parametrize("error", LASTS, ids=of_type)
def test_error_that_cannot_pass_is_not_tried_again(error: Exception) -> None:
    work = Work(error)
    assert isinstance(work.settled(), Failure)
    assert (work.calls, work.waited) == (1, [])


@pytest.mark.parametrize(("error", "calls"), [*((e, 1) for e in HALTS_AT_ONCE), *((e, 4) for e in HALTS_IF_IT_STAYS)])
def test_error_that_every_candidate_would_meet_halts_the_run(error: Exception, calls: int) -> None:
    work = Work(error)
    with pytest.raises(RunHalted, match=type(error).__name__):
        work.settled()
    assert work.calls == calls


@pytest.mark.parametrize("error", PASSES, ids=of_type)
def test_what_is_no_failure_of_the_work_passes_through(error: BaseException) -> None:
    work = Work(error)
    with pytest.raises(type(error)) as raised:
        work.settled()
    assert raised.value is error
    assert work.calls == 1


def test_failure_is_one_line() -> None:
    failure = Work(ValueError("first\nsecond")).settled()
    assert isinstance(failure, Failure)
    assert failure.line == "ValueError: first"


def test_stop_while_it_waits_ends_it() -> None:
    def wait(attempt: int) -> None:
        raise Stopped("stop")

    work = Work(SandboxError("x"))
    with pytest.raises(Stopped):
        settle(work, retries=RETRIES, wait=wait, note=work.notes.append)
    assert work.calls == 1


def test_waits_grow_up_to_a_minute() -> None:
    assert [backoff_sec(attempt) for attempt in range(1, 7)] == [2.0, 8.0, 32.0, 60.0, 60.0, 60.0]
    assert backoff_sec(100_000) == 60.0


def test_reason_of_a_unit_is_its_candidates_reason() -> None:
    unit = Work(ModelUnavailable("x")).settled()
    assert isinstance(unit, Failure)
    whole = Work(UnitFailed("draft", unit)).settled()
    assert isinstance(whole, Failure)
    assert (whole.reason, whole.line) == (Reason.MODEL, "UnitFailed: draft: ModelUnavailable: x")
    bug = Work(ZeroDivisionError("x")).settled()
    assert isinstance(bug, Failure)
    assert bug.reason is Reason.BUG
