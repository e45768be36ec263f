"""Trajectories in ATIF v1.8 (docs/formats.md). No unknown keys; absent ones are left out of the JSON."""

from datetime import datetime
from typing import Any, Literal, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    field_validator,
    model_serializer,
    model_validator,
)

Extra = dict[str, Any]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    @model_serializer(mode="wrap")
    def _without_absent(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Only fields are left out: a null inside `arguments` or `extra` is content."""
        return {key: value for key, value in handler(self).items() if value is not None}


class ToolCall(_Part):
    tool_call_id: str
    function_name: str
    arguments: dict[str, Any]
    extra: Extra | None = None


class SubagentRef(_Part):
    trajectory_id: str | None = None
    session_id: str | None = None
    trajectory_path: str | None = None
    extra: Extra | None = None

    @model_validator(mode="after")
    def _resolvable(self) -> Self:
        if self.trajectory_id is None and self.trajectory_path is None:
            raise ValueError("a reference to a trajectory needs trajectory_id or trajectory_path")
        return self


class ObservationResult(_Part):
    source_call_id: str | None = None
    content: str | None = None
    subagent_trajectory_ref: tuple[SubagentRef, ...] | None = None
    extra: Extra | None = None


class Observation(_Part):
    results: tuple[ObservationResult, ...]


class Metrics(_Part):
    """prompt_tokens include the cached ones."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cached_tokens: int | None = None
    cost_usd: float | None = None
    prompt_token_ids: tuple[int, ...] | None = None
    completion_token_ids: tuple[int, ...] | None = None
    logprobs: tuple[float, ...] | None = None
    extra: Extra | None = None


class Step(_Part):
    step_id: int = Field(ge=1)
    timestamp: str | None = None
    source: Literal["system", "user", "agent"]
    model_name: str | None = None
    reasoning_effort: str | float | None = None
    message: str
    reasoning_content: str | None = None
    tool_calls: tuple[ToolCall, ...] | None = None
    observation: Observation | None = None
    metrics: Metrics | None = None
    is_copied_context: bool | None = None
    llm_call_count: int | None = Field(default=None, ge=0)
    extra: Extra | None = None

    @field_validator("timestamp")
    @classmethod
    def _iso(cls, value: str | None) -> str | None:
        if value is not None:
            datetime.fromisoformat(value)
        return value

    @model_validator(mode="after")
    def _fields_fit_source(self) -> Self:
        of_agents = ("model_name", "reasoning_effort", "reasoning_content", "tool_calls", "metrics")
        of_calls = ("metrics", "reasoning_content")
        if self.source != "agent":
            self._refuse(of_agents, f"for a step of {self.source}")
        elif self.llm_call_count == 0:
            self._refuse(of_calls, "where no model was called")
        return self

    @model_validator(mode="after")
    def _results_have_calls(self) -> Self:
        calls = {call.tool_call_id for call in self.tool_calls or ()}
        for result in self.observation.results if self.observation else ():
            if result.source_call_id is not None and result.source_call_id not in calls:
                raise ValueError(f"step {self.step_id} observes {result.source_call_id}, which it did not call")
        return self

    def _refuse(self, fields: tuple[str, ...], where: str) -> None:
        for name in fields:
            if getattr(self, name) is not None:
                raise ValueError(f"{name} is not allowed {where}")


class Agent(_Part):
    name: str
    version: str
    model_name: str | None = None
    tool_definitions: tuple[dict[str, Any], ...] | None = None
    extra: Extra | None = None


class FinalMetrics(_Part):
    """A total is absent where a part of it is unknown."""

    total_prompt_tokens: int | None = None
    total_completion_tokens: int | None = None
    total_cached_tokens: int | None = None
    total_cost_usd: float | None = None
    total_steps: int | None = Field(default=None, ge=0)
    extra: Extra | None = None


class Trajectory(_Part):
    schema_version: Literal["ATIF-v1.8"] = "ATIF-v1.8"
    session_id: str | None = None
    trajectory_id: str | None = None
    agent: Agent
    steps: tuple[Step, ...] = Field(min_length=1)
    notes: str | None = None
    final_metrics: FinalMetrics | None = None
    continued_trajectory_ref: str | None = None
    extra: Extra | None = None
    subagent_trajectories: tuple["Trajectory", ...] | None = None

    @model_validator(mode="after")
    def _steps_count_from_one(self) -> Self:
        for expected, step in enumerate(self.steps, start=1):
            if step.step_id != expected:
                raise ValueError(f"step {expected} is numbered {step.step_id}")
        return self

    @model_validator(mode="after")
    def _subagents_are_named(self) -> Self:
        names = [trajectory.trajectory_id for trajectory in self.subagent_trajectories or ()]
        if None in names or len(set(names)) != len(names):
            raise ValueError("each of subagent_trajectories needs a trajectory_id of its own")
        return self

    def to_json(self) -> str:
        """One line of JSON, keys in the order of the format."""
        return self.model_dump_json()

    @classmethod
    def from_json(cls, text: str | bytes) -> "Trajectory":
        """Raises pydantic.ValidationError."""
        return cls.model_validate_json(text)
