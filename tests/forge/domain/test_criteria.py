"""Every combination of outcomes, and what must not matter."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forge.domain.criteria import Contrastive, Criterion, MultiSolver
from forge.domain.outcome import Decision, DecisionKind, Diagnosis, Outcome, Trial

P, F, E, C = Outcome.PASSED, Outcome.FAILED, Outcome.ERRORED, Outcome.CANCELLED
Short = tuple[DecisionKind, Diagnosis | None]
RETAIN: Short = (DecisionKind.RETAIN, None)
UNDECIDED: Short = (DecisionKind.UNDECIDED, None)
EASY: Short = (DecisionKind.REVISE, Diagnosis.TOO_EASY)
HARD: Short = (DecisionKind.REVISE, Diagnosis.TOO_HARD)
INVERTED: Short = (DecisionKind.REVISE, Diagnosis.INVERTED)
POOL = MultiSolver(("a", "b", "c"))
PAIR = Contrastive("strong", "weak")


def trials(names: tuple[str, ...], outcomes: tuple[Outcome | None, ...]) -> list[Trial]:
    """None: no trial."""
    pairs = zip(names, outcomes, strict=True)
    return [Trial(solver=n, solver_digest="d", revision=1, outcome=o) for n, o in pairs if o is not None]


def short(decision: Decision) -> Short:
    return decision.kind, decision.diagnosis


@pytest.mark.parametrize("outcomes", list(product((P, F, E, C, None), repeat=3)))
def test_pool(outcomes: tuple[Outcome | None, ...]) -> None:
    seen = set(outcomes)
    if P in seen and F in seen:
        expected = RETAIN
    elif seen == {P}:
        expected = EASY
    elif seen == {F}:
        expected = HARD
    else:
        expected = UNDECIDED
    assert short(POOL.decide(trials(POOL.solvers, outcomes))) == expected


TABLE: dict[tuple[Outcome | None, ...], Short] = {(P, F): RETAIN, (P, P): EASY, (F, F): HARD, (F, P): INVERTED}


@pytest.mark.parametrize("outcomes", list(product((P, F, E, C, None), repeat=2)))
def test_pair(outcomes: tuple[Outcome | None, Outcome | None]) -> None:
    expected = TABLE.get(outcomes, UNDECIDED)
    assert short(PAIR.decide(trials(PAIR.solvers, outcomes))) == expected


@pytest.mark.parametrize(
    ("outcomes", "expected"),
    [
        ((None, None, None), ("a", "b", "c")),
        ((P, None, None), ("b", "c")),
        ((P, F, None), ()),
        ((P, E, F), ()),
        ((P, E, P), ("b",)),
        ((F, C, F), ("b",)),
        ((P, P, P), ()),
        ((E, E, E), ("a", "b", "c")),
    ],
)
def test_open_solvers_of_a_pool(outcomes: tuple[Outcome | None, ...], expected: tuple[str, ...]) -> None:
    assert POOL.open_solvers(trials(POOL.solvers, outcomes)) == expected


@pytest.mark.parametrize("outcomes", list(product((P, F, E, None), repeat=2)))
def test_open_solvers_of_a_pair(outcomes: tuple[Outcome | None, Outcome | None]) -> None:
    expected = tuple(n for n, o in zip(PAIR.solvers, outcomes, strict=True) if o not in (P, F))
    assert PAIR.open_solvers(trials(PAIR.solvers, outcomes)) == expected


Criteria = st.one_of(
    st.integers(2, 6).map(lambda count: MultiSolver(tuple(f"s{number}" for number in range(count)))),
    st.just(PAIR),
)


@st.composite
def rounds(draw: st.DrawFn) -> tuple[Criterion, tuple[Outcome | None, ...]]:
    criterion = draw(Criteria)
    count = len(criterion.solvers)
    return criterion, tuple(draw(st.lists(st.sampled_from([P, F, E, C, None]), min_size=count, max_size=count)))


@given(rounds(), st.randoms())
def test_order_means_nothing(made: tuple[Criterion, tuple[Outcome | None, ...]], random: object) -> None:
    criterion, outcomes = made
    ordered = trials(criterion.solvers, outcomes)
    mixed = list(ordered)
    random.shuffle(mixed)  # type: ignore[attr-defined]
    assert criterion.decide(mixed) == criterion.decide(ordered)
    assert criterion.open_solvers(mixed) == criterion.open_solvers(ordered)


@given(rounds())
def test_a_decision_is_made_exactly_when_what_is_missing_cannot_change_it(
    made: tuple[Criterion, tuple[Outcome | None, ...]],
) -> None:
    criterion, outcomes = made
    choices = [[o] if o in (P, F) else [P, F] for o in outcomes]
    possible = {short(criterion.decide(trials(criterion.solvers, filled))) for filled in product(*choices)}
    decided = short(criterion.decide(trials(criterion.solvers, outcomes)))
    assert decided == (possible.pop() if len(possible) == 1 else UNDECIDED)


@given(rounds())
def test_solvers_are_open_exactly_while_nothing_is_decided(
    made: tuple[Criterion, tuple[Outcome | None, ...]],
) -> None:
    criterion, outcomes = made
    asked = trials(criterion.solvers, outcomes)
    is_open = bool(criterion.open_solvers(asked))
    assert is_open == (criterion.decide(asked).kind is DecisionKind.UNDECIDED)


@given(rounds(), st.sampled_from([P, F, E, C]))
def test_strangers_later_samples_and_errors_change_nothing(
    made: tuple[Criterion, tuple[Outcome | None, ...]], outcome: Outcome
) -> None:
    criterion, outcomes = made
    asked = trials(criterion.solvers, outcomes)
    first = criterion.solvers[0]
    more = [
        Trial(solver="stranger", solver_digest="d", revision=1, outcome=outcome),
        Trial(solver=first, solver_digest="d", revision=1, sample=1, outcome=outcome),
        Trial(solver=first, solver_digest="d", revision=1, outcome=E),
    ]
    assert criterion.decide(asked + more) == criterion.decide(asked)


def test_an_opinion_counts_for_nothing() -> None:
    boast = Trial(solver="weak", solver_digest="d", revision=1, outcome=F, last_message="all tests pass, task done")
    honest = Trial(solver="strong", solver_digest="d", revision=1, outcome=P, last_message="I gave up")
    assert short(PAIR.decide([boast, honest])) == RETAIN


@pytest.mark.parametrize("criterion", [POOL, PAIR])
def test_contradictory_outcomes_are_a_bug_of_the_caller(criterion: Criterion) -> None:
    name = criterion.solvers[0]
    both = [*trials((name,), (P,)), *trials((name,), (F,))]
    with pytest.raises(ValueError, match=name):
        criterion.decide(both)
    with pytest.raises(ValueError, match=name):
        criterion.open_solvers(both)


@pytest.mark.parametrize("names", [(), ("a",), ("a", "a"), ("a", "b", "a")])
def test_a_pool_that_could_retain_nothing_is_refused(names: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match="at least two solvers"):
        MultiSolver(names)


def test_a_pair_of_one_is_refused() -> None:
    with pytest.raises(ValueError, match="different names"):
        Contrastive("a", "a")
