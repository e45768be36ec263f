"""A running container as a Sandbox."""

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from types import TracebackType
from typing import Any, BinaryIO, Self

from sandbox.api import Collected, CopyLimits, EndReason, ExecResult, Image, Machine, Network
from sandbox.copying import archive_of, collect_from, get_tree, put_tree
from sandbox.daemon import Daemon, Refusal
from sandbox.errors import ContextRefused, HostFull, ImageMissing, SandboxError, SandboxGone, StartFailed
from sandbox.execution import Request, run_command
from sandbox.tree import Tree

# PID 1, our init: bash, which reaps orphans between waits on a pipe that nobody writes to. It has no child of its own
# that could be ended, and no signal from inside ends it. (Docker's own init ends when its child does, so that a
# command's `kill -9 -1` would end the container.) The image's own command is not trusted to stay, or to be harmless.
IDLE = ("bash", "-c", "trap '' {1..16} {18..64}; trap : ALRM; exec 3<> <(:); while :; do read -r -t 0.25 -u 3; done")
# What package managers and services need: owners and modes of files, other users' processes, ports below 1024,
# chroot (sshd, postfix), file capabilities in packages, login records. Not: raw sockets, devices, mounts, tracing.
CAPABILITIES = (
    "AUDIT_WRITE",
    "CHOWN",
    "DAC_OVERRIDE",
    "FOWNER",
    "FSETID",
    "KILL",
    "NET_BIND_SERVICE",
    "SETFCAP",
    "SETGID",
    "SETUID",
    "SYS_CHROOT",
)
COPY_LIMITS = CopyLimits()
# The engine's words where what a Dockerfile or a task's config says cannot be had; some come as errors of its own.
_NOT_TO_BE_HAD = ("unable to find user", "unable to find group", "no matching entries in", "not a directory")


def container_body(image: str, machine: Machine, labels: Mapping[str, str]) -> dict[str, Any]:
    """What the engine is asked to create."""
    limits = machine.limits
    memory = limits.memory_mb << 20
    return {
        "Image": image,
        "Entrypoint": [],
        "Cmd": list(IDLE),
        "Env": [f"{name}={value}" for name, value in machine.env.items()],
        "WorkingDir": machine.workdir or "",
        "Labels": dict(labels),
        "Healthcheck": {"Test": ["NONE"]},
        "NetworkDisabled": machine.network is Network.NONE,
        "HostConfig": {
            "NanoCpus": int(limits.cpus * 1e9),
            "Memory": memory,
            "MemorySwap": memory,
            "PidsLimit": limits.pids,
            "SecurityOpt": ["no-new-privileges"],
            "CapDrop": ["ALL"],
            "CapAdd": list(CAPABILITIES),
            "NetworkMode": "none" if machine.network is Network.NONE else "bridge",
            "LogConfig": {"Type": "none"},
            "Init": False,
        },
    }


def start_error(image: Image, error: Refusal) -> SandboxError:
    """What a refusal to create or start a container means: the engine is there, so it is never EngineUnavailable."""
    name, said = image.tag or image.id, str(error)
    if error.status == 404:
        return ImageMissing(f"image {name} is not in the engine")
    if "executable file not found" in said:
        return ContextRefused(f"image {name} has no bash, which a sandbox needs")
    if error.status == 400 or any(words in said for words in _NOT_TO_BE_HAD):
        return ContextRefused(f"image {name} cannot be started as asked: {said}")
    return StartFailed(f"the engine cannot start a container of image {name}: {said}")


