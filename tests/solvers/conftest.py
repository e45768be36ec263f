"""What the tests of this floor share: a sandbox whose commands are a function, and a call log in memory."""

import threading
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import BinaryIO, Self

import pytest

from sandbox.api import Collected, CopyLimits, EndReason, ExecResult
from sandbox.tree import Tree
from solvers.model import Reply, Request

Run = Callable[[str], ExecResult]


class FunctionSandbox:
    """Implements sandbox.api.Sandbox: `run` answers commands or raises. commands: (command, timeout, user, workdir)."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.commands: list[tuple[str, float, str | None, str | None]] = []
        self.envs: list[dict[str, str]] = []
        self.trees: dict[str, Tree] = {}

    @property
    def id(self) -> str:
        return "function"

    @property
    def ended(self) -> EndReason | None:
        return None

    def exec(
        self,
        command: str | Sequence[str],
        *,
        timeout_sec: float,
        user: str | None = None,
        env: Mapping[str, str] | None = None,
        workdir: str | None = None,
        output_limit: int = 1 << 20,
    ) -> ExecResult:
        text = command if isinstance(command, str) else " ".join(command)
        self.commands.append((text, timeout_sec, user, workdir))
        self.envs.append(dict(env or {}))
        return self.run(text)

    def put(self, tree: Tree, dest: str, *, owner_uid: int = 0) -> None:
        self.trees[dest] = tree

    def put_archive(self, archive: BinaryIO) -> None:
        raise NotImplementedError

    def get(self, path: str, limits: CopyLimits = CopyLimits()) -> Tree:  # noqa: B008
        raise NotImplementedError

    def collect(
        self,
        paths: Sequence[str],
        out: BinaryIO,
        limits: CopyLimits = CopyLimits(),  # noqa: B008
    ) -> Collected:
        raise NotImplementedError

    def stop(self) -> None: ...

    def close(self) -> None: ...

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


def said(text: str, *, exit_code: int = 0, duration_sec: float = 0.5) -> ExecResult:
    return ExecResult(exit_code, text.encode(), b"", duration_sec)


class MemoryLog:
    """A CallLog in memory. `rows` in the order of their recording."""

    def __init__(self) -> None:
        self.rows: list[tuple[str, str, int, Request, Reply]] = []
        self._lock = threading.Lock()

    def find(self, unit: str, digest: str, sample: int) -> Reply | None:
        with self._lock:
            for row in self.rows:
                if row[:3] == (unit, digest, sample):
                    return row[4]
        return None

    def record(self, unit: str, digest: str, sample: int, request: Request, reply: Reply) -> None:
        with self._lock:
            self.rows.append((unit, digest, sample, request, reply))


@pytest.fixture
def make_sandbox() -> Callable[[Run], FunctionSandbox]:
    return FunctionSandbox


@pytest.fixture
def echo_sandbox() -> FunctionSandbox:
    """Prints the command that it is given."""
    return FunctionSandbox(lambda command: said(f"ran {command}\n"))


@pytest.fixture
def call_log() -> MemoryLog:
    return MemoryLog()
