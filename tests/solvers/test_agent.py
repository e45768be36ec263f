from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.api import ExecResult
from sandbox.errors import EngineUnavailable, SandboxError, SandboxGone
from solvers import errors, protocol
from solvers.agent import CUT_OFF, NO_TEXT, AgentTask, Attempt, StopReason, run_agent
from solvers.limits import AgentLimits
from solvers.model import Message, Reply, Request
from solvers.trajectory import Trajectory

TASK = AgentTask("some/model", (Message("system", "You act."), Message("user", "Do it.")), seed=4)
LS, DONE = "```bash\nls\n```", "All is well.\nTASK COMPLETE: the file is there"
REPLY = Reply("", prompt_tokens=100, completion_tokens=10, cost_usd=0.01, latency_sec=2.0)


class Replies:
    """An Ask that gives its replies in turn, or raises what stands in their place; the last one again and again."""

    def __init__(self, *replies: str | Reply | Exception) -> None:
        self.replies = replies
        self.requests: list[Request] = []
        self.deadlines: list[float] = []

    def __call__(self, request: Request, *, deadline_sec: float) -> Reply:
        reply = self.replies[min(len(self.requests), len(self.replies) - 1)]
        self.requests.append(request)
        self.deadlines.append(deadline_sec)
        if isinstance(reply, Exception):
            raise reply
        return replace(REPLY, text=reply) if isinstance(reply, str) else reply


UNLIKELY = AgentLimits()


def never() -> bool:
    return False


def run(
    sandbox,
    ask: Replies,
    limits: AgentLimits = UNLIKELY,
    cancelled: Callable[[], bool] = never,
) -> tuple[Attempt, list[Trajectory]]:
    saved: list[Trajectory] = []
    return run_agent(TASK, ask, sandbox, limits, saved.append, cancelled), saved


def test_runs_commands_until_it_is_done(echo_sandbox):
    ask = Replies(LS, DONE)
    attempt, saved = run(echo_sandbox, ask)
    assert (attempt.stop, attempt.steps, attempt.last_message) == (StopReason.DONE, 2, "the file is there")
    assert (attempt.tokens, attempt.time_sec) == (220, 4.5)
    assert attempt.cost_usd == pytest.approx(0.02)
    assert [command[0] for command in echo_sandbox.commands] == ["ls"]
    assert saved[-1] == attempt.trajectory
    assert [len(trajectory.steps) for trajectory in saved] == [3, 4]


def test_what_programs_make_is_marked_as_rehearsal(echo_sandbox):
    for model, marks in (("rehearsal/weak", {"rehearsal": True}), ("deepseek/deepseek-chat", None)):
        task = replace(TASK, model=model)
        attempt = run_agent(task, Replies(DONE), echo_sandbox, AgentLimits(), lambda _: None)
        assert attempt.trajectory.agent.extra == marks


def test_the_conversation_only_grows(echo_sandbox):
    ask = Replies(LS, "what?", LS, DONE)
    run(echo_sandbox, ask)
    for before, after in zip(ask.requests, ask.requests[1:], strict=False):
        assert after.messages[: len(before.messages)] == before.messages
        assert [message.role for message in after.messages[len(before.messages) :]] == ["assistant", "user"]
    assert {(request.model, request.seed) for request in ask.requests} == {("some/model", 4)}


def test_user_workdir_and_temperature_are_handed_on(echo_sandbox):
    ask = Replies(LS, DONE)
    task = replace(TASK, user="dev", workdir="/app", temperature=0.4)
    run_agent(task, ask, echo_sandbox, AgentLimits(command_sec=7), lambda _: None)
    assert echo_sandbox.commands == [("ls", 7, "dev", "/app")]
    assert ask.requests[0].temperature == 0.4


