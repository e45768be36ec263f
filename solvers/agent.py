"""The agent loop: ask, take the one command out of the answer, run it, show the output, until done or a limit."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from sandbox.api import OWN_ENDS, Sandbox
from sandbox.errors import SandboxError, SandboxGone
from solvers import observation, protocol
from solvers.errors import ContextOverflow, DeadlinePassed, Overdue
from solvers.limits import AgentLimits
from solvers.model import Ask, Message, Reply, Request, is_rehearsal
from solvers.record import Record, facts_of
from solvers.trajectory import Agent, Trajectory

VERSION = "1"
"""Of the loop and its protocol: what changes how an agent fares changes it."""

NOTES = "The model speaks a text protocol: a ```bash block in its message is recorded as a call of the tool bash."
CUT_OFF = "Your answer was cut off at the limit of its length."
NO_TEXT = "(no text)"
"""What the conversation shows for an empty answer, which many endpoints refuse to be sent back."""


class StopReason(StrEnum):
    """Why an attempt ended. It is judged on what stands, but for `cancelled`."""

    DONE = "done"
    STEPS = "steps"
    TIME = "time"
    TOKENS = "tokens"
    COST = "cost"
    CONTEXT = "context"
    SANDBOX_ENDED = "sandbox_ended"
    CANCELLED = "cancelled"


@dataclass(frozen=True)
class AgentTask:
    """model: litellm's name. prompt: the first messages (system, user). seed: for the model. user, workdir: in the
    sandbox. session_id: names the trajectory."""

    model: str
    prompt: tuple[Message, ...]
    seed: int | None = None
    temperature: float | None = None
    user: str | None = None
    workdir: str | None = None
    agent_name: str = "forge"
    session_id: str | None = None


@dataclass(frozen=True)
class Attempt:
    """What an agent did. last_message is its own view of the result (the self-assessment). cost_usd is None where the
    price of a call is unknown; tokens are estimated where an endpoint reports none."""

    trajectory: Trajectory
    stop: StopReason
    steps: int
    last_message: str
    tokens: int
    cost_usd: float | None
    time_sec: float


def run_agent(
    task: AgentTask,
    ask: Ask,
    sandbox: Sandbox,
    limits: AgentLimits,
    save: Callable[[Trajectory], None],
    cancelled: Callable[[], bool] = lambda: False,
    clock: Callable[[], float] = time.time,
) -> Attempt:
    """Run the loop. `save` gets the trajectory after every step, and on the way out of an exception. clock: seconds
    since the epoch.

    Raises ModelError and SandboxError where the fault is not the agent's (see the outcome table in docs/design.md),
    ValueError for an empty prompt."""
    if not task.prompt:
        raise ValueError("the prompt holds no message")
    marks = {"rehearsal": True} if is_rehearsal(task.model) else None
    agent = Agent(name=task.agent_name, version=VERSION, model_name=task.model, extra=marks)
    record = Record(agent, clock, session_id=task.session_id, notes=NOTES)
    record.prompt(task.prompt)
    loop = _Loop(task, ask, sandbox, limits, record)
    overdue = None if limits.wall_sec is None else clock() + limits.wall_sec
    stop: StopReason | None = None
    try:
        while stop is None:
            stop = StopReason.CANCELLED if cancelled() else loop.limit_hit()
            if stop is None:
                if overdue is not None and clock() >= overdue:
                    raise Overdue(f"the attempt took more than {limits.wall_sec:.0f} s of wall-clock time")
                stop = loop.step()
                if stop is None:
                    save(record.trajectory())
    finally:
        save(record.trajectory(stop))
    return loop.attempt(stop)


class _Loop:
    def __init__(self, task: AgentTask, ask: Ask, sandbox: Sandbox, limits: AgentLimits, record: Record) -> None:
        self._task, self._ask, self._sandbox, self._limits, self._record = task, ask, sandbox, limits, record
        self._messages = task.prompt
        self._last_message = ""

    def limit_hit(self) -> StopReason | None:
        usage, limits = self._record.usage, self._limits
        if usage.steps >= limits.steps:
            return StopReason.STEPS
        if usage.time_sec >= limits.time_sec:
            return StopReason.TIME
        if limits.tokens is not None and usage.tokens >= limits.tokens:
            return StopReason.TOKENS
        if limits.cost_usd is not None and usage.cost_usd >= limits.cost_usd:
            return StopReason.COST
        return None

    def step(self) -> StopReason | None:
        """One model turn and what follows from it. Why it was the last one, or None."""
        task = self._task
        request = Request(task.model, self._messages, temperature=task.temperature, seed=task.seed)
        try:
            reply = self._ask(request, deadline_sec=self._time_left())
        except ContextOverflow:
            return StopReason.CONTEXT
        except DeadlinePassed:
            self._record.usage.time_sec = self._limits.time_sec
            return StopReason.TIME
        self._record.usage.add(reply, self._messages)
        self._last_message = reply.text
        turn = protocol.parse(reply.text)
        match turn:
            case protocol.Final():
                self._last_message = turn.assessment or reply.text
                self._record.turn(reply, None, None)
                return StopReason.DONE
            case protocol.Malformed():
                cut = f"{CUT_OFF}\n" if reply.finish_reason == "length" else ""
                self._record.turn(reply, None, cut + turn.correction)
                self._show(reply, cut + turn.correction)
                return None
            case protocol.Command():
                return self._run(reply, turn)

    def attempt(self, stop: StopReason) -> Attempt:
        usage = self._record.usage
        return Attempt(
            trajectory=self._record.trajectory(stop),
            stop=stop,
            steps=usage.steps,
            last_message=self._last_message,
            tokens=usage.tokens,
            cost_usd=usage.known_cost(),
            time_sec=usage.time_sec,
        )

    def _run(self, reply: Reply, turn: protocol.Command) -> StopReason | None:
        timeout_sec = min(self._limits.command_sec, max(self._time_left(), 1.0))
        try:
            result = self._sandbox.exec(
                turn.text, timeout_sec=timeout_sec, user=self._task.user, workdir=self._task.workdir
            )
        except SandboxError as error:
            self._record.turn(reply, turn.text, failure(error))
            if is_own_end(error):
                return StopReason.SANDBOX_ENDED
            raise
        self._record.usage.time_sec += result.duration_sec
        observed = observation.render(result, self._limits.observation_chars, turn.note)
        self._record.turn(reply, turn.text, observed, facts_of(result))
        self._show(reply, observed)
        return None

    def _show(self, reply: Reply, observed: str) -> None:
        """Only ever appends: what went before stays as it was, which is what prompt caches live on."""
        self._messages = (*self._messages, Message("assistant", reply.text or NO_TEXT), Message("user", observed))

    def _time_left(self) -> float:
        return self._limits.time_sec - self._record.usage.time_sec


def failure(error: SandboxError) -> str:
    """What a trajectory says of a sandbox that failed: the kind alone, since the rest is about our machine."""
    if isinstance(error, SandboxGone):
        return f"The container has ended: {error.reason}."
    return f"The sandbox failed: {type(error).__name__}."


def is_own_end(error: SandboxError) -> bool:
    """Whether the container ended because what ran in it used up its allowance: then what stands is judged."""
    return isinstance(error, SandboxGone) and error.reason in OWN_ENDS
