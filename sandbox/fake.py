"""An Engine in memory, for rehearsals and tests: the same protocol and errors, no container anywhere.

FakeHost is what would be the machine: what an engine leaves on it, the next one finds.
"""

import hashlib
import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

from sandbox.api import Image, ImageSpec, Machine, Owner, Swept
from sandbox.context import check_context, dockerfile_text, image_digest
from sandbox.dockerfile import parse
from sandbox.errors import ContextRefused, EngineUnavailable, ImageMissing
from sandbox.fake_build import FakeImage, build
from sandbox.fake_files import FakeFiles
from sandbox.fake_process import Program
from sandbox.fake_programs import PROGRAMS
from sandbox.fake_sandbox import FakeSandbox
from sandbox.labels import REPOSITORY


@dataclass
class FakeHost:
    """What outlives an engine: images by tag, sandboxes by id."""

    images: dict[str, FakeImage] = field(default_factory=dict)
    logs: dict[str, str] = field(default_factory=dict)
    sandboxes: dict[str, FakeSandbox] = field(default_factory=dict)
    numbers: "itertools.count[int]" = field(default_factory=lambda: itertools.count(1))


class FakeEngine:
    """programs: name -> program, beside those of sandbox.fake_programs (yours win).

    bases: the base images that exist, by name; None: every name exists, with a bare file system.
    substitutes: as in EngineConfig.
    on_event: called with build, start, exec, put, get, collect, stop, close, drop or sweep before each operation; what
    it raises is the operation's fate."""

    def __init__(
        self,
        *,
        programs: Mapping[str, Program] | None = None,
        bases: Mapping[str, FakeImage] | None = None,
        substitutes: Mapping[str, str] | None = None,
        on_event: Callable[[str], None] | None = None,
        host: FakeHost | None = None,
    ) -> None:
        self.host = host or FakeHost()
        self._programs = {**PROGRAMS, **(programs or {})}
        self._bases = bases
        self._substitutes = substitutes or {}
        self._on_event = on_event or _nothing
        self._mine: list[FakeSandbox] = []
        self._cancelled = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def build(self, spec: ImageSpec, owner: Owner) -> Image:
        self._on_event("build")
        if not spec.context:
            if not spec.docker_image:
                raise ContextRefused("neither a build context nor a docker_image is given")
            used, image = self._base(spec.docker_image)
            self.host.images[used] = image
            return Image(_id(used), used, "", _pairs({spec.docker_image: used}))
        check_context(spec.context)
        file = parse(dockerfile_text(spec.context), spec.build_args)
        bases = {name: self._base(name) for name in file.images()}
        used_names = {name: used for name, (used, _) in bases.items()}
        tag = f"{REPOSITORY}:{image_digest(spec.context, {'args': dict(spec.build_args), 'bases': used_names})}"
        if tag not in self.host.images:
            images = {name: image for name, (_, image) in bases.items()}
            built, log = build(file, spec.context, images, spec.build_args, self._programs, spec.timeout_sec)
            self.host.images[tag], self.host.logs[tag] = built, log
        return Image(_id(tag), tag, self.host.logs[tag], _pairs(used_names))

    def start(self, image: Image, machine: Machine, owner: Owner) -> FakeSandbox:
        self._on_event("start")
        if self._cancelled:
            raise EngineUnavailable("the engine was told to begin nothing new")
        found = self.host.images.get(image.tag)
        if found is None:
            raise ImageMissing(f"image {image.tag or image.id} is not in the engine")
        name = f"fake-{next(self.host.numbers)}"
        sandbox = FakeSandbox(name, found, machine, owner, self._programs, self._on_event, self._forget)
        self.host.sandboxes[name] = sandbox
        self._mine.append(sandbox)
        return sandbox

    def image_files(self, image: Image) -> Sequence[str]:
        found = self.host.images.get(image.tag)
        if found is None:
            raise ImageMissing(f"image {image.tag or image.id} is not in the engine")
        return sorted(found.files.ever)

    def drop(self, image: Image) -> None:
        self._on_event("drop")
        in_use = any(sandbox.image is self.host.images.get(image.tag) for sandbox in self.host.sandboxes.values())
        if image.tag.startswith(f"{REPOSITORY}:") and not in_use:
            self.host.images.pop(image.tag, None)

    def sweep(self, run: str) -> Swept:
        self._on_event("sweep")
        left = [sandbox for sandbox in self.host.sandboxes.values() if sandbox.owner.run == run]
        for sandbox in left:
            sandbox.remove()
        return Swept(containers=len(left))

    def clean_images(self) -> int:
        """Remove every image that `build` made and no sandbox uses; how many."""
        used = [sandbox.image for sandbox in self.host.sandboxes.values()]
        unused = [
            tag
            for tag, image in self.host.images.items()
            if tag.startswith(f"{REPOSITORY}:") and not any(image is one for one in used)
        ]
        for tag in unused:
            del self.host.images[tag]
        return len(unused)

    def cancel(self) -> None:
        self._cancelled = True
        self.close()

    def close(self) -> None:
        for sandbox in list(self._mine):
            sandbox.close()

    def _base(self, name: str) -> tuple[str, FakeImage]:
        if self._bases is None:
            return name, FakeImage(FakeFiles())
        used = name if name in self._bases else self._substitutes.get(name, "")
        if used not in self._bases:
            raise ImageMissing(f"base image not found: {name}; no substitute is configured")
        return used, self._bases[used]

    def _forget(self, sandbox: FakeSandbox) -> None:
        self.host.sandboxes.pop(sandbox.id, None)
        if sandbox in self._mine:
            self._mine.remove(sandbox)


def _nothing(event: str) -> None:
    return None


def _id(tag: str) -> str:
    return f"sha256:{hashlib.sha256(tag.encode()).hexdigest()}"


def _pairs(used: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple((name, stand_in) for name, stand_in in used.items() if name != stand_in)
