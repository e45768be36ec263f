"""What a change invalidates."""

from dataclasses import replace
from itertools import combinations

import pytest

from forge.domain.revision import RevisionPlan, Step, StoredArtifacts, TrialsPlan, plan_revision
from forge.domain.task import Parts

BEFORE = Parts(instruction="i", environment="e", verifier="v", solution="s", metadata="m")
NAMES = ("instruction", "environment", "verifier", "solution", "metadata")
ALL_CHANGES = [names for count in range(6) for names in combinations(NAMES, count)]


def plan(*names: str, suffice: bool = True) -> RevisionPlan:
    return plan_revision(BEFORE, replace(BEFORE, **dict.fromkeys(names, "new")), artifacts_suffice=suffice)


@pytest.mark.parametrize("names", ALL_CHANGES)
def test_the_plan_names_what_changed(names: tuple[str, ...]) -> None:
    assert plan(*names).changed == names


@pytest.mark.parametrize("names", ALL_CHANGES)
def test_refused_exactly_when_no_outcome_can_change(names: tuple[str, ...]) -> None:
    assert bool(plan(*names).refused) == (not {"instruction", "environment", "verifier"} & set(names))


@pytest.mark.parametrize(
    ("names", "why"), [((), "nothing"), (("metadata",), "metadata"), (("solution", "metadata"), "solution")]
)
def test_a_refusal_says_why(names: tuple[str, ...], why: str) -> None:
    assert why in plan(*names).refused


@pytest.mark.parametrize("names", ALL_CHANGES)
@pytest.mark.parametrize("suffice", [True, False])
def test_regraded_only_when_the_verifier_alone_changed_and_the_artifacts_suffice(
    names: tuple[str, ...], suffice: bool
) -> None:
    made = plan(*names, suffice=suffice)
    if not made.refused:
        judged_alone = "verifier" in names and not {"instruction", "environment"} & set(names)
        assert (made.trials is TrialsPlan.REGRADE) == (judged_alone and suffice)


@pytest.mark.parametrize("names", ALL_CHANGES)
def test_an_image_is_built_exactly_when_the_environment_changed(names: tuple[str, ...]) -> None:
    made = plan(*names)
    assert (Step.BUILD in made.steps) == ("environment" in names)


def test_validation_after_an_instruction_alone_is_one_replay() -> None:
    made = plan("instruction", "metadata")
    assert made.steps == (Step.REPLAY_ONCE,)


@pytest.mark.parametrize("names", [("verifier",), ("environment",), ("instruction", "verifier"), NAMES])
def test_validation_after_environment_or_verifier_replays_thrice(names: tuple[str, ...]) -> None:
    made = plan(*names)
    assert made.steps[-2:] == (Step.INITIAL_STATE, Step.REPLAY_THRICE)


def test_a_new_solution_is_replayed_three_times() -> None:
    assert plan("instruction", "solution").steps == (Step.REPLAY_THRICE,)


@pytest.mark.parametrize(
    ("declared", "covered"),
    [
        ((), True),
        (("/app/out",), True),
        (("/app/out/a/b",), True),
        (("/app/outer",), False),
        (("/app",), False),
        (("/",), False),
        (("/app/out", "/etc/conf"), False),
        (("/app/out/", "/data/x.db"), True),
        (("/app/bad",), True),
        (("/app/bad/inner",), False),
    ],
)
def test_stored_artifacts_cover(declared: tuple[str, ...], covered: bool) -> None:
    stored = StoredArtifacts(declared=("/app/out", "/data/x.db", "/app/bad"), refused=("/app/bad",))
    assert stored.cover(declared) == covered