def test_trajectory_holds_calls_results_and_totals(echo_sandbox):
    attempt, _ = run(echo_sandbox, Replies(LS, "hm", DONE))
    steps = attempt.trajectory.steps
    assert [step.source for step in steps] == ["system", "user", "agent", "agent", "agent"]
    (call,), (result,) = steps[2].tool_calls, steps[2].observation.results
    assert (call.function_name, call.arguments) == ("bash", {"command": "ls"})
    assert result.source_call_id == call.tool_call_id
    assert (result.content, result.extra) == (
        "exit code: 0\n<stdout>\nran ls\n</stdout>",
        {"duration_sec": 0.5, "exit_code": 0},
    )
    assert steps[2].message == LS
    assert (steps[3].tool_calls, steps[3].observation.results[0].source_call_id) == (None, None)
    assert (steps[4].message, steps[4].observation) == (DONE, None)
    totals = attempt.trajectory.final_metrics
    assert (totals.total_prompt_tokens, totals.total_completion_tokens, totals.total_steps) == (300, 30, 5)
    assert attempt.trajectory.extra == {"stop": "done"}
    assert Trajectory.from_json(attempt.trajectory.to_json()) == attempt.trajectory


def test_a_malformed_answer_costs_a_step_and_is_corrected(echo_sandbox):
    ask = Replies("I think so.", f"{LS}\n{LS}", DONE)
    attempt, _ = run(echo_sandbox, ask)
    assert attempt.steps == 3
    assert echo_sandbox.commands == []
    assert ask.requests[1].messages[-1].content == protocol.NOTHING_FOUND
    assert ask.requests[2].messages[-1].content == protocol.SEVERAL_BLOCKS


def test_an_answer_cut_off_is_told_so(echo_sandbox):
    ask = Replies(replace(REPLY, text="```bash\ncat <<", finish_reason="length"), DONE)
    run(echo_sandbox, ask)
    assert ask.requests[1].messages[-1].content == f"{CUT_OFF}\n{protocol.UNCLOSED_BLOCK}"


def test_an_empty_answer_is_never_sent_back_empty(echo_sandbox):
    ask = Replies("", DONE)
    run(echo_sandbox, ask)
    assert ask.requests[1].messages[2] == Message("assistant", NO_TEXT)


def test_a_marker_beside_a_command_does_not_end_it(echo_sandbox):
    ask = Replies(f"{LS}\n{DONE}", DONE)
    attempt, _ = run(echo_sandbox, ask)
    assert attempt.steps == 2
    assert ask.requests[1].messages[-1].content.startswith(protocol.MARKER_IGNORED)


@pytest.mark.parametrize(
    ("limits", "stop", "steps"),
    [
        (AgentLimits(steps=3), StopReason.STEPS, 3),
        (AgentLimits(time_sec=5.0), StopReason.TIME, 2),
        (AgentLimits(tokens=300), StopReason.TOKENS, 3),
        (AgentLimits(cost_usd=0.015), StopReason.COST, 2),
    ],
)
def test_limits(echo_sandbox, limits: AgentLimits, stop: StopReason, steps: int):
    attempt, saved = run(echo_sandbox, Replies(LS), limits)
    assert (attempt.stop, attempt.steps, attempt.last_message) == (stop, steps, LS)
    assert saved[-1].extra == {"stop": stop.value}


def test_time_left_bounds_calls_and_commands(echo_sandbox):
    ask = Replies(LS)
    run(echo_sandbox, ask, AgentLimits(time_sec=7.0, command_sec=3.0))
    assert ask.deadlines == [7.0, 4.5, 2.0]
    assert [command[1] for command in echo_sandbox.commands] == [3.0, 2.5, 1.0]


def test_tokens_that_are_not_reported_are_estimated_and_cost_is_unknown(echo_sandbox):
    attempt, _ = run(echo_sandbox, Replies(Reply(LS), Reply(DONE)))
    assert attempt.cost_usd is None
    assert attempt.tokens > 10
    assert attempt.trajectory.final_metrics.total_prompt_tokens is None
    assert attempt.trajectory.final_metrics.total_cost_usd is None


def test_a_full_context_ends_it(echo_sandbox):
    attempt, _ = run(echo_sandbox, Replies(LS, errors.ContextOverflow("too long")))
    assert (attempt.stop, attempt.steps) == (StopReason.CONTEXT, 1)


