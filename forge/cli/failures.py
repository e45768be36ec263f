"""Errors that are no bugs: one message each (what failed, where, what to do) and the exit code."""

from collections.abc import Callable

from forge.cli.usage import UsageError
from forge.domain.config_reading import ConfigRefused
from forge.domain.task import TaskRefused
from forge.factory.begin import RunDiffers
from forge.factory.signals import RunHalted
from forge.storage.errors import LedgerFull, LedgerMissing, LedgerNewer, RunLocked, StorageError
from forge.storage.ledger_file import is_full
from sandbox.errors import BuildFailed, EngineUnavailable, HostFull, ImageMissing, SandboxError
from solvers.errors import BudgetSpent, ModelError, ModelKeyMissing, ModelUnknown

FINDINGS, USAGE, ENVIRONMENT = 1, 2, 3

KNOWN = (UsageError, ConfigRefused, TaskRefused, SandboxError, ModelError, RunHalted, RunDiffers, StorageError, OSError)

FREE_SPACE = "free some space, then run the same command again: nothing that was finished is lost"


def explain(error: BaseException) -> tuple[str, int]:
    """The message and the exit code of an error of one of the KNOWN kinds."""
    for kind, code, text in EXPLANATIONS:
        if isinstance(error, kind):
            return text(error), code
    raise error


def _plain(advice: str = "") -> Callable[[BaseException], str]:
    return lambda error: f"{error}\n  {advice}" if advice else str(error)


def _build_failed(error: BaseException) -> str:
    lines = error.last_lines() if isinstance(error, BuildFailed) else ""
    return f"{error}\n" + "\n".join(f"  | {line}" for line in lines.splitlines())


def _os_error(error: BaseException) -> str:
    if isinstance(error, OSError) and is_full(error):
        return f"the disk is full: {error}\n  {FREE_SPACE}"
    return f"{error}\n  check that the file or folder exists and may be used"


EXPLANATIONS: tuple[tuple[type[BaseException], int, Callable[[BaseException], str]], ...] = (
    (UsageError, USAGE, _plain()),
    (ConfigRefused, USAGE, _plain()),
    (TaskRefused, FINDINGS, _plain()),
    (ModelUnknown, USAGE, _plain("`forge doctor` checks every model of the config")),
    (ModelKeyMissing, USAGE, _plain("`forge doctor` checks every model of the config")),
    (BudgetSpent, FINDINGS, _plain("raise the budget and run the same command again")),
    (ModelError, ENVIRONMENT, _plain("`forge doctor` checks every model of the config")),
    (
        EngineUnavailable,
        ENVIRONMENT,
        _plain("start Docker Engine (`make setup` does where it may), or set DOCKER_HOST"),
    ),
    (
        HostFull,
        ENVIRONMENT,
        _plain(FREE_SPACE),
    ),
    (ImageMissing, ENVIRONMENT, _plain("`make setup` brings the base image; [sandbox.substitutes] names stand-ins")),
    (BuildFailed, FINDINGS, _build_failed),
    (SandboxError, ENVIRONMENT, _plain()),
    (RunHalted, ENVIRONMENT, _plain("run the same command again when that is mended")),
    (RunDiffers, USAGE, _plain()),
    (RunLocked, USAGE, _plain()),
    (LedgerMissing, USAGE, _plain()),
    (LedgerNewer, USAGE, _plain()),
    (LedgerFull, ENVIRONMENT, _plain()),
    (StorageError, ENVIRONMENT, _plain("the run's folder was damaged; a copy of it, or a new run, is what is left")),
    (OSError, ENVIRONMENT, _os_error),
)
