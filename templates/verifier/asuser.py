"""Runs what was handed in as an unprivileged user that can read neither the tests nor the results.

    with asuser.scratch() as folder:                       a folder that this user may write to
        ran = asuser.run(["bash", "/app/report.sh", folder])
        assert ran.status == 0, ran
        text = asuser.read(folder / "report.csv")          a regular file of sensible size, or an AssertionError

Never import a file that was handed in: inside the process of the tests it could decide what they say."""

import contextlib
import os
import shutil
import stat
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

UID = 64001
# Not of processes: the kernel counts those by user, over all containers of a host. The container has a limit of its own.
LIMITS = ("--fsize=200000000", "--core=0", "--nofile=1024")
USER = ("setpriv", f"--reuid={UID}", f"--regid={UID}", "--clear-groups", "--no-new-privs", "--inh-caps=-all")
ENVIRONMENT = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "HOME": "/tmp",
    "LANG": "C.UTF-8",
    "PYTHONDONTWRITEBYTECODE": "1",
}


@dataclass(frozen=True)
class Ran:
    """status is None after a timeout. stdout and stderr are text, their ends cut off."""

    status: int | None
    stdout: str
    stderr: str


def run(command, *, timeout=60, env=None, cwd="/tmp", stdin="", keep=1_000_000):
    """Run a command (a list) with a clean environment plus env. Afterwards nothing that it started is left.

    timeout in seconds; keep: how many bytes of each output are returned."""
    argv = ["prlimit", *LIMITS, "--", *USER, "--", *map(str, command)]
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        given.write(stdin.encode() if isinstance(stdin, str) else stdin)
        given.seek(0)
        environment = {**ENVIRONMENT, **(env or {})}
        try:
            status = subprocess.run(
                argv, stdin=given, stdout=out, stderr=err, cwd=cwd, env=environment, timeout=timeout, check=False
            ).returncode
        except subprocess.TimeoutExpired:
            status = None
        finally:
            end_leftovers()
        return Ran(status, _head(out, keep), _head(err, keep))


def end_leftovers():
    """Kill every process of the user, whatever session or parent it has."""
    subprocess.run(
        [*USER, "--", "/bin/bash", "-c", "kill -KILL -1"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=ENVIRONMENT,
        timeout=30,
        check=False,
    )


@contextlib.contextmanager
def scratch():
    """A new folder that belongs to the user; gone afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="scratch-"))
    hand_over(folder)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def hand_over(folder):
    """Give a folder and all below it to the user."""
    for path in (folder, *Path(folder).rglob("*")):
        os.chown(path, UID, UID, follow_symlinks=False)


def open_up(folder):
    """Let the user read a folder and all below it. test.sh does so for /app."""
    for path in (Path(folder), *Path(folder).rglob("*")):
        mode = path.lstat().st_mode
        if stat.S_ISDIR(mode):
            path.chmod(stat.S_IMODE(mode) | 0o555)
        elif stat.S_ISREG(mode):
            path.chmod(stat.S_IMODE(mode) | (0o555 if mode & 0o111 else 0o444))


def read(path, *, limit=10_000_000, encoding="utf-8"):
    """The text of a regular file (bytes with encoding=None). A link, a pipe, a missing or an overlong file fails the test."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as error:
        raise AssertionError(f"{path}: {error.strerror}") from error
    with open(handle, "rb") as file:
        assert stat.S_ISREG(os.fstat(handle).st_mode), f"{path} is not a regular file"
        data = file.read(limit + 1)
    assert len(data) <= limit, f"{path} is longer than {limit} bytes"
    return data if encoding is None else data.decode(encoding)


def _head(file, keep):
    file.seek(0)
    return file.read(keep).decode(errors="replace")
