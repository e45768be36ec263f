from collections.abc import Callable
from dataclasses import replace

import pytest

from sandbox.api import ExecResult
from sandbox.errors import EngineUnavailable, SandboxGone
from sandbox.tree import Tree
from solvers.agent import StopReason
from solvers.limits import AgentLimits
from solvers.model import Message, Reply, Request
from solvers.policies import Hooks, Policy, Solver, Work, attempt
from solvers.trajectory import Trajectory

SCRIPT = Tree({"solve.sh": "touch /app/done\n", "lib/helper.py": "x = 1\n"})
WORK = Work(prompt=(Message("user", "Do it."),), script=SCRIPT, env={"MODE": "full"}, user="dev", workdir="/app")


def ok(command: str) -> ExecResult:
    return ExecResult(0, b"done\n", b"", 3.0)


def complete(request: Request, *, deadline_sec: float) -> Reply:
    return Reply("TASK COMPLETE: fine", prompt_tokens=1, completion_tokens=1, cost_usd=0.0, latency_sec=1.0)


@pytest.mark.parametrize("policy", list(Policy))
def test_every_policy_gives_a_valid_trajectory_and_saves_it(make_sandbox, policy: Policy):
    saved: list[Trajectory] = []
    solver = Solver("one", "some/model", policy)
    result = attempt(solver, make_sandbox(ok), WORK, ask=complete, hooks=Hooks(save=saved.append))
    assert result.stop is StopReason.DONE
    assert saved[-1] == result.trajectory == Trajectory.from_json(result.trajectory.to_json())
    assert result.trajectory.agent.name == "one"
    assert result.cost_usd == 0.0


def test_plain_asks_the_model_with_the_prompt(make_sandbox):
    asked: list[Request] = []

    def ask(request: Request, *, deadline_sec: float) -> Reply:
        asked.append(request)
        return complete(request, deadline_sec=deadline_sec)

    result = attempt(Solver("one", "some/model", temperature=0.7), make_sandbox(ok), replace(WORK, seed=9), ask=ask)
    assert asked == [Request("some/model", WORK.prompt, temperature=0.7, seed=9)]
    assert (result.steps, result.last_message) == (1, "fine")


def test_plain_without_a_model_is_refused(make_sandbox):
    with pytest.raises(ValueError, match="needs a model"):
        attempt(Solver("one", "some/model"), make_sandbox(ok), WORK)
    with pytest.raises(ValueError, match="needs a model"):
        attempt(Solver("one"), make_sandbox(ok), WORK, ask=complete)


def test_oracle_puts_the_whole_tree_and_runs_the_script(make_sandbox):
    sandbox = make_sandbox(ok)
    result = attempt(Solver("oracle", policy=Policy.ORACLE, limits=AgentLimits(time_sec=77)), sandbox, WORK)
    assert sandbox.trees == {"/solution": SCRIPT}
    assert sandbox.commands == [("bash /solution/solve.sh", 77, "dev", "/app")]
    assert sandbox.envs == [{"MODE": "full"}]
    assert (result.steps, result.tokens, result.time_sec) == (0, 0, 3.0)
    step = result.trajectory.steps[-1]
    assert (step.llm_call_count, step.tool_calls[0].arguments) == (0, {"command": "bash /solution/solve.sh"})
    assert step.observation.results[0].content == "exit code: 0\n<stdout>\ndone\n</stdout>"


def test_oracle_that_fails_is_done_and_one_that_hangs_is_out_of_time(make_sandbox):
    solver = Solver("oracle", policy=Policy.ORACLE)
    failing = make_sandbox(lambda _: ExecResult(1, b"", b"no", 1.0))
    assert attempt(solver, failing, WORK).stop is StopReason.DONE
    hanging = make_sandbox(lambda _: ExecResult(None, b"", b"", 1800.0, timed_out=True))
    assert attempt(solver, hanging, WORK).stop is StopReason.TIME


def test_oracle_needs_its_script(make_sandbox):
    with pytest.raises(ValueError, match=r"solve\.sh"):
        attempt(Solver("oracle", policy=Policy.ORACLE), make_sandbox(ok), replace(WORK, script=Tree()))


def raising(error: Exception) -> Callable[[str], ExecResult]:
    def run(command: str) -> ExecResult:
        raise error

    return run


def test_oracle_in_a_container_that_ends(make_sandbox):
    solver, saved = Solver("oracle", policy=Policy.ORACLE), list[Trajectory]()
    own = attempt(solver, make_sandbox(raising(SandboxGone("x", "disk"))), WORK)
    assert own.stop is StopReason.SANDBOX_ENDED
    with pytest.raises(EngineUnavailable):
        attempt(solver, make_sandbox(raising(EngineUnavailable("x"))), WORK, hooks=Hooks(save=saved.append))
    assert saved[-1].steps[-1].observation.results[0].content == "The sandbox failed: EngineUnavailable."


def test_oracle_that_is_not_wanted_any_more_runs_nothing(make_sandbox):
    sandbox = make_sandbox(ok)
    solver = Solver("oracle", policy=Policy.ORACLE)
    assert attempt(solver, sandbox, WORK, hooks=Hooks(cancelled=lambda: True)).stop is StopReason.CANCELLED
    assert (sandbox.commands, sandbox.trees) == ([], {})


def test_nop_touches_nothing_even_without_a_prompt(make_sandbox):
    sandbox = make_sandbox(ok)
    result = attempt(Solver("nop", policy=Policy.NOP), sandbox, Work())
    assert (sandbox.commands, sandbox.trees) == ([], {})
    assert (result.stop, result.steps, result.tokens) == (StopReason.DONE, 0, 0)


def test_identity_follows_everything_that_makes_a_solver():
    solver = Solver("one", "some/model")
    others = [
        replace(solver, name="two"),
        replace(solver, model="some/other"),
        replace(solver, policy=Policy.NOP),
        replace(solver, limits=AgentLimits(steps=5)),
        replace(solver, temperature=0.1),
    ]
    assert len({solver.digest(), *(other.digest() for other in others)}) == 6
    assert solver.digest() == Solver("one", "some/model").digest()
    assert len(solver.digest()) == 64


def test_unknown_policies_are_refused_by_name():
    assert Policy("nop") is Policy.NOP
    with pytest.raises(ValueError, match="telepathic"):
        Policy("telepathic")
