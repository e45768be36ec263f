"""A small shell over the fake files: lists, pipelines, redirections, here-documents, variables, if, for, while, jobs.

What it does not know fails as an unknown command or a syntax error would; nothing is pretended. A command in the
background runs at once up to its first sleep, and stays there.
"""

import posixpath
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from sandbox.fake_builtins import BUILTINS, Exit, ShellState, Streams
from sandbox.fake_lexer import ShellSyntaxError
from sandbox.fake_process import Answer, Call, FakeParked
from sandbox.fake_syntax import (
    Command,
    For,
    Group,
    If,
    Pipeline,
    Redirection,
    Script,
    Simple,
    While,
    parse,
)
from sandbox.fake_text import reason
from sandbox.fake_words import expand, expand_text

_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)


@dataclass
class Shell(ShellState):
    """One shell process, which runs scripts."""

    def run(self, text: str, streams: Streams) -> int:
        """Run a script and return its exit code. Raises FakeTimeout."""
        try:
            script = parse(text)
        except ShellSyntaxError as error:
            streams.stderr += f"bash: {error}\n".encode()
            return 2
        try:
            self.execute(script, streams)
        except Exit as end:
            return end.code
        return self.status

    def run_arguments(self, arguments: list[str], streams: Streams) -> int:
        """Run one command given as its words."""
        try:
            self._dispatch(arguments, dict(self.env), streams)
        except Exit as end:
            return end.code
        return self.status

    def execute(self, script: Script, streams: Streams) -> None:
        for pipeline in script.pipelines:
            if pipeline.joined == "&&" and self.status != 0:
                continue
            if pipeline.joined == "||" and self.status == 0:
                continue
            if pipeline.background:
                self._start_job(pipeline, streams)
            else:
                self._pipeline(pipeline, streams)
                last = pipeline is script.pipelines[-1] or pipeline.joined == ";"
                if self.stops_on_error and self.status and not self.in_condition and not pipeline.negated and last:
                    raise Exit(self.status)

    def captured(self, text: str) -> str:
        """The output of a command substitution."""
        inner = self._subshell()
        out = bytearray()
        inner.run(text, Streams(b"", out, bytearray()))
        self.status = inner.status
        return out.decode(errors="surrogateescape").rstrip("\n")

    def paths(self, pattern: str) -> list[str]:
        """What a pattern matches, shown as it was written: absolute or relative."""
        full = posixpath.normpath(posixpath.join(self.cwd, pattern))
        found = self.files.matching(full)
        if pattern.startswith("/"):
            return found
        base = self.cwd.rstrip("/") + "/"
        return [path.removeprefix(base) for path in found]

    def _subshell(self) -> "Shell":
        return replace(self, env=dict(self.env), variables=dict(self.variables))

    def _start_job(self, pipeline: Pipeline, streams: Streams) -> None:
        clock = replace(self.clock, in_background=True)
        inner = replace(self._subshell(), clock=clock)
        until = self.clock.now
        try:
            inner._pipeline(pipeline, Streams(b"", streams.stdout, streams.stderr))
        except FakeParked as parked:
            until = parked.until
        except Exit:
            pass  # a job's exit ends the job
        self.last_job = self.jobs.add(until)
        self.status = 0

    def _pipeline(self, pipeline: Pipeline, streams: Streams) -> None:
        stdin = streams.stdin
        for number, command in enumerate(pipeline.commands):
            last = number == len(pipeline.commands) - 1
            out = streams.stdout if last else bytearray()
            shell = self if len(pipeline.commands) == 1 else self._subshell()
            try:
                shell._command(command, Streams(stdin, out, streams.stderr))
            except Exit as end:
                if shell is self:
                    raise
                shell.status = end.code
            self.status = shell.status
            stdin = bytes(out) if not last else b""
        if pipeline.negated:
            self.status = int(self.status == 0)

    def _command(self, command: Command, streams: Streams) -> None:
        self.clock.step()
        try:
            inner, finish = self._redirected(command.redirections, streams)
        except OSError as error:
            streams.stderr += f"bash: {error.args[0]}: {reason(error)}\n".encode()
            self.status = 1
            return
        try:
            self._perform(command, inner)
        finally:
            for done in finish:
                done()

    def _perform(self, command: Command, streams: Streams) -> None:
        if isinstance(command, Simple):
            self._simple(command, streams)
        elif isinstance(command, Group):
            self._group(command, streams)
        elif isinstance(command, If):
            self._if(command, streams)
        elif isinstance(command, For):
            for word in self._words(command.words):
                self.variables[command.name] = word
                self.execute(command.body, streams)
        else:
            self._while(command, streams)

    def _group(self, command: Group, streams: Streams) -> None:
        shell = self._subshell() if command.subshell else self
        try:
            shell.execute(command.body, streams)
        except Exit as end:
            if not command.subshell:
                raise
            shell.status = end.code
        self.status = shell.status

    def _holds(self, condition: Script, streams: Streams) -> bool:
        self.in_condition += 1
        try:
            self.execute(condition, streams)
        finally:
            self.in_condition -= 1
        return self.status == 0

    def _if(self, command: If, streams: Streams) -> None:
        for condition, body in command.branches:
            if self._holds(condition, streams):
                self.execute(body, streams)
                return
        self.status = 0
        if command.otherwise is not None:
            self.execute(command.otherwise, streams)

    def _while(self, command: While, streams: Streams) -> None:
        while self._holds(command.condition, streams) != command.until:
            self.clock.step()
            self.execute(command.body, streams)
        self.status = 0

    def _words(self, words: Iterable[str]) -> list[str]:
        return [part for word in words for part in expand(word, self)]

    def _simple(self, command: Simple, streams: Streams) -> None:
        words = list(command.words)
        given: dict[str, str] = {}
        while words and (match := _ASSIGNMENT.fullmatch(words[0])):
            given[match[1]] = expand_text(match[2], self)
            words.pop(0)
        arguments = self._words(words)
        if not arguments:
            for name, value in given.items():
                (self.env if name in self.env else self.variables)[name] = value
            self.status = 0
            return
        self._dispatch(arguments, {**self.env, **given}, streams)

    def _dispatch(self, arguments: list[str], env: dict[str, str], streams: Streams) -> None:
        name = arguments[0]
        if name in BUILTINS:
            self.status = BUILTINS[name](self, arguments, streams)
        elif name in (".", "source"):
            self.status = self._source(arguments, streams)
        elif name.rpartition("/")[2] in ("bash", "sh"):
            self.status = self._nested(arguments, env, streams)
        else:
            self.status = self._program(arguments, env, streams)

    def _program(self, arguments: list[str], env: dict[str, str], streams: Streams) -> int:
        name = arguments[0]
        if "/" in name:
            path = posixpath.normpath(posixpath.join(self.cwd, name))
            if self.files.is_file(path) and self.files.read(path).startswith(b"#!"):
                return self._script_file(path, arguments, env, streams)
        program = self.programs.get(name.rpartition("/")[2] if name.startswith(("/bin/", "/usr/bin/")) else name)
        if program is None:
            streams.stderr += f"bash: line 1: {name}: command not found\n".encode()
            return 127
        call = Call(arguments, env, streams.stdin, self.files, self.cwd, self.user, self.clock, self.jobs)
        answer: Answer = program(call)
        streams.stdout += answer.stdout
        streams.stderr += answer.stderr
        return answer.exit_code

    def _script_file(self, path: str, arguments: list[str], env: dict[str, str], streams: Streams) -> int:
        if not self.files.node(path).mode & 0o111:
            streams.stderr += f"bash: line 1: {arguments[0]}: Permission denied\n".encode()
            return 126
        interpreter = self.files.read(path).split(b"\n", 1)[0][2:].decode(errors="replace").split()
        name = interpreter[-1] if interpreter[0].endswith("/env") else interpreter[0].rpartition("/")[2]
        self._dispatch([name, path, *arguments[1:]], env, streams)
        return self.status

    def _nested(self, arguments: list[str], env: dict[str, str], streams: Streams) -> int:
        """bash -c TEXT, bash FILE, or bash reading its input; single-letter options before are accepted."""
        rest = arguments[1:]
        inner = replace(self._subshell(), env=env, variables={}, status=0, in_condition=0, stops_on_error=False)
        text: str | None = None
        while rest and rest[0].startswith("-") and len(rest[0]) > 1:
            option = rest.pop(0)
            inner.stops_on_error |= "e" in option.lstrip("-") and not option.startswith("--")
            if "c" in option and not option.startswith("--") and rest:
                text = rest.pop(0)
                break
        inner.arguments = tuple(rest or [arguments[0]])
        if text is None and rest:
            try:
                text = self.files.read(posixpath.normpath(posixpath.join(self.cwd, rest[0]))).decode()
            except OSError as error:
                streams.stderr += f"bash: {rest[0]}: {reason(error)}\n".encode()
                return 127
        return inner.run(streams.stdin.decode() if text is None else text, streams)

    def _redirected(
        self, redirections: tuple[Redirection, ...], streams: Streams
    ) -> tuple[Streams, list[Callable[[], None]]]:
        """The streams that a command gets, and what is to be done when it has ended."""
        inner = Streams(streams.stdin, streams.stdout, streams.stderr)
        finish: list[Callable[[], None]] = []
        for item in redirections:
            if item.operator in ("<<", "<<-"):
                text = item.body if item.quoted else expand_text(item.body, self, in_document=True)
                inner.stdin = text.encode(errors="surrogateescape")
            elif item.operator == ">&":
                chosen = inner.stdout if item.target == "1" else inner.stderr
                setattr(inner, "stdout" if item.fd == 1 else "stderr", chosen)
            else:
                path = posixpath.normpath(posixpath.join(self.cwd, expand_text(item.target, self)))
                if item.operator == "<":
                    inner.stdin = self.files.read(path)
                    continue
                if item.operator == ">" or not self.files.exists(path):
                    self.files.write(path, b"")
                buffer = bytearray()
                setattr(inner, "stdout" if item.fd == 1 else "stderr", buffer)
                finish.append(lambda path=path, buffer=buffer: self.files.append(path, bytes(buffer)))  # type: ignore[misc]
        return inner, finish

    def _source(self, arguments: list[str], streams: Streams) -> int:
        try:
            text = self.files.read(posixpath.normpath(posixpath.join(self.cwd, arguments[1]))).decode()
        except OSError as error:
            streams.stderr += f"bash: {arguments[1]}: {reason(error)}\n".encode()
            return 1
        self.execute(parse(text), streams)
        return self.status
