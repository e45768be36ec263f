"""One command in a container: started, its output read within a cap, ended at its limits."""

import secrets
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files

from sandbox.api import ExecResult
from sandbox.capped import CappedOutput
from sandbox.daemon import Connection, Daemon, Refusal
from sandbox.errors import EngineUnavailable
from sandbox.frames import STDERR, STDOUT, FrameParser

# Beyond its cap output is only counted; a command that prints this many times the cap is ended.
RUNAWAY = 8
# The engine passes one argument or variable of at most 128 KB; a longer command goes in parts (4 bytes a character).
_PART = 30_000
_MOST = 1_500_000
_POLL_SEC = 1.0
# Seen of runc 1.1 under load: the first process of an exec dies before it becomes the command.
_RUNTIME_BROKE = (b"read init-p: connection reset by peer", b"read init-p: EOF")
_MORE_STARTS = 3
_KILL_SEC = 15.0
_RUN = files("sandbox").joinpath("scripts/run_command.sh").read_text(encoding="utf-8")
_KILL = files("sandbox").joinpath("scripts/kill_younger.sh").read_text(encoding="utf-8")


@dataclass(frozen=True)
class Request:
    command: str | Sequence[str]
    timeout_sec: float
    user: str | None
    env: Mapping[str, str]
    workdir: str | None
    output_limit: int


@dataclass(frozen=True)
class Outcome:
    """`result`; whether the container still obeys (else it has to be ended whole); whether the end came unannounced."""

    result: ExecResult
    obeys: bool = True
    cut_short: bool = False


class MarkedStream:
    """One output stream: what stands between our own lines, which begin with a mark that nobody else knows."""

    def __init__(self, mark: bytes, cap: int) -> None:
        self._mark = mark
        self._held = b""
        self.output = CappedOutput(cap)
        self.lines: list[list[bytes]] = []

    def feed(self, part: bytes, lines_expected: int) -> None:
        data = self._held + part
        self._held = b""
        while len(self.lines) < lines_expected:
            at = data.find(self._mark)
            if at < 0:
                keep = min(len(data), len(self._mark) - 1)
                self.output.add(data[: len(data) - keep])
                self._held = data[len(data) - keep :]
                return
            self.output.add(data[:at])
            line, newline, rest = data[at:].partition(b"\n")
            if not newline:
                self._held = data[at:]
                return
            self.lines.append(line.split()[1:])
            data = rest

    def finish(self) -> None:
        self.output.add(self._held)
        self._held = b""


def argument_vector(command: str | Sequence[str]) -> list[str]:
    """The arguments that run a command; a string goes to `bash -c`, in parts when it is too long for one argument."""
    if not isinstance(command, str):
        return list(command)
    if len(command) <= _PART:
        return ["bash", "-c", command]
    parts = [command[at : at + _PART] for at in range(0, len(command), _PART)]
    joined = "".join(f"${{{number}}}" for number in range(1, len(parts) + 1))
    return ["bash", "-c", f'_forge="{joined}"; set --; eval "$_forge"', "bash", *parts]


def run_command(daemon: Daemon, container: str, request: Request) -> Outcome:
    """Run a command to its end or to its limits. Raises Refusal when the container does not run."""
    began = time.monotonic()
    arguments = argument_vector(request.command)
    if any("\0" in argument for argument in arguments):
        return Outcome(_refused(b"a command cannot contain NUL bytes", began))
    if sum(len(argument.encode(errors="replace")) for argument in arguments) > _MOST:
        return Outcome(_refused(b"argument list too long", began))
    outcome = _Run(daemon, container, request, began).outcome(arguments)
    for _ in range(_MORE_STARTS):
        if not start_may_pass(outcome.result):
            break
        outcome = _Run(daemon, container, request, began).outcome(arguments)
    return outcome


def start_may_pass(result: ExecResult) -> bool:
    """Whether the engine's runtime broke down before the command began, for no reason of the command's."""
    refused = result.exit_code in (126, 127, 128) and b"OCI runtime exec failed" in result.stderr[:400]
    return refused and any(sign in result.stderr for sign in _RUNTIME_BROKE)


def _refused(why: bytes, began: float) -> ExecResult:
    return ExecResult(126, b"", b"sandbox: " + why + b"\n", time.monotonic() - began)


