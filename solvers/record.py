"""The trajectory of an attempt while it grows, and the totals of what it used."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime

from sandbox.api import ExecResult
from solvers.model import Message, Reply
from solvers.tokens import estimated_tokens
from solvers.trajectory import (
    Agent,
    Extra,
    FinalMetrics,
    Metrics,
    Observation,
    ObservationResult,
    Step,
    ToolCall,
    Trajectory,
)


@dataclass
class Usage:
    """Totals so far. tokens are estimated where an endpoint reports none; cost_usd is of the calls whose price is
    known."""

    prompt_tokens: int | None = 0
    completion_tokens: int | None = 0
    cached_tokens: int | None = 0
    tokens: int = 0
    cost_usd: float = 0.0
    cost_known: bool = True
    time_sec: float = 0.0
    steps: int = 0

    def add(self, reply: Reply, prompt: tuple[Message, ...]) -> None:
        self.steps += 1
        self.time_sec += reply.latency_sec
        self.prompt_tokens = _sum(self.prompt_tokens, reply.prompt_tokens)
        self.completion_tokens = _sum(self.completion_tokens, reply.completion_tokens)
        self.cached_tokens = _sum(self.cached_tokens, reply.cached_tokens)
        asked = reply.prompt_tokens
        answered = reply.completion_tokens
        self.tokens += sum(estimated_tokens(message.content) for message in prompt) if asked is None else asked
        self.tokens += estimated_tokens(reply.text) if answered is None else answered
        self.cost_usd += reply.cost_usd or 0.0
        self.cost_known = self.cost_known and reply.cost_usd is not None

    def known_cost(self) -> float | None:
        """US dollars, None where the price of any call is unknown."""
        return self.cost_usd if self.cost_known else None

    def final_metrics(self, steps: int) -> FinalMetrics:
        return FinalMetrics(
            total_prompt_tokens=self.prompt_tokens,
            total_completion_tokens=self.completion_tokens,
            total_cached_tokens=self.cached_tokens,
            total_cost_usd=self.known_cost(),
            total_steps=steps,
            extra={"model_turns": self.steps, "time_sec": round(self.time_sec, 3)},
        )


@dataclass
class Record:
    """Collects the steps. clock: seconds since the epoch."""

    agent: Agent
    clock: Callable[[], float]
    session_id: str | None = None
    notes: str | None = None
    usage: Usage = field(default_factory=Usage)
    steps: list[Step] = field(default_factory=list)

    def prompt(self, messages: tuple[Message, ...]) -> None:
        for message in messages:
            source: Extra = {"source": "agent" if message.role == "assistant" else message.role}
            self._add(Step(step_id=self._next(), timestamp=self._now(), message=message.content, **source))

    def turn(self, reply: Reply, command: str | None, observed: str | None, facts: Extra | None = None) -> None:
        """One model turn. command: what it ran, None where it ran nothing; observed: what went back to it."""
        number = self._next()
        call_id = None if command is None else f"call-{number}"
        calls = None if command is None else (bash_call(call_id or "", command),)
        result = ObservationResult(source_call_id=call_id, content=observed, extra=facts)
        self._add(
            Step(
                step_id=number,
                timestamp=self._now(),
                source="agent",
                message=reply.text,
                reasoning_content=reply.reasoning,
                tool_calls=calls,
                observation=None if observed is None else Observation(results=(result,)),
                metrics=_metrics(reply),
                llm_call_count=1,
                extra={"finish_reason": reply.finish_reason} if reply.finish_reason not in {None, "stop"} else None,
            )
        )

    def act(
        self, message: str, command: str | None = None, observed: str | None = None, facts: Extra | None = None
    ) -> None:
        """One step of an agent that asks no model."""
        number = self._next()
        calls = None if command is None else (bash_call(f"call-{number}", command),)
        result = ObservationResult(source_call_id=f"call-{number}", content=observed, extra=facts)
        self._add(
            Step(
                step_id=number,
                timestamp=self._now(),
                source="agent",
                message=message,
                tool_calls=calls,
                observation=None if command is None else Observation(results=(result,)),
                llm_call_count=0,
            )
        )

    def trajectory(self, stop: str | None = None) -> Trajectory:
        """stop: why it ended, None while it runs."""
        return Trajectory(
            session_id=self.session_id,
            agent=self.agent,
            steps=tuple(self.steps),
            notes=self.notes,
            final_metrics=self.usage.final_metrics(len(self.steps)),
            extra=None if stop is None else {"stop": stop},
        )

    def _add(self, step: Step) -> None:
        self.steps.append(step)

    def _next(self) -> int:
        return len(self.steps) + 1

    def _now(self) -> str:
        return datetime.fromtimestamp(self.clock(), UTC).isoformat(timespec="milliseconds")


def bash_call(call_id: str, command: str) -> ToolCall:
    return ToolCall(tool_call_id=call_id, function_name="bash", arguments={"command": command})


def facts_of(result: ExecResult) -> Extra:
    """What is recorded of a command beside what its model saw."""
    facts: Extra = {"duration_sec": round(result.duration_sec, 3)}
    if result.exit_code is not None:
        facts["exit_code"] = result.exit_code
    flags = ("timed_out", "output_limit", "oom_killed", "stdout_truncated", "stderr_truncated")
    return facts | {flag: True for flag in flags if getattr(result, flag)}


def _metrics(reply: Reply) -> Metrics:
    return Metrics(
        prompt_tokens=reply.prompt_tokens,
        completion_tokens=reply.completion_tokens,
        cached_tokens=reply.cached_tokens,
        cost_usd=reply.cost_usd,
        extra={"latency_sec": round(reply.latency_sec, 3)},
    )


def _sum(total: int | None, part: int | None) -> int | None:
    return None if total is None or part is None else total + part
