"""The protocol of this floor: what an engine and a sandbox can do, whichever they are.

Engine.build(ImageSpec) -> Image        content-addressed; built once
Engine.start(image, Machine, Owner)     -> Sandbox, running; use it in a `with` block
Sandbox.exec / put / get / collect / stop / close
Engine.sweep(run)                       ends what a run has left behind
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from types import TracebackType
from typing import BinaryIO, Protocol, Self

from sandbox.tree import Tree


class Network(StrEnum):
    NONE = "none"
    PUBLIC = "public"


class EndReason(StrEnum):
    """Why a container is no longer running although nobody closed it."""

    DISK = "disk"
    HOST_FULL = "host_full"
    MEMORY = "memory"
    UNRESPONSIVE = "unresponsive"
    EXITED = "exited"


OWN_ENDS = frozenset({EndReason.DISK, EndReason.MEMORY, EndReason.UNRESPONSIVE})
"""The doing of what ran in the container, which used up its allowance. Any other end is not."""


@dataclass(frozen=True)
class Limits:
    """What a container may use. cpus in cores, the rest as named; pids counts processes and threads."""

    cpus: float = 1.0
    memory_mb: int = 1024
    pids: int = 256
    disk_mb: int = 2048


@dataclass(frozen=True)
class Machine:
    """How a container is started."""

    limits: Limits = Limits()
    network: Network = Network.NONE
    env: Mapping[str, str] = field(default_factory=dict)
    workdir: str | None = None


@dataclass(frozen=True)
class Owner:
    """Labels of everything that is made: which run, and which candidate, it belongs to."""

    run: str
    candidate: str = ""


@dataclass(frozen=True)
class ImageSpec:
    """A build context with a Dockerfile at its root, or, with an empty context, an image to use as it is."""

    context: Tree
    docker_image: str | None = None
    timeout_sec: float = 600.0
    build_args: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Image:
    """A built image. `substitutes` lists (asked, used) base images that were mapped to a stand-in."""

    id: str
    tag: str
    log: str = ""
    substitutes: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class ExecResult:
    """What a command did. stdout and stderr are bytes as they came, at most the cap each (head and tail kept).

    exit_code is None when the command was ended by us: timed_out, or output_limit for one that printed too much.
    oom_killed says that the container's memory allowance killed a process meanwhile."""

    exit_code: int | None
    stdout: bytes
    stderr: bytes
    duration_sec: float
    stdout_truncated: bool = False
    stderr_truncated: bool = False
    timed_out: bool = False
    output_limit: bool = False
    oom_killed: bool = False


@dataclass(frozen=True)
class CopyLimits:
    """Bounds on what is read back from a container."""

    max_bytes: int = 512 << 20
    max_files: int = 50_000


@dataclass(frozen=True)
class CopiedFile:
    """One member of a collected tree: its absolute path, kind ("file", "folder", "link"), size, sha256 of a file."""

    path: str
    kind: str
    size: int = 0
    sha256: str = ""


@dataclass(frozen=True)
class Collected:
    """What `collect` brought back. `missing` and `refused` (path, why) are those declared paths that did not come."""

    files: tuple[CopiedFile, ...] = ()
    missing: tuple[str, ...] = ()
    refused: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Swept:
    """What a sweep removed, by kind."""

    containers: int = 0
    networks: int = 0
    images: int = 0


class Sandbox(Protocol):
    """A running container. All calls block; `close` is idempotent, safe from other threads, ends a running exec."""

    @property
    def id(self) -> str: ...

    @property
    def ended(self) -> EndReason | None:
        """Why the container is no longer running, None while it runs."""
        ...

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
        """Run a command; a string is run by `bash -c`. user None is the image's user.

        output_limit is in bytes and holds for stdout and stderr each. After a timeout nothing that the command started
        is running any more; what earlier commands started lives on.

        Raises SandboxGone when the container has ended, EngineUnavailable."""
        ...

    def put(self, tree: Tree, dest: str, *, owner_uid: int = 0) -> None:
        """Copy a tree below the absolute folder `dest`, which is made if it is not there. Modes are kept."""
        ...

    def put_archive(self, archive: BinaryIO) -> None:
        """Unpack a tar made by `collect` at `/`. Allowed before and after `stop`."""
        ...

    def get(self, path: str, limits: CopyLimits = CopyLimits()) -> Tree:
        """Read a folder (or one file, whose Tree then has its base name) back; links are refused.

        Raises CopyRefused, PathMissing, SandboxGone."""
        ...

    def collect(self, paths: Sequence[str], out: BinaryIO, limits: CopyLimits = CopyLimits()) -> Collected:
        """Write a clean tar of several absolute paths to `out`; works after `stop`.

        A path that is missing or hostile is left out whole and listed in the result. Raises SandboxError for what the
        engine does not send whole, which says nothing of what is there."""
        ...

    def stop(self) -> None:
        """End every process at once (no grace). Files can still be copied out."""
        ...

    def close(self) -> None:
        """End and remove the container."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


class Engine(Protocol):
    """Where images are built and containers run. Safe to use from many threads."""

    def build(self, spec: ImageSpec, owner: Owner) -> Image:
        """The image of a context: looked up by content, else built.

        Raises BuildFailed, BuildTimedOut, ContextRefused, ImageMissing, HostFull, EngineUnavailable."""
        ...

    def start(self, image: Image, machine: Machine, owner: Owner) -> Sandbox:
        """A running container; of more cores than there are it gets all.

        Raises ImageMissing, ContextRefused, StartFailed, HostFull, EngineUnavailable."""
        ...

    def image_files(self, image: Image) -> Sequence[str]:
        """Absolute paths of all files in every layer of an image, deleted ones included."""
        ...

    def drop(self, image: Image) -> None:
        """Remove an image that `build` made, unless a container uses it. Base images stay."""
        ...

    def sweep(self, run: str) -> Swept:
        """End and remove what a run left: containers, networks, dangling images, build leftovers."""
        ...

    def cancel(self) -> None:
        """End every build and container of this engine at once; nothing new begins. Sweeping and closing still work."""
        ...

    def close(self) -> None:
        """End this engine's own watchers and connections, and every container that it started and that still runs."""
        ...