def test_its_own_deadline_ends_it_as_time(echo_sandbox):
    attempt, _ = run(echo_sandbox, Replies(LS, errors.DeadlinePassed("x")), AgentLimits(time_sec=60))
    assert (attempt.stop, attempt.steps, attempt.time_sec) == (StopReason.TIME, 1, 60)


@pytest.mark.parametrize("error", [errors.ModelUnavailable("x"), errors.BudgetSpent("x"), errors.ProgramError("x")])
def test_errors_of_models_go_up_and_what_was_done_is_saved(echo_sandbox, error: errors.ModelError):
    saved: list[Trajectory] = []
    with pytest.raises(type(error)):
        run_agent(TASK, Replies(LS, error), echo_sandbox, AgentLimits(), saved.append)
    assert len(saved[-1].steps) == 3
    assert saved[-1].extra is None


@pytest.mark.parametrize("reason", ["disk", "memory", "unresponsive"])
def test_a_container_that_used_up_its_allowance_is_judged(make_sandbox, reason: str):
    def run_command(command: str) -> ExecResult:
        raise SandboxGone("gone", reason)

    attempt, saved = run(make_sandbox(run_command), Replies(LS))
    assert (attempt.stop, attempt.steps) == (StopReason.SANDBOX_ENDED, 1)
    assert saved[-1].steps[-1].observation.results[0].content == f"The container has ended: {reason}."


@pytest.mark.parametrize(
    "error", [SandboxGone("gone", "exited"), SandboxGone("gone"), EngineUnavailable("no engine at unix:///x.sock")]
)
def test_other_errors_of_sandboxes_go_up_and_keep_the_machine_to_themselves(make_sandbox, error: SandboxError):
    def run_command(command: str) -> ExecResult:
        raise error

    saved: list[Trajectory] = []
    with pytest.raises(type(error)):
        run_agent(TASK, Replies(LS), make_sandbox(run_command), AgentLimits(), saved.append)
    assert saved[-1].steps[-1].tool_calls[0].arguments == {"command": "ls"}
    assert "x.sock" not in saved[-1].to_json()


def test_cancelled_is_looked_at_before_each_step(echo_sandbox):
    wanted = iter([False, False, True])
    attempt, _ = run(echo_sandbox, Replies(LS), cancelled=lambda: next(wanted))
    assert (attempt.stop, attempt.steps) == (StopReason.CANCELLED, 2)


def test_the_safety_limit_of_wall_clock_time_is_an_error(echo_sandbox):
    times = iter(range(0, 10_000, 10))
    saved: list[Trajectory] = []
    with pytest.raises(errors.Overdue, match="100 s"):
        run_agent(TASK, Replies(LS), echo_sandbox, AgentLimits(wall_sec=100), saved.append, clock=lambda: next(times))
    assert saved[-1].extra is None


def test_an_empty_prompt_is_refused(echo_sandbox):
    with pytest.raises(ValueError, match="no message"):
        run_agent(AgentTask("m", ()), Replies(DONE), echo_sandbox, AgentLimits(), lambda _: None)


@given(
    answers=st.lists(
        st.one_of(st.text(max_size=60), st.sampled_from([LS, DONE, "```bash\n```", f"{LS}{DONE}"])), min_size=1
    )
)
def test_any_answers_end_within_the_limits(answers: list[str]):
    commands: list[str] = []

    class Box:
        def exec(self, command: str, **_: object) -> ExecResult:
            commands.append(command)
            return ExecResult(0, b"\xff", b"", 0.1)

    texts = [answer.encode("utf-8", "replace").decode() for answer in answers]
    attempt, saved = run(Box(), Replies(*texts), AgentLimits(steps=8))
    assert attempt.steps <= 8
    assert attempt.stop in {StopReason.DONE, StopReason.STEPS}
    assert len(saved[-1].steps) == 2 + attempt.steps
    assert Trajectory.from_json(saved[-1].to_json()) == saved[-1]
