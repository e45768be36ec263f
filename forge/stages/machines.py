"""From a task's config to images and machines; when a machine is ready."""

import time
from collections.abc import Callable

from forge.domain.task import Task
from forge.domain.taskconfig import EnvironmentConfig, Healthcheck, NetworkMode
from sandbox.api import ImageSpec, Limits, Machine, Network, Sandbox
from sandbox.tree import Tree

HEALTH_DEADLINE_SEC = 600.0
"""The most that a container gets to become healthy, whatever its task says."""

_MAX_PAUSE_SEC = 60.0
_OUTPUT_BYTES = 2_000


def environment_image(task: Task) -> ImageSpec:
    """The solver's image: of the Dockerfile where there is one, else the image that task.toml names."""
    return _image(task.environment, task.config.environment)


def verifier_image(task: Task) -> ImageSpec:
    """A separate verifier's image: of tests/Dockerfile where there is one, else the image that task.toml names."""
    return _image(task.tests, task.config.verifier_machine)


def solver_machine(task: Task) -> Machine:
    """How the solver's container is started."""
    config = task.config
    return _machine(config.environment, config.solver_network)


def verifier_machine(task: Task) -> Machine:
    """How a separate verifier's container is started."""
    config = task.config
    own = config.verifier.environment or config.environment.model_copy(update={"env": {}, "workdir": None})
    return _machine(own, config.verifier_network)


def wait_healthy(
    sandbox: Sandbox,
    check: Healthcheck | None,
    sleep: Callable[[float], None] = time.sleep,
    clock: Callable[[], float] = time.monotonic,
) -> str | None:
    """Wait until a healthcheck passes: None, or why it does not.

    It is asked at once, then at its intervals. Raises SandboxGone, EngineUnavailable."""
    if check is None:
        return None
    began = clock()
    failures = 0
    while True:
        result = sandbox.exec(check.command, timeout_sec=check.timeout_sec)
        if result.exit_code == 0:
            return None
        passed_sec = clock() - began
        starting = passed_sec < check.start_period_sec
        failures += not starting
        if failures >= check.retries or passed_sec > HEALTH_DEADLINE_SEC:
            said = (result.stdout + result.stderr)[-_OUTPUT_BYTES:].decode(errors="replace").strip()
            how = "timed out" if result.timed_out else f"exited {result.exit_code}"
            return f"the healthcheck {how}: {said}"
        sleep(min(_MAX_PAUSE_SEC, check.start_interval_sec if starting else check.interval_sec))


def _image(context: Tree, machine: EnvironmentConfig) -> ImageSpec:
    if "Dockerfile" in context:
        return ImageSpec(context, timeout_sec=machine.build_timeout_sec)
    return ImageSpec(Tree(), docker_image=machine.docker_image, timeout_sec=machine.build_timeout_sec)


def _machine(machine: EnvironmentConfig, network: NetworkMode) -> Machine:
    ours = Limits()
    return Machine(
        limits=Limits(
            cpus=machine.cpus or ours.cpus,
            memory_mb=machine.memory_mb or ours.memory_mb,
            pids=ours.pids,
            disk_mb=machine.storage_mb or ours.disk_mb,
        ),
        network=Network.PUBLIC if network is NetworkMode.PUBLIC else Network.NONE,
        env=machine.env,
        workdir=machine.workdir,
    )
