"""Families in real containers: what scripts and solvers achieve at the settings of the knobs that decide."""

from collections.abc import Iterator

import pytest

from forge.rehearsal.rendering import variants
from sandbox.api import Owner
from sandbox.engine import DockerEngine, EngineConfig
from tests.solvers.rehearsal.family_trials import Drawn, drawn, passed_checks

pytestmark = pytest.mark.docker
SEEDS = {"double_counting": 6, "git_recovery": 4, "dependency_pin": 2, "release_checksums": 5}
USUAL = {
    "double_counting": ("unpaid", "dropped"),
    "git_recovery": ("restored", "linear"),
    "dependency_pin": ("policy", "newest"),
    "release_checksums": ("extra", "moved"),
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


def test_scripts_are_judged_rightly(case: Drawn) -> None:
    task = case.with_knobs("none")
    assert passed_checks(task.idle()) == set()
    assert task.reference().passed
    assert task.variants("alternatives") == dict.fromkeys(variants(task.family, task.draw, "alternatives"), True)
    assert task.variants("wrong") == dict.fromkeys(variants(task.family, task.draw, "wrong"), False)


def test_hints_decide_who_passes(case: Drawn) -> None:
    assert case.with_knobs("full").by("weak") == {"weak": True}
    assert case.with_knobs("named").by("strong", "medium", "weak") == {"strong": True, "medium": True, "weak": False}


def test_a_layout_that_was_never_stated_inverts(case: Drawn) -> None:
    assert case.with_knobs("full", verifier="layout").by("strong", "weak") == {"strong": False, "weak": True}


def test_what_is_not_stated_is_guessed(case: Drawn) -> None:
    point, usual = USUAL[case.family.name]
    assert case.with_knobs("none", semantics="unstated").by("strong")["strong"] == (case.draw.values[point] == usual)
