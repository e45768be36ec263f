"""The machine in which the author solves its own task."""

from tests.faults.toy_models import author
from tests.forge.factory.world import World, changing

HEALTH = """[environment.healthcheck]
command = "test -e /app/ready || { echo yes > /app/ready; exit 1; }"
interval_sec = 0.0

[agent]"""


def test_author_solves_on_a_machine_that_is_ready(world: World) -> None:
    checked = changing(author, "[agent]", HEALTH)
    careful = changing(checked, "mkdir -p /solution\n", "test -e /app/ready || exit 1\nmkdir -p /solution\n")
    assert world.run("broken", models={"author": careful}).retained == 1