class DockerSandbox:
    """Implements `Sandbox`; made by DockerEngine.start."""

    def __init__(self, daemon: Daemon, container: str, disk_mb: int, forget: Callable[["DockerSandbox"], None]) -> None:
        self._daemon = daemon
        self._container = container
        self._forget = forget
        self._ended: EndReason | None = None
        self._stopped = False
        self._closed = False
        self._lock = threading.Lock()
        self.disk_mb = disk_mb  # the allowance that the watcher holds it to

    @property
    def id(self) -> str:
        return self._container

    @property
    def ended(self) -> EndReason | None:
        return self._ended

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
        self._check_running()
        request = Request(command, timeout_sec, user, env or {}, workdir, output_limit)
        try:
            outcome = run_command(self._daemon, self._container, request)
        except Refusal as error:
            raise self._gone(error) from error
        if not outcome.obeys:
            self.end(EndReason.UNRESPONSIVE)
        elif outcome.cut_short:
            self._check_after_cut()
        return outcome.result

    def put(self, tree: Tree, dest: str, *, owner_uid: int = 0) -> None:
        with self._translating():
            put_tree(self._daemon, self._container, tree, dest, owner_uid)

    def put_archive(self, archive: BinaryIO) -> None:
        with self._translating():
            self._daemon.write_archive(self._container, archive)

    def get(self, path: str, limits: CopyLimits = COPY_LIMITS) -> Tree:
        with self._translating():
            return get_tree(self._daemon, self._container, path, limits)

    def collect(self, paths: Sequence[str], out: BinaryIO, limits: CopyLimits = COPY_LIMITS) -> Collected:
        with self._translating():
            return collect_from(self._archive_of, paths, out, limits)

    def _archive_of(self, path: str) -> Iterator[bytes]:
        return archive_of(self._daemon, self._container, path)

    def stop(self) -> None:
        with self._lock:
            already = self._stopped or self._closed
            self._stopped = True
        if not already:
            self._kill()

    def end(self, reason: EndReason) -> None:
        """End every process because of a limit; files can still be copied out."""
        with self._lock:
            if self._ended is None and not self._stopped and not self._closed:
                self._ended = reason
        self._kill()

    def close(self) -> None:
        with self._lock:
            if self._closed:
                return
            self._closed = True
        try:
            self._daemon.remove_container(self._container)
        except Refusal as error:
            if error.status not in (404, 409):  # gone, or being removed by somebody else
                raise
        finally:
            self._forget(self)

    def note_exit(self, state: Mapping[str, Any]) -> None:
        """Take note of the engine's word on a container that no longer runs."""
        with self._lock:
            over = state["Status"] in ("exited", "dead")  # and not "created": it may be on the way up
            if self._ended is None and not self._stopped and not self._closed and over:
                self._ended = EndReason.MEMORY if state["OOMKilled"] else EndReason.EXITED

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _kill(self) -> None:
        try:
            self._daemon.kill_container(self._container)
        except Refusal as error:
            if error.status not in (404, 409):  # not running any more
                raise

    def _check_running(self) -> None:
        if self._closed or self._stopped or self._ended is not None:
            raise self._gone(None)

    def _check_after_cut(self) -> None:
        try:
            self.note_exit(self._daemon.inspect_container(self._container)["State"])
        except Refusal as error:
            raise self._gone(error) from error
        self._check_running()

    def _gone(self, error: Refusal | None) -> SandboxError:
        """What to raise. A container that was ended for the host's sake did nothing wrong."""
        if error is not None and self._ended is None and not self._closed and not self._stopped:
            with suppress(Refusal):  # removed by somebody else: the reason stays unknown
                self.note_exit(self._daemon.inspect_container(self._container)["State"])
        if self._ended is EndReason.HOST_FULL:
            return HostFull(f"sandbox {self._container[:12]} was ended since the engine's disk was nearly full")
        reason = self._ended.value if self._ended else "closed" if self._closed or self._stopped else "unknown"
        return SandboxGone(f"sandbox {self._container[:12]} is no longer running ({reason})", reason)

    def _translating(self) -> "_Translating":
        return _Translating(self)

    def translate(self, error: Refusal) -> SandboxError | None:
        """SandboxGone (or HostFull) for the engine's word that there is no such container, else None."""
        return self._gone(error) if error.status in (404, 409) else None


def close_all(sandboxes: Iterable[DockerSandbox]) -> None:
    """Close each, also after one that cannot be closed; the error of that is raised at the end."""
    with ExitStack() as stack:
        for sandbox in sandboxes:
            stack.callback(sandbox.close)


class _Translating:
    """Turns the engine's refusals while copying into SandboxGone where the container is the reason."""

    def __init__(self, sandbox: DockerSandbox) -> None:
        self._sandbox = sandbox

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, Refusal):
            gone = self._sandbox.translate(error)
            if gone is not None:
                raise gone from error
