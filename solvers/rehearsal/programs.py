"""The three solvers. They differ in how far they look and in what they know, not in what they know of a task."""

from collections.abc import Mapping, Sequence

from solvers.model import Message, Program
from solvers.rehearsal import conversation, told, working
from solvers.rehearsal.looking import list_named, read_named, survey
from solvers.rehearsal.techniques import TECHNIQUES
from solvers.rehearsal.working import Part

RECIPE = working.following(
    lambda view: told.blocks(view.instruction), "The task gives commands; I run the next one as it stands."
)
NAMED_COMMANDS = working.following(
    lambda view: told.spans(view.instruction), "The task names this command, so I run it as it stands."
)


def weak(messages: Sequence[Message], seed: int | None) -> str:
    """Runs what it is told, to the letter and in order; told nothing, it looks at the place and runs what is named."""
    conversed = conversation.parse(messages)
    recipe = told.blocks(conversed.instruction)
    parts = [RECIPE] if recipe else [working.looking(list_named), NAMED_COMMANDS]
    return _answer(conversed, parts, "I did what the task says.")


def medium(messages: Sequence[Message], seed: int | None) -> str:
    """Reads what it is pointed to, and knows a technique when the instruction names it; else does what it is told."""
    conversed = conversation.parse(messages)
    text = " ".join(conversed.instruction.lower().split())
    named = [technique for technique in TECHNIQUES if any(name in text for name in technique.names)]
    parts = [working.looking(list_named), working.looking(read_named), *map(working.applying, named)]
    parts += [working.unless_applied(RECIPE), working.unless_applied(NAMED_COMMANDS), working.check]
    return _answer(conversed, parts, "The steps that the task names are done, and its commands ran.")


def strong(messages: Sequence[Message], seed: int | None) -> str:
    """Looks around, applies what it finds evidence for, checks the result by the project's own commands."""
    conversed = conversation.parse(messages)
    parts = [working.looking(survey), *map(working.applying, TECHNIQUES)]
    parts += [working.unless_applied(RECIPE), working.unless_applied(NAMED_COMMANDS), working.check, working.inspect]
    return _answer(conversed, parts, "The cause is repaired, and the project's own commands ran on the result.")


PROGRAMS: Mapping[str, Program] = {
    "rehearsal/strong": strong,
    "rehearsal/medium": medium,
    "rehearsal/weak": weak,
}


def _answer(conversed: conversation.Conversation, parts: Sequence[Part], assessment: str) -> str:
    step = working.next_step(conversed, parts)
    said = conversation.turn(step.move) if step is not None else None
    return said if said is not None else conversation.end("Nothing is left to do.", assessment)
