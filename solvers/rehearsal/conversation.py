"""What the messages of an attempt say: the instruction, and the turns so far; and how a turn is said."""

import base64
import re
from collections.abc import Sequence
from dataclasses import dataclass

from solvers import observation, protocol
from solvers.model import Message
from solvers.rehearsal.technique import Move, Output

TASK_HEADING = re.compile(r"^## Task[ \t]*$", re.MULTILINE)
LEFT_OUT = re.compile(r"^\[\.\.\. \d+ characters left out \.\.\.\]$", re.MULTILINE)


@dataclass(frozen=True)
class Conversation:
    """instruction: "" where the messages hold none. turns: (command, output), oldest first."""

    instruction: str
    turns: tuple[tuple[str, Output], ...]


def parse(messages: Sequence[Message]) -> Conversation:
    """The instruction is what stands below `## Task` in the first user message, or all of it without that heading."""
    instruction: str | None = None
    turns: list[tuple[str, Output]] = []
    command: str | None = None
    for message in messages:
        if message.role == "assistant":
            said = protocol.parse(message.content)
            command = said.text if isinstance(said, protocol.Command) else None
        elif message.role == "user" and command is not None:
            turns.append((command, _output(message.content)))
            command = None
        elif message.role == "user" and instruction is None:
            heading = TASK_HEADING.search(message.content)
            instruction = message.content[heading.end() if heading else 0 :].strip()
    return Conversation(instruction or "", tuple(turns))


def _output(observed: str) -> Output:
    code, stdout, stderr = observation.read(observed)
    return Output(code, stdout, stderr, LEFT_OUT.search(observed) is None)


def turn(move: Move) -> str | None:
    """The answer that runs a command; None where no answer can carry it."""
    thought = re.sub(r"[`\s]+", " ", move.thought).strip()
    packed = base64.b64encode(move.command.encode("utf-8", "replace")).decode()
    said = (
        f"{thought}\n\n```bash\n{move.command}\n```",
        f"{thought}\n\n```bash\necho {packed} | base64 -d | bash\n```",
    )
    first, second = (protocol.parse(answer) for answer in said)
    if isinstance(first, protocol.Command) and first.text == move.command and not first.note:
        return said[0]
    return said[1] if isinstance(second, protocol.Command) and not second.note else None


def end(thought: str, assessment: str) -> str:
    """The answer that ends the attempt."""
    return f"{thought}\n\n{protocol.MARKER} {assessment}"
