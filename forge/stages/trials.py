"""One trial: one attempt of one solver on one task, in a sandbox of its own, judged by the verifier.

Errors that are not the solver's propagate; who calls this decides whether to try again (forge/factory/failures.py)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import BinaryIO

from forge.domain.outcome import Verdict
from forge.domain.task import Task
from forge.prompts import render
from forge.stages.authoring import NETWORK_SENTENCES, Save, told
from forge.stages.machines import environment_image, solver_machine, wait_healthy
from forge.stages.verification import judge
from sandbox.api import Collected, Engine, Machine, Owner
from solvers.agent import Attempt, StopReason
from solvers.model import Ask, Message
from solvers.policies import Hooks, Policy, Solver, Work, attempt

SYSTEM_PROMPT, TASK_PROMPT = "solver_system", "solver_task"
SOLVER_PROMPTS = (SYSTEM_PROMPT, TASK_PROMPT)
"""What solvers that ask a model are told with."""


class TrialBroken(Exception):
    """A trial of a validated task that says nothing of its solver: the machine does not become healthy, or the verifier
    gives no verdict although the solution is right."""


@dataclass(frozen=True)
class TrialDesk:
    """What one trial is done with. seed: for the solver's model; session: names the trajectory."""

    engine: Engine
    owner: Owner
    ask: Ask
    seed: int
    session: str
    save: Save
    cancelled: Callable[[], bool]


@dataclass(frozen=True)
class Tried:
    """attempt: what the solver did. verdict and collected: None when it was cancelled and never judged."""

    attempt: Attempt
    verdict: Verdict | None
    collected: Collected | None


def try_task(desk: TrialDesk, task: Task, solver: Solver, artifacts: BinaryIO) -> Tried:
    """Run one trial; `artifacts`, a seekable file, gets the tar of what was collected.

    Raises SandboxError, ModelError, TrialBroken."""
    image = desk.engine.build(environment_image(task), desk.owner)
    machine = solver_machine(task)
    with desk.engine.start(image, machine, desk.owner) as sandbox:
        unready = wait_healthy(sandbox, task.config.environment.healthcheck)
        if unready is not None:
            raise TrialBroken(unready)
        hooks = Hooks(save=desk.save, cancelled=desk.cancelled)
        done = attempt(solver, sandbox, _work(desk, task, solver, machine), ask=desk.ask, hooks=hooks)
        if done.stop is StopReason.CANCELLED:
            return Tried(done, None, None)
        judged = judge(desk.engine, task, sandbox, desk.owner, artifacts)
        return Tried(done, judged.verdict, judged.collected)


def _work(desk: TrialDesk, task: Task, solver: Solver, machine: Machine) -> Work:
    agent = task.config.agent
    user = None if agent.user is None else str(agent.user)
    if solver.policy is Policy.ORACLE:
        return Work(
            script=task.solution, env=task.config.solution.env, workdir=machine.workdir, session_id=desk.session
        )
    system = render(SYSTEM_PROMPT, **told(solver.limits))
    request = render(
        TASK_PROMPT,
        workdir=machine.workdir,
        user=user,
        network_sentence=NETWORK_SENTENCES[machine.network],
        instruction=task.prompt_text(),
    )
    prompt = (Message("system", system), Message("user", request))
    return Work(prompt=prompt, user=user, workdir=machine.workdir, seed=desk.seed, session_id=desk.session)
