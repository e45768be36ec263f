"""What counts as a revision."""

from collections.abc import Sequence

from solvers.model import Message
from tests.faults.toy_models import author
from tests.forge.factory.world import World


def breaks_and_repairs(messages: Sequence[Message], seed: int | None) -> str:
    """An author whose revision does not build, and whose repair takes it back."""
    turn = sum(message.role == "assistant" for message in messages)
    if not messages[1].content.startswith("# Duty: revise"):
        return author(messages, seed)
    if turn == 0:
        return "```bash\necho RUN ls /nowhere >> /task/environment/Dockerfile\n```"
    return "TASK COMPLETE: revised"


def test_revision_that_its_repair_takes_back_ends_the_candidate(world: World) -> None:
    assert world.run("hopeless", models={"author": breaks_and_repairs}).discarded == 1
    assert world.end("hopeless") == ("discarded", "no_revision", "nothing was changed by the time it was repaired")
    assert len(world.rounds("hopeless")) == 1