class _Run:
    def __init__(self, daemon: Daemon, container: str, request: Request, began: float) -> None:
        self._daemon = daemon
        self._container = container
        self._request = request
        self._began = began
        self._mark = f"forge-{secrets.token_hex(12)}"
        self._parser = FrameParser()
        self._out = MarkedStream(self._mark.encode(), request.output_limit)
        self._err = MarkedStream(self._mark.encode(), request.output_limit)

    def outcome(self, arguments: list[str]) -> Outcome:
        env = {**self._request.env, "FORGE_MARK": self._mark, "FORGE_ARGC": str(len(arguments))}
        env |= {f"FORGE_ARG_{index}": argument for index, argument in enumerate(arguments)}
        body = {
            "Cmd": ["/bin/sh", "-c", _RUN],
            "Env": [f"{name}={value}" for name, value in env.items()],
            "AttachStdin": True,
            "AttachStdout": True,
            "AttachStderr": True,
            "User": self._request.user or "",
            "WorkingDir": self._request.workdir or "",
        }
        exec_id = self._daemon.exec_create(self._container, body)
        connection = self._daemon.exec_start(exec_id)
        try:
            ended_by = self._read(connection, exec_id)
        finally:
            connection.close()  # before the killer: the engine starts no further command beside a stream that is stuck
        killed, obeys = self._kill() if ended_by in ("timeout", "output") else (None, True)
        self._out.finish()
        self._err.finish()
        return Outcome(self._result(exec_id, ended_by, killed), obeys, ended_by == "gone")

    def _read(self, connection: Connection, exec_id: str) -> str:
        """Why reading ended: "done" (our last lines came), "gone" (the wrapper died), "timeout" or "output"."""
        deadline = self._began + self._request.timeout_sec
        most = RUNAWAY * self._request.output_limit
        while True:
            left = deadline - time.monotonic()
            if left <= 0:
                return "timeout"
            try:
                chunk = connection.receive(min(left, _POLL_SEC))
            except TimeoutError:
                if left > _POLL_SEC and not self._daemon.exec_inspect(exec_id)["Running"]:
                    return "gone"
                continue
            except OSError:
                return "gone"
            if not chunk:
                return "gone"
            self._feed(chunk)
            if len(self._out.lines) == 2 and self._err.lines:
                return "done"
            if max(self._out.output.total, self._err.output.total) > most:
                return "output"

    def _feed(self, chunk: bytes) -> None:
        for stream, part in self._parser.feed(chunk):
            if stream == STDOUT:
                self._out.feed(part, 2)
            elif stream == STDERR:
                self._err.feed(part, 1)

    def _kill(self) -> tuple[int | None, bool]:
        """(oom kills so far, whether all that the command started has ended)."""
        if not self._out.lines or not self._out.lines[0][0].isdigit():
            return None, False
        try:
            if tools_were_replaced(self._daemon.changed_paths(self._container)):
                return None, False
            answer = _ask(self._daemon, self._container, ["/bin/sh", "-c", _KILL, "sh", self._out.lines[0][0].decode()])
        except (Refusal, EngineUnavailable):
            return None, False
        words = answer.split()
        if len(words) == 2 and words[0] == b"clean" and words[1].isdigit():
            return int(words[1]), True
        return None, False

    def _exit_code(self, exec_id: str) -> int | None:
        """The engine's word on a command whose streams have ended; it may come a moment later."""
        for _ in range(40):
            found = self._daemon.exec_inspect(exec_id)
            if not found["Running"]:
                return int(found["ExitCode"])
            time.sleep(0.05)
        return None

    def _result(self, exec_id: str, ended_by: str, killed: int | None) -> ExecResult:
        code: int | None = None
        if ended_by == "done":
            code = _number(self._out.lines[1][0])
            killed = _number(self._out.lines[1][1])
        elif ended_by == "gone":
            code = self._exit_code(exec_id)
            if not self._out.lines:  # it never started: what there is is the engine's message
                self._err, self._out = self._out, self._err
        before = _number(self._out.lines[0][1]) if self._out.lines and len(self._out.lines[0]) > 1 else None
        return ExecResult(
            exit_code=code,
            stdout=self._out.output.value(),
            stderr=self._err.output.value(),
            duration_sec=time.monotonic() - self._began,
            stdout_truncated=self._out.output.truncated,
            stderr_truncated=self._err.output.truncated,
            timed_out=ended_by == "timeout",
            output_limit=ended_by == "output",
            oom_killed=killed is not None and before is not None and killed > before,
        )


def _number(word: bytes) -> int | None:
    return int(word) if word.isdigit() else None


def tools_were_replaced(changed: Sequence[str]) -> bool:
    """Whether the shell, or a library that it loads, differs from the image: then its word counts for nothing."""
    shells = ("sh", "dash", "bash", "ash", "busybox")
    libraries = ("ld-linux", "ld-musl", "libc.so", "libc.musl", "libtinfo.so")
    for path in changed:
        name = path.rpartition("/")[2]
        if path == "/etc/ld.so.preload" or (name in shells and path.startswith(("/bin/", "/usr/bin/"))):
            return True
        if name.startswith(libraries) and path.startswith(("/lib", "/usr/lib")):
            return True
    return False


def _ask(daemon: Daemon, container: str, arguments: list[str]) -> bytes:
    """Run a short command of ours as root and return what it printed within a deadline, at most 64 KB."""
    body = {"Cmd": arguments, "AttachStdout": True, "AttachStderr": True, "User": "0"}
    connection = daemon.exec_start(daemon.exec_create(container, body))
    parser = FrameParser()
    answer = b""
    deadline = time.monotonic() + _KILL_SEC
    try:
        while len(answer) < 65536 and (left := deadline - time.monotonic()) > 0:
            chunk = connection.receive(left)
            if not chunk:
                break
            answer += b"".join(part for stream, part in parser.feed(chunk) if stream == STDOUT)
    except OSError:
        pass  # no answer in time: what there is decides
    finally:
        connection.close()
    return answer
