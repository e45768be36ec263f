"""What is asked of a model and what it answers; the door to all of them is solvers/door.py."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Protocol

PROVIDER = "rehearsal"
"""The provider's name of all programs that stand in for models: a program is called PROVIDER/NAME."""


def is_rehearsal(model: str) -> bool:
    """Whether a name is that of a program. What programs make is marked as rehearsal, everywhere it goes."""
    return model.startswith(f"{PROVIDER}/")


@dataclass(frozen=True)
class Message:
    """role is "system", "user" or "assistant"."""

    role: str
    content: str


@dataclass(frozen=True)
class Request:
    """One chat request. `model` is a name as litellm knows it, "rehearsal/..." included."""

    model: str
    messages: tuple[Message, ...]
    temperature: float | None = None
    max_tokens: int | None = None
    seed: int | None = None

    def digest(self) -> str:
        """sha256 of the request as canonical JSON: what a recorded call is found by."""
        return hashlib.sha256(json.dumps(asdict(self), sort_keys=True, ensure_ascii=False).encode()).hexdigest()


@dataclass(frozen=True)
class Reply:
    """A model's answer. Tokens and cost (US dollars) are None where the endpoint or the price table does not know.

    latency_sec is the provider's own time: queueing and back-off are not in it. replayed: it came from the record."""

    text: str
    reasoning: str | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cached_tokens: int | None = None
    cost_usd: float | None = None
    latency_sec: float = 0.0
    finish_reason: str | None = None
    replayed: bool = False


class Ask(Protocol):
    """How an agent asks its model: bound to a unit of work by whoever made it.

    deadline_sec is the most that the provider may take. Raises the errors of solvers/errors.py."""

    def __call__(self, request: Request, *, deadline_sec: float) -> Reply: ...


class CallLog(Protocol):
    """Where calls are recorded and found again. `unit` names the work that pays; `sample` counts equal requests in
    it."""

    def find(self, unit: str, digest: str, sample: int) -> Reply | None: ...

    def record(self, unit: str, digest: str, sample: int, request: Request, reply: Reply) -> None: ...


class Program(Protocol):
    """A pure function that stands in for a model: (messages, seed) -> the answer's text."""

    def __call__(self, messages: Sequence[Message], seed: int | None) -> str: ...
