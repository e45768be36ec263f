"""Each family with the three solvers, at the settings of the knobs that decide what becomes of a candidate."""

from collections.abc import Iterator

import pytest

from sandbox.api import Owner
from sandbox.engine import DockerEngine, EngineConfig
from tests.solvers.rehearsal.family_trials import Drawn, drawn, passed_checks

pytestmark = pytest.mark.docker
SEEDS = {"log_offsets": 101, "config_layers": 202, "binary_records": 303}
AMBIGUOUS = {
    "log_offsets": ("repeats", "once"),
    "config_layers": ("empties", "kept"),
    "binary_records": ("deleted", "dropped"),
}
"""What is drawn of each family's ambiguous point, and the usual reading of it."""


@pytest.fixture(scope="module")
def engine(engine_run: str, stand_in: str) -> Iterator[DockerEngine]:
    with DockerEngine(EngineConfig(substitutes={"debian:bookworm-slim": stand_in})) as made:
        yield made
        made.sweep(engine_run)


@pytest.fixture(params=SEEDS)
def case(request: pytest.FixtureRequest, engine: DockerEngine, engine_run: str) -> Drawn:
    return drawn(engine, Owner(engine_run), request.param, SEEDS[request.param])


def test_reference_alternatives_and_wrong_solutions(case: Drawn) -> None:
    task = case.with_knobs("none")
    assert passed_checks(task.idle()) == set()
    assert task.reference().passed
    alternatives, wrong = task.variants("alternatives"), task.variants("wrong")
    assert set(alternatives.values()) == {True}, alternatives
    assert set(wrong.values()) == {False}, wrong


def test_a_recipe_makes_it_too_easy(case: Drawn) -> None:
    assert case.with_knobs("full").by("strong", "weak") == {"strong": True, "weak": True}


def test_a_named_technique_separates_the_weak_one(case: Drawn) -> None:
    assert case.with_knobs("named").by("strong", "medium", "weak") == {"strong": True, "medium": True, "weak": False}


def test_symptoms_alone_leave_the_strong_one(case: Drawn) -> None:
    assert case.with_knobs("none").by("strong", "medium", "weak") == {"strong": True, "medium": False, "weak": False}


def test_an_over_prescriptive_verifier_inverts(case: Drawn) -> None:
    task = case.with_knobs("full", verifier="layout")
    assert task.by("strong", "weak") == {"strong": False, "weak": True}
    assert task.reference().passed


def test_what_is_not_stated_is_guessed(case: Drawn) -> None:
    point, usual = AMBIGUOUS[case.family.name]
    assert case.with_knobs("named", semantics="unstated").by("strong")["strong"] == (case.draw.values[point] == usual)
