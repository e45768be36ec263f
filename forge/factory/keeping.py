"""Kept tasks leave the factory: OUT/RUN/ID is a Harbor task directory."""

import shutil
from pathlib import Path

from forge.domain.provenance import with_provenance
from forge.domain.task import Task
from forge.factory.bench import Bench
from forge.factory.records import Bases
from forge.factory.signals import RunHalted
from forge.stages.machines import environment_image, verifier_image
from forge.storage.taskdir import write_task
from solvers.policies import Solver


def keep(bench: Bench, task: Task, rounds: int, solvers: tuple[Solver, ...]) -> Path:
    """Write a retained task with its provenance; writing it again gives the same bytes.

    Raises RunHalted where it cannot be written, which no other candidate's could be either; SandboxError."""
    config = bench.shop.config
    # Recorded, since the process that writes may not be the one that built.
    bases = bench.record("bases", Bases, lambda: _bases(bench, task))
    kept = with_provenance(
        task,
        bench.clue,
        strategy=config.calibration.strategy.value,
        rounds=rounds,
        models=[config.author.model, *(solver.model for solver in solvers if solver.model)],
        substitutes=bases.substitutes,
    )
    folder = Path(config.run.out) / config.run.name / bench.id
    try:
        _clear_leftovers(folder)
        write_task(kept, folder)
    except OSError as error:
        raise RunHalted(f"{folder}: the kept task cannot be written: {error}") from error
    return folder


def _bases(bench: Bench, task: Task) -> Bases:
    specs = [environment_image(task), *([verifier_image(task)] if task.config.separate else [])]
    found = {pair for spec in specs for pair in bench.shop.engine.build(spec, bench.owner).substitutes}
    return Bases(substitutes=tuple(sorted(found)))


def _clear_leftovers(folder: Path) -> None:
    """What `write_task` had under way beside the folder when a process before this one was killed."""
    for left in folder.parent.glob(f".{folder.name}.*"):
        shutil.rmtree(left)
