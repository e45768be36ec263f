"""What was paid, what of it was lost, and for what."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from forge.domain.candidate import CandidateState, Reason
from forge.domain.spend import Spend
from forge.storage.ledger import Ledger
from forge.storage.ledger_reader import unit_kind
from solvers.model import Message, Reply, Request


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with Ledger.open(tmp_path / "run") as ledger:
        yield ledger


def pay(ledger: Ledger, unit: str, text: str, model: str, cost: float | None, tokens: int | None = 5) -> None:
    request = Request(model, (Message("user", text),))
    if ledger.calls.find(unit, request.digest(), 0) is None:
        reply = Reply("ok", prompt_tokens=tokens, completion_tokens=tokens, cost_usd=cost)
        ledger.calls.record(unit, request.digest(), 0, request, reply)


class Interrupted(Exception):
    pass


def attempt(ledger: Ledger, unit: str, *texts: str, finish: bool, cost: float | None = 1.0) -> None:
    def work() -> int:
        for text in texts:
            pay(ledger, f"a/{unit}", text, "m", cost)
        if not finish:
            raise Interrupted
        return 1

    if finish:
        ledger.once("a", unit, work, int)
    else:
        with pytest.raises(Interrupted):
            ledger.once("a", unit, work, int)


def test_spend_by_model_candidate_and_kind(ledger: Ledger) -> None:
    ledger.once("a", "draft", lambda: pay(ledger, "a/draft", "x", "big", 0.5), type(None))
    ledger.once("b", "r2/trial/s/0", lambda: pay(ledger, "b/r2/trial/s/0", "x", "small", None, None), type(None))
    ledger.once("b", "r3/trial/s/0", lambda: pay(ledger, "b/r3/trial/s/0", "x", "small", 0.25), type(None))
    draft, unknown = Spend(1, 0.5, 0, 10, 0), Spend(2, 0.25, 1, 10, 1)
    report = ledger.read.spend()
    assert report.total == draft + unknown
    assert report.total.usd is None
    assert report.lost == Spend()
    assert report.by_model == {"big": draft, "small": unknown}
    assert report.by_candidate == {"a": draft, "b": unknown}
    assert report.by_kind == {"draft": draft, "trial": unknown}
    assert ledger.spend("a") == draft
    assert ledger.spend() == report.total
    assert ledger.spend("nobody") == Spend()


def test_what_a_finished_attempt_did_not_take_is_lost_once(ledger: Ledger) -> None:
    attempt(ledger, "u", "one", "two", finish=False)
    assert ledger.read.spend().lost == Spend()
    attempt(ledger, "u", "one", "other", finish=True)
    for _ in range(2):
        attempt(ledger, "u", "one", "other", finish=True)
        assert ledger.read.spend().lost == Spend(1, 1.0, 0, 10, 0)
    assert ledger.read.spend().total.calls == 3


def test_what_only_an_interrupted_attempt_took_is_lost(ledger: Ledger) -> None:
    attempt(ledger, "u", "one", "two", finish=False)
    attempt(ledger, "u", "one", "two", "three", finish=False)
    attempt(ledger, "u", "one", finish=True)
    assert ledger.read.spend().lost.calls == 2


def test_calls_found_by_the_finishing_attempt_are_not_lost(ledger: Ledger) -> None:
    attempt(ledger, "u", "one", finish=False)
    attempt(ledger, "u", "one", "two", finish=False)
    attempt(ledger, "u", "one", "two", "three", finish=True)
    assert ledger.read.spend().lost == Spend()
    assert ledger.read.spend().total.calls == 3


def test_a_unit_that_never_finished_is_lost_when_its_candidate_has_ended_for_good(ledger: Ledger) -> None:
    attempt(ledger, "u", "one", finish=False)
    attempt(ledger, "v", "two", finish=True)
    ledger.rows.put_candidate("a", CandidateState.CALIBRATING)
    assert ledger.read.spend().lost == Spend()
    for left in (CandidateState.ERRORED, CandidateState.INTERRUPTED):
        ledger.rows.put_candidate("a", left)
        assert ledger.read.spend().lost == Spend(), "the next run finds them"
    ledger.rows.put_candidate("a", CandidateState.DISCARDED, reason=Reason.MONEY_SPENT)
    assert ledger.read.spend().lost.calls == 1
    ledger.rows.put_candidate("a", CandidateState.DRAFTING)
    attempt(ledger, "u", "one", finish=True)
    ledger.rows.put_candidate("a", CandidateState.RETAINED, reason=Reason.CRITERION_HELD)
    assert ledger.read.spend().lost == Spend()


def test_units_of_a_candidate(ledger: Ledger) -> None:
    attempt(ledger, "u", finish=False)
    attempt(ledger, "u", finish=True)
    attempt(ledger, "v", finish=False)
    units = {row.unit: row for row in ledger.read.units("a")}
    assert [(row.attempt, row.finished_at is None) for row in units.values()] == [(2, False), (1, True)]


@pytest.mark.parametrize(
    ("unit", "kind"),
    [("draft", "draft"), ("trial/3/strong/0", "trial"), ("r2/trial/strong/0", "trial"), ("7", "7"), ("r2/x", "x")],
)
def test_unit_kind(unit: str, kind: str) -> None:
    assert unit_kind(unit) == kind
