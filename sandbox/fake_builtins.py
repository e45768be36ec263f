"""The builtins of the fake shell, and the state that they work on."""

import posixpath
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from sandbox.fake_files import FakeFiles
from sandbox.fake_process import Clock, Jobs, Program


class Exit(Exception):
    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


@dataclass
class Streams:
    """Where a command reads and writes. The two outputs may be one buffer."""

    stdin: bytes
    stdout: bytearray
    stderr: bytearray


@dataclass
class ShellState:
    """One shell process. `env` is what its commands see, `variables` what it keeps for itself."""

    files: FakeFiles
    programs: Mapping[str, Program]
    clock: Clock
    jobs: Jobs
    env: dict[str, str]
    cwd: str = "/"
    user: str = "root"
    variables: dict[str, str] = field(default_factory=dict)
    arguments: tuple[str, ...] = ()
    status: int = 0
    last_job: int = 0
    stops_on_error: bool = False
    in_condition: int = 0

    def value(self, name: str) -> str:
        """A parameter's value, "" when unset."""
        special = {"?": str(self.status), "$": "42", "!": str(self.last_job or ""), "#": str(len(self.arguments[1:]))}
        if name in special:
            return special[name]
        if name in ("@", "*"):
            return " ".join(self.arguments[1:])
        if name.isdigit():
            return self.arguments[int(name)] if int(name) < len(self.arguments) else ""
        return self.variables.get(name, self.env.get(name, ""))


def _cd(shell: ShellState, arguments: list[str], streams: Streams) -> int:
    name = arguments[1] if len(arguments) > 1 else shell.value("HOME") or "/root"
    path = posixpath.normpath(posixpath.join(shell.cwd, name))
    if not shell.files.is_folder(path):
        why = "Not a directory" if shell.files.exists(path) else "No such file or directory"
        streams.stderr += f"bash: line 1: cd: {name}: {why}\n".encode()
        return 1
    shell.cwd = path
    return 0


def _pwd(shell: ShellState, arguments: list[str], streams: Streams) -> int:
    streams.stdout += f"{shell.cwd}\n".encode()
    return 0


def _echo(shell: ShellState, arguments: list[str], streams: Streams) -> int:
    words = arguments[1:]
    options = ""
    while words and re.fullmatch(r"-[neE]+", words[0]):
        options += words.pop(0)
    text = " ".join(words).encode(errors="surrogateescape")
    streams.stdout += (_escaped(text) if "e" in options else text) + (b"" if "n" in options else b"\n")
    return 0


def _printf(shell: ShellState, arguments: list[str], streams: Streams) -> int:
    if len(arguments) < 2:
        streams.stderr += b"printf: usage: printf format [arguments]\n"
        return 2
    pattern, values = _escaped(arguments[1].encode(errors="surrogateescape")), arguments[2:]
    fields = len(re.findall(rb"%[sd]", pattern))
    while True:
        row, values = values[:fields], values[fields:]
        filled = iter(row)

        def field_of(match: re.Match[bytes], filled: "Iterable[str]" = filled) -> bytes:
            if match[0] == b"%%":
                return b"%"
            return next(iter(filled), "").encode(errors="surrogateescape")

        streams.stdout += re.sub(rb"%[sd%]", field_of, pattern)
        if not values or not fields:
            return 0


def _true(shell: ShellState, arguments: list[str], streams: Streams) -> int:
    return 0


def _false(shell: ShellState, arguments: list[str], streams: Streams) -> int:
    return 1


def _exit(shell: ShellState, arguments: list[str], streams: Streams) -> int:
    raise Exit(int(arguments[1]) & 255 if len(arguments) > 1 else shell.status)


def _set(shell: ShellState, arguments: list[str], streams: Streams) -> int:
    for option in arguments[1:]:
        if "e" in option and option[0] in "+-":
            shell.stops_on_error = option[0] == "-"
    return 0


def _export(shell: ShellState, arguments: list[str], streams: Streams) -> int:
    for word in arguments[1:]:
        name, equals, value = word.partition("=")
        shell.env[name] = value if equals else shell.value(name)
    return 0


def _unset(shell: ShellState, arguments: list[str], streams: Streams) -> int:
    for name in arguments[1:]:
        shell.env.pop(name, None)
        shell.variables.pop(name, None)
    return 0


def _wait(shell: ShellState, arguments: list[str], streams: Streams) -> int:
    ends = [job.until for job in shell.jobs.jobs.values() if job.command == shell.jobs.command]
    if ends and max(ends) > shell.clock.now:
        shell.clock.sleep(max(ends) - shell.clock.now)
    return 0


def _escaped(text: bytes) -> bytes:
    """Backslash escapes as printf and echo -e know them."""
    simple = {b"n": b"\n", b"t": b"\t", b"r": b"\r", b"\\": b"\\", b'"': b'"', b"a": b"\a"}

    def one(match: re.Match[bytes]) -> bytes:
        body = match[1]
        if body in simple:
            return simple[body]
        if body[:1] == b"x":
            return bytes([int(body[1:], 16)])
        return bytes([int(body, 8) & 255]) if body[:1].isdigit() else match[0]

    return re.sub(rb"\\(x[0-9a-fA-F]{1,2}|[0-7]{1,3}|.)", one, text, flags=re.DOTALL)


BUILTINS: Mapping[str, Callable[[ShellState, list[str], Streams], int]] = {
    "cd": _cd,
    "echo": _echo,
    "exit": _exit,
    "export": _export,
    "false": _false,
    "printf": _printf,
    "pwd": _pwd,
    "set": _set,
    ":": _true,
    "true": _true,
    "unset": _unset,
    "wait": _wait,
}
