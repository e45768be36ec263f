"""Building an image in memory: the instructions of a Dockerfile over fake files."""

import json
import posixpath
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from sandbox.dockerfile import Dockerfile, Instruction
from sandbox.errors import BuildFailed, BuildTimedOut
from sandbox.fake_builtins import Streams
from sandbox.fake_files import FakeFiles, Node
from sandbox.fake_process import Clock, FakeTimeout, Jobs, Program
from sandbox.fake_shell import Shell
from sandbox.tree import Tree

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_IGNORED = {
    "CMD",
    "ENTRYPOINT",
    "EXPOSE",
    "HEALTHCHECK",
    "LABEL",
    "MAINTAINER",
    "ONBUILD",
    "SHELL",
    "STOPSIGNAL",
    "VOLUME",
}


@dataclass(frozen=True)
class FakeImage:
    """Files and settings of an image. `files` is never changed: copy it."""

    files: FakeFiles
    env: Mapping[str, str] = field(default_factory=lambda: {"PATH": PATH})
    workdir: str = "/"
    user: str = "root"


@dataclass
class _Builder:
    file: Dockerfile
    context: Tree
    bases: Mapping[str, FakeImage]
    args: Mapping[str, str]
    programs: Mapping[str, Program]
    clock: Clock
    log: list[str] = field(default_factory=list)
    stages: list[tuple[str, FakeImage]] = field(default_factory=list)

    def build(self) -> FakeImage:
        image = FakeImage(FakeFiles())
        values: dict[str, str] = {}
        for number, instruction in enumerate(self.file.instructions, 1):
            self.log.append(f"Step {number}/{len(self.file.instructions)} : {instruction.name} {instruction.rest}\n")
            if instruction.name == "FROM":
                image = self._from(instruction)
                values = {}
            elif instruction.name == "ARG":
                name, _, default = instruction.rest.partition("=")
                values[name] = self.args.get(name, default.strip("\"'"))
            elif self.stages:
                image = self._step(instruction, image, values)
                self.stages[-1] = self.stages[-1][0], image
        return image

    def _from(self, instruction: Instruction) -> FakeImage:
        stage = next(stage for stage in self.file.stages if stage.instruction == instruction)
        base = self._stage(stage.image) if stage.is_stage else self.bases.get(stage.image, FakeImage(FakeFiles()))
        image = replace(base, files=base.files.copy())
        if not stage.is_stage:
            image.files.ever = set()
        self.stages.append((stage.alias.lower(), image))
        return image

    def _stage(self, name: str) -> FakeImage:
        if name.isdigit() and int(name) < len(self.stages):
            return self.stages[int(name)][1]
        return next(image for alias, image in reversed(self.stages) if alias == name.lower())

    def _step(self, instruction: Instruction, image: FakeImage, values: Mapping[str, str]) -> FakeImage:
        scope = {**values, **image.env}
        if instruction.name == "RUN":
            self._run(instruction.rest, image, scope)
        elif instruction.name in ("COPY", "ADD"):
            self._copy(instruction, image, scope)
        elif instruction.name == "ENV":
            return replace(image, env={**image.env, **_environment(instruction.rest, scope)})
        elif instruction.name == "WORKDIR":
            workdir = posixpath.normpath(posixpath.join(image.workdir, _filled(instruction.rest, scope)))
            image.files.make_folders(workdir)
            return replace(image, workdir=workdir)
        elif instruction.name == "USER":
            return replace(image, user=_filled(instruction.rest, scope).partition(":")[0])
        elif instruction.name not in _IGNORED:
            raise self._failed(f"unknown instruction: {instruction.name}")
        return image

    def _run(self, rest: str, image: FakeImage, env: Mapping[str, str]) -> None:
        shell = Shell(image.files, self.programs, self.clock, Jobs(), dict(env), image.workdir, image.user)
        out = bytearray()
        streams = Streams(b"", out, out)
        try:
            words = json.loads(rest) if rest.startswith("[") else None
        except ValueError:
            words = None
        try:
            code = shell.run(rest, streams) if words is None else shell.run_arguments(words, streams)
        except FakeTimeout as error:
            raise BuildTimedOut("the build took too long", "".join(self.log)) from error
        self.log.append(out.decode(errors="replace"))
        if code:
            raise self._failed(f"The command '{rest}' returned a non-zero code: {code}")

    def _copy(self, instruction: Instruction, image: FakeImage, scope: Mapping[str, str]) -> None:
        text = _filled(instruction.rest, scope)
        words = json.loads(text[text.index("[") :]) if text.rstrip().endswith("]") else shlex.split(text)
        options = [word for word in text.split() if word.startswith("--")]
        *sources, dest = [word for word in words if not word.startswith("--")]
        stage = next((word.partition("=")[2] for word in options if word.startswith("--from=")), None)
        mode = next((int(word.partition("=")[2], 8) for word in options if word.startswith("--chmod=")), None)
        files = FakeFiles({}) if stage is None else self._files_of(stage)
        if stage is None:
            files.put(self.context, "/")
        target = posixpath.normpath(posixpath.join(image.workdir, dest))
        into_folder = dest.endswith(("/", ".")) or len(sources) > 1
        for source in sources:
            path = posixpath.normpath(posixpath.join("/", source))
            found = files.matching(path) if path != "/" else ["/"]
            if not found:
                raise self._failed(f"{instruction.name} failed: {source}: no such file or directory")
            for one in found:
                _place(files, one, image.files, target, into_folder or len(found) > 1, mode)

    def _files_of(self, name: str) -> FakeFiles:
        if name in self.bases:
            return self.bases[name].files
        return self._stage(name).files

    def _failed(self, message: str) -> BuildFailed:
        self.log.append(message + "\n")
        return BuildFailed(f"the image does not build: {message}", "".join(self.log))


def build(
    file: Dockerfile,
    context: Tree,
    bases: Mapping[str, FakeImage],
    args: Mapping[str, str],
    programs: Mapping[str, Program],
    seconds: float,
) -> tuple[FakeImage, str]:
    """The image, and the build log. Raises BuildFailed, BuildTimedOut."""
    builder = _Builder(file, context, bases, args, programs, Clock(deadline=seconds))
    image = builder.build()
    return image, "".join(builder.log)


def _place(files: FakeFiles, source: str, to: FakeFiles, target: str, into_folder: bool, mode: int | None) -> None:
    """COPY's rules: a folder's content goes below the target; a file becomes it, or goes into it."""
    if files.is_folder(source):
        to.make_folders(target)
        for path in files.below(source):
            inner = path[len(source.rstrip("/")) :]
            to.place(target.rstrip("/") + inner, _with_mode(files.node(path, follow=False), mode))
        return
    name = posixpath.join(target, posixpath.basename(source)) if into_folder or to.is_folder(target) else target
    to.place(name, _with_mode(files.node(source), mode))


def _with_mode(node: Node, mode: int | None) -> Node:
    return node if mode is None or node.is_folder else replace(node, mode=mode)


def _environment(rest: str, scope: Mapping[str, str]) -> dict[str, str]:
    words = shlex.split(rest)
    if "=" not in words[0]:
        name, _, value = rest.partition(" ")
        return {name: _filled(value.strip(), scope)}
    return {name: _filled(value, scope) for name, _, value in (word.partition("=") for word in words)}


def _filled(text: str, scope: Mapping[str, str]) -> str:
    for name, value in sorted(scope.items(), key=lambda item: -len(item[0])):
        text = text.replace(f"${{{name}}}", value).replace(f"${name}", value)
    return text
