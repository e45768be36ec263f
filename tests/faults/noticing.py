"""An engine that tells of every call before and after it: where a KillSwitch can strike."""

from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import BinaryIO, Self, TypeVar

from forge.factory.passing_engine import PassingEngine
from sandbox.api import (
    Collected,
    CopyLimits,
    EndReason,
    Engine,
    ExecResult,
    Image,
    ImageSpec,
    Machine,
    Owner,
    Sandbox,
    Swept,
)
from sandbox.tree import Tree

T = TypeVar("T")
DEFAULT_LIMITS = CopyLimits()
Notice = Callable[[str], None]
"""Gets "before NAME" and "after NAME" of each call."""


class NoticingEngine(PassingEngine):
    """Its sandboxes tell of their calls as well. Its own `cancel` and `close` are not told."""

    def __init__(self, engine: Engine, notice: Notice) -> None:
        super().__init__(engine)
        self._notice = notice

    def build(self, spec: ImageSpec, owner: Owner) -> Image:
        return _told(self._notice, "build", lambda: super(NoticingEngine, self).build(spec, owner))

    def start(self, image: Image, machine: Machine, owner: Owner) -> Sandbox:
        sandbox = _told(self._notice, "start", lambda: super(NoticingEngine, self).start(image, machine, owner))
        return NoticingSandbox(sandbox, self._notice)

    def image_files(self, image: Image) -> Sequence[str]:
        return _told(self._notice, "image_files", lambda: super(NoticingEngine, self).image_files(image))

    def drop(self, image: Image) -> None:
        _told(self._notice, "drop", lambda: super(NoticingEngine, self).drop(image))

    def sweep(self, run: str) -> Swept:
        return _told(self._notice, "sweep", lambda: super(NoticingEngine, self).sweep(run))


class NoticingSandbox:
    """sandbox.api.Sandbox around another one."""

    def __init__(self, sandbox: Sandbox, notice: Notice) -> None:
        self._sandbox = sandbox
        self._notice = notice

    @property
    def id(self) -> str:
        return self._sandbox.id

    @property
    def ended(self) -> EndReason | None:
        return self._sandbox.ended

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
        def run() -> ExecResult:
            return self._sandbox.exec(
                command, timeout_sec=timeout_sec, user=user, env=env, workdir=workdir, output_limit=output_limit
            )

        return _told(self._notice, "exec", run)

    def put(self, tree: Tree, dest: str, *, owner_uid: int = 0) -> None:
        _told(self._notice, "put", lambda: self._sandbox.put(tree, dest, owner_uid=owner_uid))

    def put_archive(self, archive: BinaryIO) -> None:
        _told(self._notice, "put_archive", lambda: self._sandbox.put_archive(archive))

    def get(self, path: str, limits: CopyLimits = DEFAULT_LIMITS) -> Tree:
        return _told(self._notice, "get", lambda: self._sandbox.get(path, limits))

    def collect(self, paths: Sequence[str], out: BinaryIO, limits: CopyLimits = DEFAULT_LIMITS) -> Collected:
        return _told(self._notice, "collect", lambda: self._sandbox.collect(paths, out, limits))

    def stop(self) -> None:
        _told(self._notice, "stop", self._sandbox.stop)

    def close(self) -> None:
        _told(self._notice, "close", self._sandbox.close)

    def __enter__(self) -> Self:
        self._sandbox.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._notice("before close")
        self._sandbox.__exit__(kind, error, trace)
        self._notice("after close")


def _told(notice: Notice, name: str, call: Callable[[], T]) -> T:
    notice(f"before {name}")
    value = call()
    notice(f"after {name}")
    return value
