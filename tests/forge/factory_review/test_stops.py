"""What a stop in the middle of a round leaves behind, and how the next run goes on from there."""

import threading
from collections.abc import Sequence

from forge.domain.outcome import Outcome
from forge.factory.signals import StopKind
from sandbox.errors import EngineUnavailable
from sandbox.fake_process import Answer, Call
from solvers.model import Message
from tests.faults.toy_models import strong, weak
from tests.forge.factory.world import World, saying


def test_trial_that_another_one_cut_off_is_not_paid_twice(world: World) -> None:
    """The engine goes away under the strong solver while the weak one thinks."""
    gone = threading.Event()
    asked: list[int] = []

    def trouble(call: Call) -> Answer:
        if not gone.is_set():
            gone.set()
            raise EngineUnavailable("gone")
        return Answer()

    def thinking(messages: Sequence[Message], seed: int | None) -> str:
        asked.append(len(messages))
        gone.wait(30)
        return weak(messages, seed)

    models = {"strong": saying(strong, "trouble"), "weak": thinking}
    engine = world.engine(programs={"trouble": trouble})
    first = world.run("broken", engine=engine, models=models, calibration__error_retries=0)
    assert first.stopped is StopKind.HALTED
    assert world.end("broken")[0] == "interrupted"
    assert world.run("broken", engine=world.engine(programs={"trouble": trouble}), models=models).retained == 1
    (only,) = world.rounds("broken")
    assert {trial.solver: trial.outcome for trial in only.trials} == {"strong": Outcome.PASSED, "weak": Outcome.FAILED}
    assert sorted(asked) == sorted(set(asked)), "each of its turns is paid once"
    assert world.attempts("broken", "r1/trial/weak/0") == 2
