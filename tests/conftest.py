"""What all tests share. A test marked `docker` needs an engine: without one it fails, it is never skipped."""

import os
import subprocess
import uuid

import pytest


@pytest.fixture(scope="session")
def stand_in() -> str:
    """The base image that `make setup` bootstraps where nothing can be pulled."""
    return "terminal-task-forge/debian-standin:bookworm"


@pytest.fixture(scope="session")
def engine_run() -> str:
    """The run label of all that this process of the tests starts."""
    return f"test-{os.getpid()}-{uuid.uuid4().hex[:8]}"


@pytest.fixture(scope="session")
def engine_answers() -> None:
    done = subprocess.run(["docker", "version"], capture_output=True, text=True, timeout=60, check=False)
    if done.returncode:
        pytest.fail(f"no Docker Engine answers (`make setup` brings one): {done.stderr.strip()}", pytrace=False)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """What is marked `faults` runs only where it is asked for (make faults)."""
    for item in items:
        if item.get_closest_marker("docker"):
            item.fixturenames.insert(0, "engine_answers")
    if "faults" not in config.option.markexpr:
        kept = [item for item in items if not item.get_closest_marker("faults")]
        config.hook.pytest_deselected(items=[item for item in items if item not in kept])
        items[:] = kept
