"""A real engine, and an owner whose containers are swept afterwards, as are the images that the tests have built."""

import uuid
from collections.abc import Callable, Iterator, Sequence

import pytest

from sandbox.api import Engine, Image, ImageSpec, Owner
from sandbox.engine import DockerEngine, EngineConfig
from sandbox.tree import Tree

STAND_INS = {"debian:bookworm-slim": "terminal-task-forge/debian-standin:bookworm"}


class TidyEngine(DockerEngine):
    """Remembers what it was asked to build."""

    def __init__(self, config: EngineConfig) -> None:
        super().__init__(config)
        self.built: set[Image] = set()

    def build(self, spec: ImageSpec, owner: Owner) -> Image:
        image = super().build(spec, owner)
        if spec.context:
            self.built.add(image)
        return image


@pytest.fixture(scope="session")
def owner() -> Owner:
    return Owner(run=f"test-stages-{uuid.uuid4().hex[:8]}")


@pytest.fixture(scope="session")
def engine(owner: Owner, skeleton: Callable[[Sequence[str]], Tree]) -> Iterator[Engine]:
    with TidyEngine(EngineConfig(substitutes=STAND_INS)) as made:
        made.build(ImageSpec(skeleton(["test_nothing"])), owner)
        yield made
        made.sweep(owner.run)
        for image in made.built:
            made.drop(image)
