"""A solver that does its work and then turns hostile is judged on what stands, and harms nobody else.

The outcome table of docs/design.md for containers that fork-bomb, eat memory, fill the disk, print forever, ignore
SIGTERM, daemonise, or sleep past their limit."""

import tempfile
from collections.abc import Iterator, Sequence

import pytest

from forge.domain.task import Task
from forge.stages.trials import TrialDesk, Tried, try_task
from sandbox.api import Engine, ImageSpec, Limits, Machine, Owner, Sandbox
from sandbox.engine import DockerEngine, EngineConfig
from sandbox.tree import Tree
from solvers.agent import StopReason
from solvers.limits import AgentLimits
from solvers.model import Reply, Request
from solvers.policies import Policy, Solver

pytestmark = pytest.mark.docker

BASE = "debian:bookworm-slim"
WORK = "echo done > /app/out.txt"
CONFIG = """
schema_version = "1.4"
artifacts = ["/app/out.txt"]
[task]
name = "forge-tests/hostile"
[verifier]
timeout_sec = 60
environment_mode = "separate"
[environment]
cpus = 0.5
memory_mb = 96
storage_mb = 64
network_mode = "no-network"
"""
TEST = """
mkdir -p /logs/verifier
if [ "$(cat /app/out.txt)" = done ]; then echo 1; else echo 0; fi > /logs/verifier/reward.txt
"""
LIMITS = AgentLimits(steps=4, time_sec=60.0, command_sec=3.0)

HOSTILE = {
    "fork bomb": "bomb() { bomb | bomb & }; bomb; sleep 30",
    "eats memory": "bytes=$(head -c 400M /dev/zero | tr '\\0' x); echo ${#bytes}",
    "fills the disk": "head -c 1G /dev/zero > /fill; sleep 30",
    "prints forever": "yes 0123456789",
    "ignores SIGTERM": "trap '' TERM INT HUP; while :; do sleep 1; done",
    "daemonises": "setsid bash -c 'setsid sleep 977 & sleep 977' > /dev/null 2>&1 & sleep 977",
    "sleeps past its limit": "sleep 977",
}


@pytest.fixture(scope="module")
def engine(engine_run: str, stand_in: str) -> Iterator[DockerEngine]:
    with DockerEngine(EngineConfig(substitutes={BASE: stand_in})) as made:
        yield made
        made.sweep(engine_run)


@pytest.fixture(scope="module")
def task() -> Task:
    dockerfile = f"FROM {BASE}\nRUN mkdir /app\n"
    files = {
        "task.toml": CONFIG,
        "instruction.md": "Write the word done to /app/out.txt.\n",
        "environment/Dockerfile": dockerfile,
        "tests/Dockerfile": dockerfile + "COPY . /tests\n",
        "tests/test.sh": TEST,
    }
    return Task.from_tree(Tree(files))


@pytest.fixture
def neighbour(engine: DockerEngine, engine_run: str) -> Iterator[Sandbox]:
    """A machine of somebody else, who must not notice anything."""
    owner = Owner(engine_run, "neighbour")
    image = engine.build(ImageSpec(Tree(), docker_image=BASE), owner)
    with engine.start(image, Machine(Limits(cpus=0.5, memory_mb=64)), owner) as sandbox:
        sandbox.exec("setsid sleep 900 > /dev/null 2>&1 &", timeout_sec=30)
        yield sandbox
        assert sandbox.exec("pgrep sleep || cat /proc/[0-9]*/comm | grep sleep", timeout_sec=30).exit_code == 0


def attempt(engine: Engine, run: str, task: Task, commands: Sequence[str]) -> Tried:
    left = list(commands)

    def ask(request: Request, *, deadline_sec: float) -> Reply:
        if not left:
            return Reply(text="TASK COMPLETE: done")
        return Reply(text=f"Next.\n\n```bash\n{left.pop(0)}\n```")

    desk = TrialDesk(engine, Owner(run, "hostile"), ask, 1, "hostile", lambda _: None, lambda: False)
    with tempfile.TemporaryFile() as artifacts:
        return try_task(desk, task, Solver("hostile", "openai/any", Policy.PLAIN, LIMITS), artifacts)


@pytest.mark.parametrize("name", HOSTILE)
def test_what_stands_is_judged(
    name: str, engine: DockerEngine, engine_run: str, task: Task, neighbour: Sandbox
) -> None:
    tried = attempt(engine, engine_run, task, [WORK, HOSTILE[name]])
    assert tried.verdict is not None
    assert tried.verdict.problem is None
    assert tried.verdict.passed
    assert tried.attempt.stop in (StopReason.DONE, StopReason.SANDBOX_ENDED)


@pytest.mark.parametrize("name", ["fills the disk", "fork bomb"])
def test_hostility_alone_is_a_plain_failure(name: str, engine: DockerEngine, engine_run: str, task: Task) -> None:
    tried = attempt(engine, engine_run, task, [HOSTILE[name]])
    assert tried.verdict is not None
    assert tried.verdict.problem is None
    assert not tried.verdict.passed


def test_a_hostile_artifact_is_judged_without(engine: DockerEngine, engine_run: str, task: Task) -> None:
    tried = attempt(engine, engine_run, task, ["ln -s /tests/test.sh /app/out.txt"])
    assert tried.collected is not None
    assert [path for path, _ in tried.collected.refused] == ["/app/out.txt"]
    assert tried.verdict is not None
    assert not tried.verdict.passed
