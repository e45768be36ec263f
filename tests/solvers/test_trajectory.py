import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from solvers.trajectory import Agent, Metrics, Observation, ObservationResult, Step, SubagentRef, ToolCall, Trajectory

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXT, lambda inner: st.dictionaries(TEXT, inner), max_leaves=5
)
AGENT = Agent(name="a", version="1")


def turn(number: int, **more: object) -> Step:
    return Step.model_validate({"step_id": number, "source": "agent", "message": "m", **more})


@given(st.lists(st.tuples(TEXT, st.dictionaries(TEXT, JSON), TEXT), min_size=1, max_size=5))
def test_json_round_trip(turns: list[tuple[str, dict[str, object], str]]):
    steps = tuple(
        Step(
            step_id=number,
            source="agent",
            message=message,
            tool_calls=(ToolCall(tool_call_id="c", function_name="bash", arguments=arguments),),
            observation=Observation(results=(ObservationResult(source_call_id="c", content=content),)),
            metrics=Metrics(prompt_tokens=1, cost_usd=0.5),
        )
        for number, (message, arguments, content) in enumerate(turns, start=1)
    )
    trajectory = Trajectory(agent=AGENT, steps=steps)
    assert Trajectory.from_json(trajectory.to_json()) == trajectory


def test_absent_fields_are_left_out_and_nulls_inside_values_stay():
    call = ToolCall(tool_call_id="c", function_name="f", arguments={"x": None})
    shown = json.loads(Trajectory(agent=AGENT, steps=(turn(1, tool_calls=[call]),)).to_json())
    assert shown == {
        "schema_version": "ATIF-v1.8",
        "agent": {"name": "a", "version": "1"},
        "steps": [
            {
                "step_id": 1,
                "source": "agent",
                "message": "m",
                "tool_calls": [{"tool_call_id": "c", "function_name": "f", "arguments": {"x": None}}],
            }
        ],
    }


@pytest.mark.parametrize(
    "step",
    [
        {"step_id": 1, "source": "user", "message": "m", "metrics": {"prompt_tokens": 1}},
        {"step_id": 1, "source": "system", "message": "m", "reasoning_content": "r"},
        {"step_id": 1, "source": "agent", "message": "m", "llm_call_count": 0, "metrics": {}},
        {"step_id": 1, "source": "agent", "message": "m", "timestamp": "yesterday"},
        {"step_id": 1, "source": "agent", "message": "m", "surprise": 1},
        {"step_id": 0, "source": "agent", "message": "m"},
        {"step_id": 1, "source": "robot", "message": "m"},
        {"step_id": 1, "source": "agent", "message": "m", "observation": {"results": [{"source_call_id": "none"}]}},
    ],
)
def test_steps_against_the_format_are_refused(step: dict[str, object]):
    with pytest.raises(ValidationError):
        Step.model_validate(step)


def test_step_numbers_count_from_one():
    with pytest.raises(ValidationError, match="step 2 is numbered 3"):
        Trajectory(agent=AGENT, steps=(turn(1), turn(3)))
    with pytest.raises(ValidationError):
        Trajectory(agent=AGENT, steps=())


def test_subagents_need_names_of_their_own():
    inner = Trajectory(agent=AGENT, steps=(turn(1),))
    named = inner.model_copy(update={"trajectory_id": "t"})
    assert Trajectory(agent=AGENT, steps=(turn(1),), subagent_trajectories=(named,)).subagent_trajectories == (named,)
    for wrong in ((inner,), (named, named)):
        with pytest.raises(ValidationError, match="trajectory_id of its own"):
            Trajectory(agent=AGENT, steps=(turn(1),), subagent_trajectories=wrong)
    with pytest.raises(ValidationError, match="needs trajectory_id or trajectory_path"):
        SubagentRef(session_id="s")


def test_other_versions_are_refused():
    text = Trajectory(agent=AGENT, steps=(turn(1),)).to_json().replace("ATIF-v1.8", "ATIF-v1.2")
    with pytest.raises(ValidationError):
        Trajectory.from_json(text)
