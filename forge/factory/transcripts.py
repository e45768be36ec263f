"""A stored trajectory as the author gets to read it."""

from forge.domain.transcript import TranscriptStep
from solvers.trajectory import Step, Trajectory


def transcript_of(trajectory: bytes) -> list[TranscriptStep]:
    """The agent's steps of an ATIF trajectory, in their order. Raises pydantic.ValidationError."""
    steps = Trajectory.model_validate_json(trajectory).steps
    return [_turn(step) for step in steps if step.source == "agent"]


def _turn(step: Step) -> TranscriptStep:
    call = step.tool_calls[0] if step.tool_calls else None
    results = step.observation.results if step.observation else ()
    output = "\n".join(result.content or "" for result in results)
    exit_codes = [(result.extra or {}).get("exit_code") for result in results]
    command = str(call.arguments.get("command", "")) if call else None
    thought = step.message.partition("```")[0] if call else step.message
    return TranscriptStep(thought.strip(), command, output, exit_codes[0] if exit_codes else None)
