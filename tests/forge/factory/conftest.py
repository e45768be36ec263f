"""What the tests of the factory share: a run directory of the toy world."""

from pathlib import Path

import pytest

from tests.forge.factory.world import World


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)
