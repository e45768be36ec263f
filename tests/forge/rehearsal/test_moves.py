"""How a diagnosis turns knobs, for every family."""

from dataclasses import replace

import pytest

from forge.domain.outcome import Diagnosis
from forge.rehearsal.drawing import Draw, draw
from forge.rehearsal.families import load_families
from forge.rehearsal.moves import revise

FAMILIES = load_families()
KNOBS = ("hints", "semantics", "verifier")
Setting = tuple[str, str, str]


def set_to(family: str, setting: Setting) -> Draw:
    drawn = draw(FAMILIES[family], 11)
    causes = {"causes": 1} if "causes" in drawn.knobs else {}
    return replace(drawn, knobs={**drawn.knobs, **causes, **dict(zip(KNOBS, setting, strict=True))})


@pytest.mark.parametrize(
    ("setting", "diagnosis", "after"),
    [
        (("full", "stated", "property"), "too_easy", ("named", "stated", "property")),
        (("named", "stated", "property"), "too_easy", ("none", "stated", "property")),
        (("none", "unstated", "layout"), "too_hard", ("none", "stated", "layout")),
        (("none", "stated", "layout"), "too_hard", ("none", "stated", "property")),
        (("none", "stated", "property"), "too_hard", ("named", "stated", "property")),
        (("named", "stated", "property"), "too_hard", None),
        (("full", "unstated", "layout"), "inverted", ("full", "unstated", "property")),
        (("full", "unstated", "property"), "inverted", ("full", "stated", "property")),
        (("full", "stated", "property"), "inverted", ("named", "stated", "property")),
        (("named", "stated", "layout"), "over_strict", ("named", "stated", "property")),
        (("full", "stated", "property"), "surprising", None),
    ],
)
@pytest.mark.parametrize("name", sorted(FAMILIES))
def test_a_diagnosis_turns_the_knob_that_fits(
    name: str, setting: Setting, diagnosis: str, after: Setting | None
) -> None:
    turned = revise(FAMILIES[name], set_to(name, setting), diagnosis)
    assert (None if turned is None else tuple(turned[0].knobs[knob] for knob in KNOBS)) == after


@pytest.mark.parametrize("name", sorted(name for name, family in FAMILIES.items() if "causes" in family.spec.knobs))
def test_a_second_cause_comes_last_and_can_be_taken_back(name: str) -> None:
    drawn = set_to(name, ("none", "stated", "property"))
    harder = revise(FAMILIES[name], drawn, "too_easy")
    assert harder is not None
    assert harder[0].knobs == {**drawn.knobs, "causes": 2}
    named = set_to(name, ("named", "stated", "property"))
    easier = revise(FAMILIES[name], replace(named, knobs={**named.knobs, "causes": 2}), "too_hard")
    assert easier is not None
    assert easier[0].knobs == named.knobs


@pytest.mark.parametrize("diagnosis", list(Diagnosis))
@pytest.mark.parametrize("name", sorted(FAMILIES))
def test_revising_comes_to_an_end_and_never_turns_back(name: str, diagnosis: Diagnosis) -> None:
    drawn = set_to(name, ("full", "unstated", "layout"))
    for _ in range(12):
        turned = revise(FAMILIES[name], drawn, diagnosis)
        if turned is None:
            return
        assert turned[0].knobs not in (drawn.knobs, *drawn.history)
        drawn = turned[0]
    raise AssertionError("no end")
