"""How a revision turns the knobs of a draw: the moves that fit a diagnosis, one at a time, none twice."""

from collections.abc import Iterator

from forge.domain.outcome import Diagnosis
from forge.rehearsal.drawing import Draw
from forge.rehearsal.families import Family, Scalar
from forge.rehearsal.rendering import render

HINTS = ("full", "named", "none")
Move = tuple[str, Scalar, str]


def revise(family: Family, drawn: Draw, diagnosis: str) -> tuple[Draw, str] | None:
    """(the next setting, what was done and why), None when no move is left: each would change nothing, or leads back to
    a setting that was tried."""
    current = render(family, drawn)
    for knob, value, reason in _moves(drawn, diagnosis):
        allowed = family.spec.knobs[knob].values if knob in family.spec.knobs else ()
        if value not in allowed or drawn.knobs.get(knob) == value:
            continue
        turned = drawn.turned(**{knob: value})
        if turned.knobs in drawn.history:
            continue
        made = render(family, turned)
        if (made.instruction, made.environment, made.tests) != (
            current.instruction,
            current.environment,
            current.tests,
        ):
            return turned, reason
    return None


def _moves(drawn: Draw, diagnosis: str) -> Iterator[Move]:
    """The moves for a diagnosis, best first."""
    general: Move = ("verifier", "property", "the tests now check the property, not one layout of it")
    stated: Move = ("semantics", "stated", "the instruction now settles the point that could be read two ways")
    if diagnosis == Diagnosis.TOO_EASY:
        yield from _hint(drawn, 1, "the instruction says less about how to do it")
        yield "causes", 2, "a second cause hides behind the first"
    elif diagnosis == Diagnosis.TOO_HARD:
        yield stated
        yield general
        if drawn.knobs.get("hints") == "none":
            yield "hints", "named", "the instruction names the technique"
        yield "causes", 1, "one cause is enough"
    elif diagnosis in (Diagnosis.INVERTED, Diagnosis.OVER_STRICT):
        yield general
        yield stated
        yield from _hint(drawn, 1, "the instruction no longer hands out a way that only one solver follows")


def _hint(drawn: Draw, step: int, reason: str) -> Iterator[Move]:
    present = drawn.knobs.get("hints")
    position = HINTS.index(str(present)) + step if present in HINTS else len(HINTS)
    if position < len(HINTS):
        yield "hints", HINTS[position], reason
