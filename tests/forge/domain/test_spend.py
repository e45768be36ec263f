"""An unknown price is never 0."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forge.domain.candidate import Reason
from forge.domain.spend import Budget, Spend

tokens = st.none() | st.integers(0, 10**6)
prices = st.none() | st.integers(0, 4000).map(lambda eighths: eighths / 8)
calls = st.lists(st.tuples(prices, tokens, tokens), max_size=8)


def total(made: list[tuple[float | None, int | None, int | None]]) -> Spend:
    return sum((of_call(*call) for call in made), Spend())


def of_call(price: float | None, prompt: int | None, completion: int | None) -> Spend:
    told = (prompt or 0) + (completion or 0)
    return Spend(1, price or 0.0, int(price is None), told, int(prompt is None and completion is None))


@given(calls)
def test_the_price_is_known_exactly_when_every_call_has_one(
    made: list[tuple[float | None, int | None, int | None]],
) -> None:
    prices = [price for price, _, _ in made]
    spend = total(made)
    assert spend.usd == (None if None in prices else sum(price for price in prices if price is not None))
    assert spend.known_usd == sum(price or 0 for price in prices)
    assert spend.unknown_calls == prices.count(None)
    assert spend.calls == len(made)


@given(calls, calls)
def test_sums_add_up(
    first: list[tuple[float | None, int | None, int | None]], second: list[tuple[float | None, int | None, int | None]]
) -> None:
    assert total(first) + total(second) == total(first + second) == total(second + first)


KNOWN, UNKNOWN = Spend(calls=2, known_usd=1.5, tokens=100), Spend(3, 1.5, 1, 100, 1)


@pytest.mark.parametrize(
    ("usd", "spend", "spent"),
    [(None, UNKNOWN, False), (1.51, KNOWN, False), (1.5, KNOWN, True), (1.51, UNKNOWN, False), (1.5, UNKNOWN, True)],
)
def test_money_is_spent_when_what_is_known_reaches_it(usd: float | None, spend: Spend, spent: bool) -> None:
    assert bool(Budget(usd=usd).reached(spend)) is spent


@pytest.mark.parametrize(
    ("budget", "now", "reason"),
    [
        (Budget(), 1e12, Reason.NONE),
        (Budget(usd=1.0), 0.0, Reason.MONEY_SPENT),
        (Budget(usd=9.0, ends_at=10.0), 9.9, Reason.NONE),
        (Budget(usd=9.0, ends_at=10.0), 10.0, Reason.TIME_SPENT),
    ],
)
def test_reached(budget: Budget, now: float, reason: Reason) -> None:
    found = budget.reached(UNKNOWN, now)
    assert found is reason
    assert bool(found) == (reason is not Reason.NONE)
