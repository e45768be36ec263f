"""What a solver did, as far as the author gets to read it, and texts cut to size."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class TranscriptStep:
    """One turn: what the model said, the command it gave (None for none), what came out.

    exit_code is None where the command did not end by itself."""

    message: str
    command: str | None = None
    output: str = ""
    exit_code: int | None = None


def transcript_text(steps: Sequence[TranscriptStep]) -> str:
    """The whole trajectory as text, one numbered block a step."""
    return "\n".join(_step_text(number, step) for number, step in enumerate(steps, start=1))


def elide_middle(text: str, limit: int) -> str:
    """At most `limit` characters (0 or more) of a text: a third from its start, the rest from its end.

    What is cut is told in its place; where there is no room to tell it, only the end stays."""
    if len(text) <= limit:
        return text
    # The count inside of the mark can only get shorter once it is known, never longer.
    room = limit - len(_mark(len(text)))
    if room < 2:
        return text[len(text) - limit :]
    head, tail = room // 3, room - room // 3
    return text[:head] + _mark(len(text) - head - tail) + text[len(text) - tail :]


def share_out(wanted: Sequence[int], budget: int) -> list[int]:
    """Split a budget fairly: who wants less than an equal share leaves the rest to the others."""
    shares = [0] * len(wanted)
    left = max(budget, 0)
    order = sorted(range(len(wanted)), key=lambda index: wanted[index])
    for position, index in enumerate(order):
        shares[index] = min(wanted[index], left // (len(order) - position))
        left -= shares[index]
    return shares


def _mark(count: int) -> str:
    return f"\n[... {count} characters left out ...]\n"


def _step_text(number: int, step: TranscriptStep) -> str:
    parts = [f"--- step {number} ---", step.message.rstrip()]
    if step.command is not None:
        parts.append(f"$ {step.command.rstrip()}")
        if step.output:
            parts.append(step.output.rstrip())
        parts.append("[did not end]" if step.exit_code is None else f"[exit {step.exit_code}]")
    return "\n".join(part for part in parts if part)
