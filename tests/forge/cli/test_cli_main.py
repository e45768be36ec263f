"""What holds for every subcommand: help, usage, whose `forge` it is, how an error is said."""

import errno
import subprocess
import tomllib
from pathlib import Path

import pytest

from forge.cli.failures import KNOWN, explain
from forge.cli.main import COMMANDS
from forge.cli.usage import UsageError
from forge.domain.config_reading import ConfigRefused
from forge.domain.task import TaskRefused
from forge.factory.signals import RunHalted
from sandbox.errors import BuildFailed, EngineUnavailable, HostFull, ImageMissing, SandboxGone
from solvers.errors import BudgetSpent, ModelKeyMissing, ModelUnavailable, ModelUnknown


def test_help_names_every_subcommand_and_loads_none(shell):
    said = shell.forge("--help", PYTHONPROFILEIMPORTTIME="1")
    assert said.code == 0
    assert all(name in said.out for name in COMMANDS)
    imported = {line.rsplit("|", 1)[-1].strip() for line in said.err.splitlines()}
    assert not imported & {"pydantic", "docker", "litellm", "datasets", *(module for module, _ in COMMANDS.values())}


@pytest.mark.parametrize("command", COMMANDS)
def test_every_subcommand_has_help(shell, command):
    said = shell.forge(command, "--help")
    assert said.code == 0
    assert said.out.startswith(f"usage: forge {command}")


def test_version_is_that_of_the_project(shell):
    project = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text())["project"]
    said = shell.forge("--version")
    assert said.code == 0
    assert said.out.strip() in (f"terminal-task-forge {project['version']}", "terminal-task-forge (not installed)")


@pytest.mark.parametrize("args", [(), ("nonsense",), ("init", "--nonsense"), ("show",)])
def test_wrong_usage_is_code_2(shell, args):
    said = shell.forge(*args)
    assert said.code == 2
    assert "usage: forge" in said.out + said.err


def test_another_distributions_forge_is_named(shell):
    """A package `forge` before ours on the path, as another distribution installs it."""
    shell.write("other/forge/__init__.py", "raise SystemExit('the other one ran')\n")
    ours = Path(__file__).parents[3]
    said = shell.forge("--help", PYTHONPATH=f"{shell.folder / 'other'}:{ours}")
    assert said.code == 3
    assert str(shell.folder / "other/forge/__init__.py") in said.err
    assert "which is not terminal-task-forge" in said.err
    assert "the other one ran" not in said.err


ERRORS = [
    (UsageError("x"), 2),
    (ConfigRefused(["x"]), 2),
    (ModelUnknown("x"), 2),
    (ModelKeyMissing("x"), 2),
    (TaskRefused("task.toml", "key", "x"), 1),
    (BudgetSpent("x"), 1),
    (BuildFailed("x", log="last line"), 1),
    (EngineUnavailable("x"), 3),
    (HostFull("x"), 3),
    (ImageMissing("x"), 3),
    (SandboxGone("x"), 3),
    (ModelUnavailable("x"), 3),
    (RunHalted("x"), 3),
    (OSError(errno.ENOSPC, "No space left on device", "x"), 3),
    (PermissionError(errno.EACCES, "Permission denied", "x"), 3),
]


@pytest.mark.parametrize(("error", "code"), ERRORS, ids=lambda value: type(value).__name__)
def test_each_error_has_one_message_and_its_code(error, code):
    assert isinstance(error, KNOWN)
    message, got = explain(error)
    assert got == code
    assert "x" in message
    assert "Traceback" not in message


def test_full_disk_says_that_nothing_is_lost():
    message, _ = explain(OSError(errno.ENOSPC, "No space left on device", "ledger"))
    assert message.startswith("the disk is full")
    assert "nothing that was finished is lost" in message


def test_build_that_failed_shows_the_end_of_its_log():
    message, _ = explain(BuildFailed("the image does not build", log="\n".join(map(str, range(100)))))
    assert "  | 99" in message
    assert "  | 79\n" not in message


def test_reader_that_goes_away_is_no_crash(shell):
    pipe = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(shell.command("--version"), cwd=shell.folder, env=shell.env(), **pipe) as process:
        process.stdout.close()
        error = process.stderr.read().decode()
    assert (process.returncode, error) == (1, "")
