import os
import uuid
from collections.abc import Callable, Iterator

import pytest

from sandbox.api import Engine, Image, ImageSpec, Limits, Machine, Owner, Sandbox
from sandbox.engine import DockerEngine, EngineConfig
from sandbox.fake import FakeEngine
from sandbox.tree import Tree

ASKED = "debian:bookworm-slim"
STAND_IN = os.environ.get("FORGE_TEST_BASE", "terminal-task-forge/debian-standin:bookworm")
SUBSTITUTES = {ASKED: STAND_IN}

PLAIN = ImageSpec(Tree({"Dockerfile": f"FROM {ASKED}\nRUN mkdir -p /work\nENV COLOUR=blue\nWORKDIR /work\n"}))


@pytest.fixture(scope="session")
def run_id() -> str:
    return f"test-sandbox-{uuid.uuid4().hex[:8]}"


@pytest.fixture(scope="session")
def substitutes() -> dict[str, str]:
    return SUBSTITUTES


@pytest.fixture(scope="session")
def owner(run_id: str) -> Owner:
    return Owner(run_id, "candidate-1")


@pytest.fixture(scope="session")
def docker_engine(run_id: str) -> Iterator[DockerEngine]:
    with DockerEngine(EngineConfig(substitutes=SUBSTITUTES)) as engine:
        yield engine
        engine.sweep(run_id)


@pytest.fixture(params=["fake", pytest.param("docker", marks=pytest.mark.docker)])
def engine(request: pytest.FixtureRequest) -> Engine:
    """Either engine; Docker's is shared by all tests of a session."""
    if request.param == "fake":
        return FakeEngine()
    shared: DockerEngine = request.getfixturevalue("docker_engine")
    return shared


@pytest.fixture
def image(engine: Engine, owner: Owner) -> Image:
    return engine.build(PLAIN, owner)


@pytest.fixture
def sandbox(engine: Engine, image: Image, owner: Owner) -> Iterator[Sandbox]:
    with engine.start(image, Machine(), owner) as started:
        yield started


@pytest.fixture(scope="session")
def docker_image(docker_engine: DockerEngine, owner: Owner) -> Image:
    """The plain image on Docker. What is hostile in the tests is written in bash and in the Perl of every Debian."""
    return docker_engine.build(PLAIN, owner)


Start = Callable[..., Sandbox]


@pytest.fixture
def start(docker_engine: DockerEngine, docker_image: Image, owner: Owner) -> Iterator[Start]:
    """Starts containers on Docker with given limits; they end with the test."""
    started: list[Sandbox] = []

    def make(**limits: float) -> Sandbox:
        machine = Machine(Limits(**limits))  # type: ignore[arg-type]
        started.append(docker_engine.start(docker_image, machine, owner))
        return started[-1]

    yield make
    for sandbox in started:
        sandbox.close()
