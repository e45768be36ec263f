"""A run: candidates through a bounded pool, one ledger, a clean end whatever happens."""

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from forge.domain.candidate import CandidateState, Reason
from forge.domain.clue import Clue
from forge.domain.config import Config
from forge.domain.spend import Budget
from forge.factory.begin import begin
from forge.factory.bench import Bench, Shop
from forge.factory.candidate import Life, live
from forge.factory.failures import Failure, settle
from forge.factory.images import TrackedEngine
from forge.factory.journal import Journal
from forge.factory.progress import SILENT, Ending, Progress, RunSummary
from forge.factory.records import End
from forge.factory.settings import author_of, criterion_of, solvers_of, wanted_of
from forge.factory.signals import RunHalted, StopKind, Stopped, StopSignal
from forge.storage.ledger import Ledger
from forge.storage.taskdir import check_can_hold
from sandbox.api import Engine, ImageSpec, Owner
from sandbox.tree import Tree
from solvers.door import ModelDoor
from solvers.errors import BudgetSpent
from solvers.model import Program
from solvers.pool import TrialPool


@dataclass(frozen=True)
class Tools:
    """What a run is made with besides its config: the engine, the programs that stand in for models, the verifier
    skeleton that the author gets, the clock (seconds), and a hook after each commit of the ledger."""

    engine: Engine
    programs: Mapping[str, Program]
    skeleton: Tree
    clock: Callable[[], float] = time.monotonic
    on_commit: Callable[[int], None] | None = None


def run_factory(
    config: Config,
    clues: Sequence[Clue],
    tools: Tools,
    *,
    stop: StopSignal,
    progress: Progress = SILENT,
) -> RunSummary:
    """Work on all clues, those of earlier runs in the same run directory included, until each candidate has ended.

    Nothing of the run is left in the engine at the end. Raises ModelUnknown, ModelKeyMissing, ImageMissing (that of the
    draft sandbox), RunDiffers, StorageError (a locked or newer ledger, a full disk), OSError (an output folder that
    cannot be written), EngineUnavailable; KeyboardInterrupt when everything is cleaned up."""
    run_dir = Path(config.run.runs_dir) / config.run.name
    # Before anything is made or paid: a wrong name that was recorded could not be put right any more, and what cannot
    # be kept need not be made.
    with ModelDoor(config.door(), None, tools.programs) as door:
        for model in config.models_used():
            door.check(model)
    check_can_hold((Path(config.run.out) / config.run.name).absolute())
    with ExitStack() as stack:
        ledger = stack.enter_context(Ledger.open(run_dir, on_commit=tools.on_commit))
        tools.engine.sweep(config.run.name)
        stack.callback(tools.engine.sweep, config.run.name)
        guard = _spend_guard(config, ledger)
        door = stack.enter_context(ModelDoor(config.door(), ledger.calls, tools.programs, spend_guard=guard))
        begin(ledger, config, clues)
        pool = stack.enter_context(TrialPool(config.run.trials_at_once))
        shop = Shop(
            config=config,
            engine=TrackedEngine(tools.engine, ledger),
            door=door,
            ledger=ledger,
            pool=pool,
            stop=stop,
            author=author_of(config, tools.skeleton),
            notify=progress.happened,
            live=run_dir / "live",
            clock=tools.clock,
        )
        return _all_candidates(shop, progress)


def _all_candidates(shop: Shop, progress: Progress) -> RunSummary:
    clues = shop.ledger.read.clues()
    ended = {row.id for row in shop.ledger.read.candidates() if row.state.final}
    left = [clue for clue in clues if clue.id not in ended]
    if left:
        # Without it no candidate gets anywhere: better to know before the first call is paid.
        shop.engine.build(ImageSpec(Tree(), docker_image=shop.author.image), Owner(shop.config.run.name))
    progress.started(len(clues), len(ended))
    threads = ThreadPoolExecutor(shop.config.run.candidates_at_once, thread_name_prefix="candidate")
    try:
        futures = [threads.submit(_one, shop, clue, progress) for clue in left]
        _await(futures)
    except BaseException:
        # Ctrl-C for the second time, or a bug: nobody may start anything new, and who works is cut off.
        shop.stop.set(StopKind.CUT, "stopped at once")
        shop.pool.cancel_all()
        shop.door.close()
        shop.engine.cancel()
        raise
    finally:
        threads.shutdown(wait=True, cancel_futures=True)
    return _summary(shop)


def _await(futures: Sequence[Future[None]]) -> None:
    """Wait for all; the first exception that is no candidate's own is raised."""
    for future in wait(futures, return_when=FIRST_EXCEPTION).done:
        future.result()


def _one(shop: Shop, clue: Clue, progress: Progress) -> None:
    if shop.stop.is_set():
        return
    bench = Bench(shop, clue)
    journal = Journal(shop.ledger, clue.id)
    criterion = criterion_of(shop.config)
    life = Life(bench, criterion, solvers_of(shop.config, criterion), wanted_of(shop.config), journal)
    try:
        result = settle(lambda: live(life), retries=0, wait=lambda _: None, note=lambda _: None)
    except (Stopped, RunHalted, BudgetSpent) as stopped:
        if not isinstance(stopped, Stopped):
            kind = StopKind.BUDGET if isinstance(stopped, BudgetSpent) else StopKind.HALTED
            shop.stop.set(kind, str(stopped))
        journal.end(CandidateState.INTERRUPTED, Reason.NONE, shop.stop.reason)
        progress.candidate_ended(clue.id, Ending.INTERRUPTED, shop.stop.reason)
        return
    shop.engine.drop_built_for(clue.id)
    if isinstance(result, Failure):
        bench.event("error", result.trace)
        journal.end(CandidateState.ERRORED, result.reason, result.line)
        progress.candidate_ended(clue.id, Ending.ERRORED, result.line)
        return
    progress.candidate_ended(clue.id, Ending.RETAINED if result.retained else Ending.DISCARDED, _said(result))


def _said(end: End) -> str:
    return f"{end.detail} after {end.rounds} round{'' if end.rounds == 1 else 's'}"


def _spend_guard(config: Config, ledger: Ledger) -> Callable[[], None]:
    budget = Budget(usd=config.budget.run_usd)

    def guard() -> None:
        if budget.usd is not None and budget.reached(ledger.spend()):
            raise BudgetSpent(f"the run's budget of {budget.usd:g} US dollars is spent; raise budget.run_usd to go on")

    return guard


def _summary(shop: Shop) -> RunSummary:
    states = [row.state for row in shop.ledger.read.candidates()]
    clues = len(shop.ledger.read.clues())
    retained, discarded, errored = (
        states.count(state) for state in (CandidateState.RETAINED, CandidateState.DISCARDED, CandidateState.ERRORED)
    )
    return RunSummary(
        run=shop.config.run.name,
        retained=retained,
        discarded=discarded,
        errored=errored,
        interrupted=clues - retained - discarded - errored,
        stopped=shop.stop.kind,
        why=shop.stop.reason,
    )
