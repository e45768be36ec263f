"""Solvers, and how each of them goes about a task. The baselines are solvers like any other.

plain      the agent loop, with the prompt that is handed in
oracle     runs the reference solution, which is handed in as a value
nop        does nothing
"""

import hashlib
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum

from sandbox.api import Sandbox
from sandbox.errors import SandboxError
from sandbox.tree import Tree
from solvers import observation
from solvers.agent import VERSION, AgentTask, Attempt, StopReason, failure, is_own_end, run_agent
from solvers.limits import AgentLimits
from solvers.model import Ask, Message
from solvers.record import Record, facts_of
from solvers.trajectory import Agent, Trajectory

SCRIPT_FOLDER = "/solution"
SCRIPT = "solve.sh"


class Policy(StrEnum):
    """A name that is none of these is refused where configuration is read."""

    PLAIN = "plain"
    ORACLE = "oracle"
    NOP = "nop"


@dataclass(frozen=True)
class Solver:
    """Who attempts a task. model: litellm's name; None for policies that ask none. prompt_digest: of the templates that
    its prompt is made from, "" where it gets none."""

    name: str
    model: str | None = None
    policy: Policy = Policy.PLAIN
    limits: AgentLimits = field(default_factory=AgentLimits)
    temperature: float | None = None
    prompt_digest: str = ""

    def digest(self) -> str:
        """sha256 of all that makes this solver what it is, the version of the agent loop and its prompts included."""
        facts = {**asdict(self), "policy": self.policy.value, "version": VERSION}
        return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()


@dataclass(frozen=True)
class Work:
    """What a solver is given. prompt: for policies that ask a model. script: the tree of the reference solution, with
    solve.sh, for the oracle; env: its variables. user, workdir: in the sandbox. seed: for the model."""

    prompt: tuple[Message, ...] = ()
    script: Tree = field(default_factory=Tree)
    env: Mapping[str, str] = field(default_factory=dict)
    user: str | None = None
    workdir: str | None = None
    seed: int | None = None
    session_id: str | None = None


@dataclass(frozen=True)
class Hooks:
    """save gets the trajectory after every step; cancelled says that the result is not wanted any more; clock: seconds
    since the epoch."""

    save: Callable[[Trajectory], None] = lambda _: None
    cancelled: Callable[[], bool] = lambda: False
    clock: Callable[[], float] = time.time


def attempt(solver: Solver, sandbox: Sandbox, work: Work, *, ask: Ask | None = None, hooks: Hooks = Hooks()) -> Attempt:
    """One attempt, by whatever policy. ask is needed by policies that ask a model.

    Raises ValueError where a policy lacks what it needs; ModelError and SandboxError where the fault is not the
    solver's."""
    match solver.policy:
        case Policy.PLAIN:
            return _plain(solver, sandbox, work, ask, hooks)
        case Policy.ORACLE:
            return _oracle(solver, sandbox, work, hooks)
        case Policy.NOP:
            return _nop(solver, work, hooks)


def _plain(solver: Solver, sandbox: Sandbox, work: Work, ask: Ask | None, hooks: Hooks) -> Attempt:
    if ask is None or solver.model is None:
        raise ValueError(f"solver {solver.name}: the policy {solver.policy.value} needs a model")
    task = AgentTask(
        model=solver.model,
        prompt=work.prompt,
        seed=work.seed,
        temperature=solver.temperature,
        user=work.user,
        workdir=work.workdir,
        agent_name=solver.name,
        session_id=work.session_id,
    )
    return run_agent(task, ask, sandbox, solver.limits, hooks.save, hooks.cancelled, hooks.clock)


def _oracle(solver: Solver, sandbox: Sandbox, work: Work, hooks: Hooks) -> Attempt:
    if SCRIPT not in work.script:
        raise ValueError(f"solver {solver.name}: the policy oracle needs a script {SCRIPT}")
    record = _record(solver, work, hooks)
    command = f"bash {SCRIPT_FOLDER}/{SCRIPT}"
    said = "Runs the reference solution."
    if hooks.cancelled():
        return _ended(record, StopReason.CANCELLED, said, hooks)
    try:
        sandbox.put(work.script, SCRIPT_FOLDER)
        result = sandbox.exec(
            command, timeout_sec=solver.limits.time_sec, user=work.user, env=work.env, workdir=work.workdir
        )
    except SandboxError as error:
        record.act(said, command, failure(error))
        if is_own_end(error):
            return _ended(record, StopReason.SANDBOX_ENDED, said, hooks)
        hooks.save(record.trajectory())
        raise
    record.usage.time_sec += result.duration_sec
    observed = observation.render(result, solver.limits.observation_chars)
    record.act(said, command, observed, facts_of(result))
    return _ended(record, StopReason.TIME if result.timed_out else StopReason.DONE, observed, hooks)


def _nop(solver: Solver, work: Work, hooks: Hooks) -> Attempt:
    record = _record(solver, work, hooks)
    said = "Does nothing."
    record.act(said)
    return _ended(record, StopReason.DONE, said, hooks)


def _record(solver: Solver, work: Work, hooks: Hooks) -> Record:
    record = Record(Agent(name=solver.name, version=VERSION), hooks.clock, session_id=work.session_id)
    record.prompt(work.prompt)
    return record


def _ended(record: Record, stop: StopReason, last_message: str, hooks: Hooks) -> Attempt:
    """An attempt of a baseline: no model turn, no token, no cost."""
    if not record.steps:
        record.act(last_message)
    trajectory = record.trajectory(stop)
    hooks.save(trajectory)
    return Attempt(trajectory, stop, 0, last_message, 0, 0.0, record.usage.time_sec)
