"""From config to machines; healthchecks against a scripted sandbox."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import cast

import pytest

from forge.domain.task import Task
from forge.domain.taskconfig import Healthcheck
from forge.stages.machines import (
    HEALTH_DEADLINE_SEC,
    environment_image,
    solver_machine,
    verifier_image,
    verifier_machine,
    wait_healthy,
)
from sandbox.api import ExecResult, Limits, Machine, Network, Sandbox

Sample = Callable[..., Task]


class Clock:
    """Time that passes only by sleeping."""

    def __init__(self) -> None:
        self.now = 0.0
        self.naps: list[float] = []

    def sleep(self, seconds: float) -> None:
        self.naps.append(seconds)
        self.now += seconds

    def read(self) -> float:
        return self.now


def answers(*codes: int) -> Callable[..., ExecResult]:
    """An exec that exits with each of the codes in turn, and with the last one from then on."""
    left = list(codes)

    def run(_command: str, **_options: object) -> ExecResult:
        code = left.pop(0) if len(left) > 1 else left[0]
        return ExecResult(code, b"out", b"err", 0.1)

    return run


def waited(check: Healthcheck, *codes: int) -> tuple[str | None, list[float]]:
    clock = Clock()
    sandbox = cast(Sandbox, SimpleNamespace(exec=answers(*codes)))
    return wait_healthy(sandbox, check, clock.sleep, clock.read), clock.naps


@pytest.mark.parametrize(
    ("check", "codes", "healthy", "naps"),
    [
        (Healthcheck(command="x"), (0,), True, []),
        (Healthcheck(command="x"), (1, 0), True, [5]),
        (Healthcheck(command="x", retries=2, interval_sec=3), (1,), False, [3]),
        (Healthcheck(command="x", retries=1, start_period_sec=5, start_interval_sec=2), (1,), False, [2, 2, 2]),
        (Healthcheck(command="x", start_period_sec=5, start_interval_sec=2), (1, 1, 1, 1, 0), True, [2, 2, 2, 5]),
    ],
)
def test_health(check: Healthcheck, codes: tuple[int, ...], healthy: bool, naps: list[float]) -> None:
    said, slept = waited(check, *codes)
    assert (said is None) is healthy
    assert slept == naps
    assert healthy or said == "the healthcheck exited 1: outerr"


def test_no_task_can_make_us_wait_for_ever() -> None:
    said, naps = waited(Healthcheck(command="x", start_period_sec=1e9, start_interval_sec=1e9), 1)
    assert said is not None
    assert sum(naps) <= HEALTH_DEADLINE_SEC + 60


def test_machines(sample: Sample) -> None:
    totals = sample("totals")
    assert solver_machine(totals) == Machine(Limits(cpus=1, memory_mb=512), Network.NONE)
    assert verifier_machine(totals) == Machine(Limits(cpus=1, memory_mb=512), Network.NONE)
    assert environment_image(totals).context == totals.environment
    assert verifier_image(totals).context == totals.tests
    greeting = sample("greeting")
    assert solver_machine(greeting).limits == Limits(cpus=1, memory_mb=512, disk_mb=1024)


def test_networks_and_ready_images(sample: Sample) -> None:
    config = """
[environment]
docker_image = "debian:bookworm-slim"
env = { A = "1" }
[agent]
network_mode = "no-network"
[verifier]
network_mode = "public"
[verifier.environment]
docker_image = "example.org/verifier:1"
env = { B = "2" }
workdir = "/srv"
"""
    task = sample("greeting", {"task.toml": config, "environment/Dockerfile": None})
    assert (environment_image(task).docker_image, len(environment_image(task).context)) == ("debian:bookworm-slim", 0)
    assert verifier_image(task).docker_image == "example.org/verifier:1"
    assert solver_machine(task) == Machine(Limits(), Network.NONE, {"A": "1"})
    assert verifier_machine(task) == Machine(Limits(), Network.PUBLIC, {"B": "2"}, "/srv")
    assert solver_machine(sample("greeting", {"task.toml": ""})).network is Network.PUBLIC
