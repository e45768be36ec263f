"""Programs for tests: answers by a list, or by any function."""

import threading
from collections.abc import Callable, Sequence

from solvers.model import Message


class Scripted:
    """A Program that gives its answers in turn: answer n to a conversation that holds n answers already. So it is a
    pure function of the messages, whatever the threads; `seen` keeps every conversation that it was asked.

    After the last answer it says it again."""

    def __init__(self, answers: Sequence[str]) -> None:
        self.answers = tuple(answers)
        self.seen: list[tuple[Message, ...]] = []
        self._lock = threading.Lock()

    def __call__(self, messages: Sequence[Message], seed: int | None) -> str:
        with self._lock:
            self.seen.append(tuple(messages))
        given = sum(message.role == "assistant" for message in messages)
        return self.answers[min(given, len(self.answers) - 1)]


def echoing(reply: Callable[[str], str]) -> Callable[[Sequence[Message], int | None], str]:
    """A Program that answers from the last message alone."""

    def program(messages: Sequence[Message], seed: int | None) -> str:
        return reply(messages[-1].content)

    return program
