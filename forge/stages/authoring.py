"""The author's duties. Each is one agent run in a sandbox of its own, with a prompt of its own:

draft     clue -> task                       in the draft sandbox, /task empty
repair    task, findings -> task             in the draft sandbox, /task filled
revise    task, feedback -> task             in the draft sandbox, /task filled
solve     instruction -> solution            in the task's environment, nothing else in view
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from forge.domain.clue import Clue
from forge.domain.feedback import Feedback
from forge.domain.structure import Finding
from forge.domain.task import Task
from forge.prompts import render
from forge.stages.machines import wait_healthy
from sandbox.api import CopyLimits, Engine, Image, ImageSpec, Machine, Network, Owner, Sandbox
from sandbox.errors import CopyRefused, PathMissing
from sandbox.tree import Tree
from solvers.agent import AgentTask, Attempt, run_agent
from solvers.limits import AgentLimits
from solvers.model import Ask, Message
from solvers.trajectory import Trajectory

TASK_FOLDER = "/task"
SKELETON_FOLDER = "/skeleton"
SOLUTION_FOLDER = "/solution"
TASK_LIMITS = CopyLimits(max_bytes=64 << 20, max_files=5_000)
NETWORK_SENTENCES = {
    Network.NONE: "The machine has no network.",
    Network.PUBLIC: "The machine has a network.",
}


@dataclass(frozen=True)
class AuthorSettings:
    """model as litellm names it; image: of the draft sandbox; base_images: what environments may start from."""

    model: str
    temperature: float | None
    limits: AgentLimits
    image: str
    machine: Machine
    base_images: tuple[str, ...]
    skeleton: Tree


@dataclass(frozen=True)
class Wanted:
    """What the criterion wants of a round, in words, and how far the candidate is."""

    sentence: str
    round: int
    max_rounds: int


class Save(Protocol):
    def __call__(self, trajectory: Trajectory) -> None: ...


@dataclass(frozen=True)
class Authored:
    """What a duty left behind. refused: why the folder could not be read back, "" when it could."""

    tree: Tree
    attempt: Attempt
    refused: str = ""


@dataclass(frozen=True)
class Desk:
    """What one duty is done with: where it runs, who pays, whose it is."""

    engine: Engine
    ask: Ask
    owner: Owner
    seed: int
    save: Save
    cancelled: Callable[[], bool]


def draft(settings: AuthorSettings, desk: Desk, clue: Clue) -> Authored:
    request = render("author_draft", clue_json=clue.model_dump_json(indent=2, exclude_defaults=True))
    return _in_draft_sandbox(settings, desk, request, Tree())


def repair(settings: AuthorSettings, desk: Desk, task: Tree, findings: Sequence[Finding]) -> Authored:
    """task: the folder as it is, which may be no valid task."""
    return _in_draft_sandbox(settings, desk, render("author_repair", findings=findings), unsolved(task))


def revise(settings: AuthorSettings, desk: Desk, task: Task, feedback: Feedback, wanted: Wanted) -> Authored:
    request = render(
        "author_revise", wanted=wanted.sentence, round=wanted.round, max_rounds=wanted.max_rounds, feedback=feedback
    )
    return _in_draft_sandbox(settings, desk, request, unsolved(task.to_tree()))


def solve(settings: AuthorSettings, desk: Desk, task: Task, image: Image, machine: Machine) -> Authored:
    """The tree is that of /solution, empty when nothing was written there."""
    request = render(
        "author_solve",
        workdir=machine.workdir,
        network_sentence=NETWORK_SENTENCES[machine.network],
        instruction=task.prompt_text(),
    )
    system = render("solver_system", **told(settings.limits))
    with desk.engine.start(image, machine, desk.owner) as sandbox:
        # It became healthy when it was validated; where it does not this once, the replays judge what is written.
        wait_healthy(sandbox, task.config.environment.healthcheck)
        attempt = _run(settings, desk, (system, request), sandbox)
        return _read_back(sandbox, SOLUTION_FOLDER, attempt)


def unsolved(task: Tree) -> Tree:
    """A task folder without its solution: the author never sees or writes one beside the task."""
    return Tree({path: file for path, file in task.items() if not path.startswith("solution/")})


def _in_draft_sandbox(settings: AuthorSettings, desk: Desk, request: str, task: Tree) -> Authored:
    system = render("author_system", base_images=settings.base_images, **told(settings.limits))
    image = desk.engine.build(ImageSpec(Tree(), docker_image=settings.image), desk.owner)
    with desk.engine.start(image, settings.machine, desk.owner) as sandbox:
        sandbox.put(task, TASK_FOLDER)
        sandbox.put(settings.skeleton, SKELETON_FOLDER)
        attempt = _run(settings, desk, (system, request), sandbox)
        return _read_back(sandbox, TASK_FOLDER, attempt)


def told(limits: AgentLimits) -> dict[str, str]:
    """The limits as the prompts name them."""
    return {
        "command_sec": f"{limits.command_sec:g}",
        "steps": str(limits.steps),
        "minutes": f"{limits.time_sec / 60:g}",
    }


def _run(settings: AuthorSettings, desk: Desk, prompt: tuple[str, str], sandbox: Sandbox) -> Attempt:
    task = AgentTask(
        model=settings.model,
        prompt=(Message("system", prompt[0]), Message("user", prompt[1])),
        seed=desk.seed,
        temperature=settings.temperature,
        agent_name="forge-author",
        user="root",
    )
    return run_agent(task, desk.ask, sandbox, settings.limits, desk.save, desk.cancelled)


def _read_back(sandbox: Sandbox, folder: str, attempt: Attempt) -> Authored:
    try:
        return Authored(sandbox.get(folder, TASK_LIMITS), attempt)
    except PathMissing:
        return Authored(Tree(), attempt)
    except CopyRefused as error:
        return Authored(Tree(), attempt, refused=str(error))
