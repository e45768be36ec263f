"""What the fake shell and its programs share: a call, its answer, the clock, the jobs in the background."""

import posixpath
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from sandbox.fake_files import FakeFiles


class FakeTimeout(Exception):
    """The command's time is spent."""


class FakeParked(Exception):
    """A background job has come to a sleep; it is left there."""

    def __init__(self, until: float) -> None:
        super().__init__(until)
        self.until = until


@dataclass
class Clock:
    """Seconds that only pass when something sleeps. `deadline` ends the command in front; background jobs park."""

    now: float = 0.0
    deadline: float = float("inf")
    in_background: bool = False
    steps_left: int = 200_000

    def sleep(self, seconds: float) -> None:
        if self.in_background:
            raise FakeParked(self.now + seconds)
        if self.now + seconds >= self.deadline:
            self.now = self.deadline
            raise FakeTimeout
        self.now += seconds

    def step(self) -> None:
        """One command; a loop without end runs out of time."""
        self.steps_left -= 1
        if self.steps_left < 0:
            self.now = self.deadline
            raise FakeTimeout


@dataclass
class Job:
    """A background process: alive until its time on the clock, or until it is killed."""

    pid: int
    command: int
    until: float


@dataclass
class Jobs:
    """All background processes of a sandbox; `command` numbers the exec calls."""

    command: int = 0
    last_pid: int = 100
    jobs: dict[int, Job] = field(default_factory=dict)

    def add(self, until: float) -> int:
        self.last_pid += 1
        self.jobs[self.last_pid] = Job(self.last_pid, self.command, until)
        return self.last_pid

    def alive(self, pid: int, now: float) -> bool:
        return pid in self.jobs and self.jobs[pid].until > now

    def kill(self, pid: int) -> None:
        self.jobs.pop(pid, None)

    def kill_younger(self, command: int) -> None:
        self.jobs = {pid: job for pid, job in self.jobs.items() if job.command < command}


@dataclass(frozen=True)
class Call:
    """What a program gets: args[0] is its own name; paths are resolved by `path`."""

    args: Sequence[str]
    env: Mapping[str, str]
    stdin: bytes
    files: FakeFiles
    cwd: str
    user: str
    clock: Clock
    jobs: Jobs

    def path(self, name: str) -> str:
        return posixpath.normpath(posixpath.join(self.cwd, name))

    def options(self) -> tuple[set[str], list[str]]:
        """Single-letter options, and the other arguments."""
        letters: set[str] = set()
        rest: list[str] = []
        for arg in self.args[1:]:
            if len(arg) > 1 and arg[0] == "-" and not arg.startswith("--"):
                letters.update(arg[1:])
            elif arg != "--":
                rest.append(arg)
        return letters, rest


@dataclass(frozen=True)
class Answer:
    exit_code: int = 0
    stdout: bytes = b""
    stderr: bytes = b""


Program = Callable[[Call], Answer]


def failed(call: Call, message: str, code: int = 1) -> Answer:
    return Answer(code, b"", f"{call.args[0]}: {message}\n".encode())


def user_id(files: FakeFiles, user: str) -> int | None:
    """The uid of a name or number, None for a name that is not in /etc/passwd."""
    if user.isdigit():
        return int(user)
    for line in files.read("/etc/passwd").decode(errors="replace").splitlines():
        parts = line.split(":")
        if parts[0] == user and len(parts) > 2:
            return int(parts[2])
    return None
