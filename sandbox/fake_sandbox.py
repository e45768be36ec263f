"""A sandbox in memory."""

import io
import posixpath
import tarfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import TracebackType
from typing import BinaryIO, Self

from sandbox.api import Collected, CopyLimits, EndReason, ExecResult, Machine, Owner
from sandbox.archive import tree_of
from sandbox.capped import CappedOutput
from sandbox.copying import checked, collect_from
from sandbox.errors import CopyRefused, PathMissing, SandboxGone
from sandbox.execution import RUNAWAY
from sandbox.fake_build import FakeImage
from sandbox.fake_builtins import Streams
from sandbox.fake_files import Node
from sandbox.fake_process import Clock, FakeTimeout, Jobs, Program, user_id
from sandbox.fake_shell import Shell
from sandbox.tree import Tree

_COPY_LIMITS = CopyLimits()


class FakeSandbox:
    """Implements `Sandbox`; made by FakeEngine.start. Time passes only when a command sleeps."""

    def __init__(
        self,
        name: str,
        image: FakeImage,
        machine: Machine,
        owner: Owner,
        programs: Mapping[str, Program],
        on_event: Callable[[str], None],
        forget: "Callable[[FakeSandbox], None]",
    ) -> None:
        self.image = image
        self.owner = owner
        self.files = image.files.copy()
        self._name = name
        self._machine = machine
        self._programs = programs
        self._on_event = on_event
        self._forget = forget
        self._clock = Clock()
        self._jobs = Jobs()
        self._ended: EndReason | None = None
        self._stopped = False
        self._closed = False
        self._lock = threading.RLock()

    @property
    def id(self) -> str:
        return self._name

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
        self._on_event("exec")
        with self._lock:
            self._check_running()
            shell = self._shell(user, env or {}, workdir, timeout_sec)
            streams = Streams(b"", bytearray(), bytearray())
            refused = self._refusal(command, shell)
            if refused:
                return ExecResult(126, b"", f"{refused}\n".encode(), 0.0)
            began, timed_out = self._clock.now, False
            code: int | None = None
            try:
                code = _run(shell, command, streams)
            except FakeTimeout:
                timed_out = True
            result = _result(code, streams, output_limit, timed_out, self._clock.now - began)
            if result.exit_code is None:
                self._jobs.kill_younger(self._jobs.command)
            self._check_disk()
            return result

    def put(self, tree: Tree, dest: str, *, owner_uid: int = 0) -> None:
        self._on_event("put")
        self._check_there()
        self.files.put(tree, checked(dest), owner_uid)
        self._check_disk()

    def put_archive(self, archive: BinaryIO) -> None:
        self._on_event("put")
        self._check_there()
        with tarfile.open(fileobj=archive, mode="r|") as source:
            for member in source:
                self._unpack(source, member)

    def get(self, path: str, limits: CopyLimits = _COPY_LIMITS) -> Tree:
        self._on_event("get")
        self._check_there()
        path = checked(path)
        self._check_parents(path)
        return tree_of(path, self._archive(path), limits)

    def collect(self, paths: Sequence[str], out: BinaryIO, limits: CopyLimits = _COPY_LIMITS) -> Collected:
        self._on_event("collect")
        self._check_there()
        return collect_from(self._checked_archive, paths, out, limits)

    def stop(self) -> None:
        self._on_event("stop")
        self._stopped = True

    def close(self) -> None:
        if self._closed:
            return
        self._on_event("close")
        self.remove()

    def remove(self) -> None:
        """What a sweep does to it, whoever made it."""
        self._closed = True
        self._forget(self)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _shell(self, user: str | None, env: Mapping[str, str], workdir: str | None, seconds: float) -> Shell:
        self._clock.deadline = self._clock.now + seconds
        self._clock.steps_left = Clock().steps_left
        self._jobs.command += 1
        whole = {"HOME": "/root", **self.image.env, **self._machine.env, **env}
        folder = workdir or self._machine.workdir or self.image.workdir
        return Shell(self.files, self._programs, self._clock, self._jobs, whole, folder, user or self.image.user)

    def _refusal(self, command: str | Sequence[str], shell: Shell) -> str:
        if any("\0" in part for part in ([command] if isinstance(command, str) else command)):
            return "sandbox: a command cannot contain NUL bytes"
        if user_id(self.files, shell.user) is None:
            return f"unable to find user {shell.user}: no matching entries in passwd file"
        if not self.files.is_folder(shell.cwd):
            return f"chdir to {shell.cwd} failed: no such file or directory"
        return ""

    def _check_running(self) -> None:
        if self._closed or self._stopped or self._ended is not None:
            reason = self._ended.value if self._ended else "closed"
            raise SandboxGone(f"sandbox {self._name} is no longer running ({reason})", reason)

    def _check_there(self) -> None:
        if self._closed:
            raise SandboxGone(f"sandbox {self._name} is no longer running (closed)", "closed")

    def _check_disk(self) -> None:
        if self.files.size() - self.image.files.size() > self._machine.limits.disk_mb << 20:
            self._ended = EndReason.DISK

    def _check_parents(self, path: str) -> None:
        parts = path.strip("/").split("/")
        for count in range(1, len(parts)):
            parent = "/" + "/".join(parts[:count])
            if not self.files.exists(parent):
                raise PathMissing(path)
            node = self.files.node(parent, follow=False)
            if not node.is_folder:
                raise CopyRefused(path, f"its parent {parent!r} is not a real folder")

    def _checked_archive(self, path: str) -> Iterator[bytes]:
        self._check_parents(path)
        return self._archive(path)

    def _archive(self, path: str) -> Iterator[bytes]:
        """A tar of a path as the engine would make it: members named from the path's parent."""
        try:
            self.files.node(path, follow=False)
        except FileNotFoundError as error:
            raise PathMissing(path) from error
        out = io.BytesIO()
        base = posixpath.dirname(path).rstrip("/") + "/"
        with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as archive:
            for inner in [path, *self.files.below(path)]:
                node = self.files.node(inner, follow=False)
                archive.addfile(_entry(inner[len(base) :], node), io.BytesIO(node.data))
        return iter([out.getvalue()])

    def _unpack(self, source: tarfile.TarFile, member: tarfile.TarInfo) -> None:
        path = checked("/" + member.name)
        data = source.extractfile(member) if member.isreg() else None
        if data is not None:
            self.files.place(path, Node(data.read(), member.mode, uid=member.uid))
        elif member.issym():
            self.files.place(path, Node(mode=0o777, target=member.linkname))
        elif member.islnk():
            self.files.place(path, self.files.node(checked("/" + member.linkname)))
        elif member.isdir():
            self.files.make_folders(path)


def _run(shell: Shell, command: str | Sequence[str], streams: Streams) -> int:
    if isinstance(command, str):
        return shell.run(command, streams)
    return shell.run_arguments(list(command), streams)


def _result(code: int | None, streams: Streams, cap: int, timed_out: bool, seconds: float) -> ExecResult:
    out, err = CappedOutput(cap), CappedOutput(cap)
    out.add(bytes(streams.stdout))
    err.add(bytes(streams.stderr))
    result = ExecResult(code, out.value(), err.value(), seconds, out.truncated, err.truncated, timed_out)
    if not timed_out and max(out.total, err.total) > RUNAWAY * cap:
        return replace(result, exit_code=None, output_limit=True)
    return result


def _entry(name: str, node: Node) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.mode, entry.uid, entry.gid = node.mode, node.uid, node.uid
    if node.is_folder:
        entry.type = tarfile.DIRTYPE
    elif node.target is not None:
        entry.type, entry.linkname = tarfile.SYMTYPE, node.target
    else:
        entry.size = len(node.data)
    return entry
