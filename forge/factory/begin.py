"""The start of a run, or of one more part of it: its row and its clues."""

from collections.abc import Sequence
from importlib import metadata

from pydantic import ValidationError

from forge.domain.clue import Clue
from forge.domain.config import Config
from forge.domain.config_change import changed_keys
from forge.storage.errors import LedgerMissing
from forge.storage.ledger import Ledger
from forge.storage.ledger_values import RunRow

DISTRIBUTIONS = ("terminal-task-forge", "litellm", "docker")


class RunDiffers(Exception):
    """What is asked for does not fit what has been recorded in this run directory."""


def begin(ledger: Ledger, config: Config, clues: Sequence[Clue]) -> None:
    """Raises RunDiffers, LedgerFull."""
    substitutes = _recorded_substitutes(ledger, config)
    run = RunRow(
        name=config.run.name,
        config=config.for_the_record(),
        versions=_versions(),
        seed=config.run.seed,
        substitutes=substitutes,
    )
    ledger.rows.put_run(run)
    differing = ledger.rows.put_clues(clues)
    if differing:
        raise RunDiffers(
            f"run {config.run.name}: clues with these ids are there with another content: {', '.join(differing)}; "
            "give the new ones ids of their own"
        )


def note_substitutes(ledger: Ledger, used: Sequence[tuple[str, str]]) -> None:
    """Add the (asked, used) base images to the run's row. Raises LedgerFull."""
    run = ledger.read.run()
    every = tuple(sorted({*run.substitutes, *used}))
    if every != run.substitutes:
        ledger.rows.put_run(run.model_copy(update={"substitutes": every}))


def recorded_config(run: RunRow) -> Config:
    """The config that a run was started with. Raises RunDiffers when this version of the program cannot read it."""
    try:
        return Config.model_validate_json(run.config)
    except ValidationError as error:
        raise RunDiffers(
            f"run {run.name}: it was started by another version of this program ({_version(run)}), "
            "whose config this one cannot read; go on with that one, or give the new run a name of its own (run.name)"
        ) from error


def _recorded_substitutes(ledger: Ledger, config: Config) -> tuple[tuple[str, str], ...]:
    """Those of earlier parts of this run, once it is sure that this is one more part of it."""
    try:
        recorded = ledger.read.run()
    except LedgerMissing:
        return ()
    before = recorded_config(recorded)
    keys = changed_keys(before, config)
    if keys:
        raise RunDiffers(
            f"run {config.run.name}: {'; '.join(keys)}; put them back, or give the new run a name of its own (run.name)"
        )
    return recorded.substitutes


def _version(run: RunRow) -> str:
    return run.versions.get(DISTRIBUTIONS[0], "unknown")


def _versions() -> dict[str, str]:
    found = {}
    for name in DISTRIBUTIONS:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            found[name] = "not installed"
    return found
