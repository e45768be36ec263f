"""The author's duties as units: what was left behind goes into the ledger's blobs."""

from collections.abc import Callable

from forge.factory.bench import Bench
from forge.factory.live import LiveTrajectory
from forge.factory.records import AuthoredRecord
from forge.stages.authoring import Authored, Desk
from forge.storage.trees import put_tree
from solvers.agent import StopReason

LAST_WORDS = 4_000


def duty(bench: Bench, unit: str, perform: Callable[[Desk], Authored]) -> AuthoredRecord:
    """Do one of the author's duties, once. Raises what Bench.unit raises."""
    return bench.unit(unit, AuthoredRecord, lambda: _performed(bench, unit, perform))


def _performed(bench: Bench, unit: str, perform: Callable[[Desk], Authored]) -> AuthoredRecord:
    live = LiveTrajectory(bench.shop.live, bench.id, unit)
    desk = Desk(
        engine=bench.shop.engine,
        ask=bench.ask(unit),
        owner=bench.owner,
        seed=bench.seed("author"),
        save=live,
        cancelled=bench.shop.stop.is_set,
    )
    authored = perform(desk)
    if authored.attempt.stop is StopReason.CANCELLED:
        bench.shop.stop.check()
    blobs = bench.shop.ledger.blobs
    return AuthoredRecord(
        tree=put_tree(blobs, authored.tree),
        trajectory=blobs.put(live.done()),
        said=authored.attempt.last_message[-LAST_WORDS:],
        stop=authored.attempt.stop.value,
        refused=authored.refused,
        steps=authored.attempt.steps,
        tokens=authored.attempt.tokens,
        cost_usd=authored.attempt.cost_usd,
        time_sec=authored.attempt.time_sec,
    )
