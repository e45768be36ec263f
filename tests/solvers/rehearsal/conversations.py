"""Conversations between a program and a container that a function plays."""

from collections.abc import Callable
from dataclasses import dataclass

from sandbox.api import ExecResult
from solvers import observation, protocol
from solvers.model import Message, Program

Answer = Callable[[str], str]
"""What a command prints."""


@dataclass(frozen=True)
class Talk:
    """commands: those that the program ran, in order. last: its last answer. messages: all."""

    commands: tuple[str, ...]
    last: str
    messages: tuple[Message, ...]


def opening(instruction: str) -> list[Message]:
    return [Message("system", "You work in a terminal."), Message("user", f"Rules.\n\n## Task\n\n{instruction}\n")]


def observed(stdout: str, code: int = 0, stderr: str = "") -> str:
    return observation.render(ExecResult(code, stdout.encode(), stderr.encode(), 0.01), 16_000)


def talk(program: Program, instruction: str, answer: Answer, most: int = 60) -> Talk:
    """Let the program act until it ends; `answer` plays the container."""
    messages, commands = opening(instruction), []
    for _ in range(most):
        said = program(messages, 7)
        messages.append(Message("assistant", said))
        turn = protocol.parse(said)
        if isinstance(turn, protocol.Final):
            return Talk(tuple(commands), said, tuple(messages))
        assert isinstance(turn, protocol.Command), said
        commands.append(turn.text)
        messages.append(Message("user", observed(answer(turn.text))))
    raise AssertionError("the program does not end")
