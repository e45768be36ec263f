"""What a run builds is recorded, and goes when its candidate has ended."""

from collections.abc import Sequence

from forge.domain.clue import Clue
from forge.factory.signals import StopKind
from sandbox.images import REPOSITORY
from solvers.model import Message
from tests.faults.toy_machine import ASKED, STAND_IN
from tests.faults.toy_models import weak
from tests.forge.factory.test_run import Nth
from tests.forge.factory.world import World


def ours(world: World) -> list[str]:
    return [tag for tag in world.host.images if tag.startswith(f"{REPOSITORY}:")]


def test_images_go_with_their_candidate(world: World) -> None:
    assert world.run("hard", "hopeless").finished
    assert ours(world) == []
    assert len(world.events("hard", "image")) == 3
    with world.reader() as reader:
        assert reader.run().substitutes == ((ASKED, STAND_IN),)


def test_images_of_an_interrupted_candidate_stay_for_the_next_run_and_then_go(world: World) -> None:
    """The run is stopped when all is built and only the end is missing; the next one builds nothing."""
    stop = Nth(1, lambda: world.stop.set(StopKind.INTERRUPTED, "interrupted"))

    def at_last_trial(messages: Sequence[Message], seed: int | None) -> str:
        stop()
        return weak(messages, seed)

    world.run("broken", models={"weak": at_last_trial}, run__trials_at_once=1)
    left = ours(world)
    assert len(left) == 2
    assert world.run("broken").retained == 1
    assert ours(world) == []


def test_image_that_another_candidate_uses_stays(world: World) -> None:
    """Two clues with one word: their tasks are the same, and so are their images."""
    clues = [Clue(id=name, text="toy easy apple") for name in ("one", "two")]
    assert world.run(clues=clues, run__candidates_at_once=2).retained == 2
    assert ours(world) == []
