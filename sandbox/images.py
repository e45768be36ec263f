"""Images: named by what goes into them, looked up first, built once, on stand-ins where the real base is missing."""

import json
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from sandbox.api import Image, ImageSpec
from sandbox.bases import Base, Bases
from sandbox.build_lock import BuildLock
from sandbox.certificates import CONTEXT_FOLDER, build_lines, bundle_files
from sandbox.context import check_context, dockerfile_text, image_digest, tar_of
from sandbox.daemon import Daemon, Refusal
from sandbox.dockerfile import Dockerfile, parse, rewrite
from sandbox.errors import BuildFailed, BuildTimedOut, ContextRefused, EngineUnavailable, ImageMissing
from sandbox.labels import BUILD_LABEL, REPOSITORY
from sandbox.layers import files_in_folders, files_in_layers, layer_folders
from sandbox.messages import capped, messages
from sandbox.transfers import Transfers
from sandbox.tree import File, Tree

_LOG_CAP = 1 << 20
_BUILD_PIDS = 4096


@dataclass(frozen=True)
class BuildSettings:
    """How images are built; see EngineConfig for the meaning of each."""

    substitutes: Mapping[str, str] = field(default_factory=dict)
    ca_bundle: Path | None = None
    proxies: Mapping[str, str] = field(default_factory=dict)
    memory_mb: int = 2048
    cpus: float = 2.0
    log_dir: Path | None = None


class Images:
    def __init__(self, daemon: Daemon, settings: BuildSettings, build_lock: BuildLock) -> None:
        self._daemon = daemon
        self._settings = settings
        self._build_lock = build_lock
        self._transfers = Transfers()
        self._bases = Bases(daemon, settings.substitutes, self._transfers)
        self._lock = threading.Lock()
        self._tag_locks: dict[str, threading.Lock] = {}
        self._to_drop: set[str] = set()

    def build(self, spec: ImageSpec) -> Image:
        if not spec.context:
            return self._as_it_is(spec)
        check_context(spec.context)
        file = parse(dockerfile_text(spec.context), spec.build_args)
        deadline = time.monotonic() + spec.timeout_sec
        bases = {name: self._bases.base(name, spec.timeout_sec) for name in file.images()}
        lost = [f"{name} ({base.why})" for name, base in bases.items() if not base.id]
        if lost:
            raise ImageMissing(f"base image not found: {'; '.join(lost)}")
        context = self._context(spec.context, file, bases)
        substitutes = tuple((name, base.used) for name, base in bases.items() if base.used != name)
        facts = {"args": dict(spec.build_args), "bases": {name: base.id for name, base in bases.items()}}
        digest = image_digest(context, facts)
        tag = f"{REPOSITORY}:{digest}"
        with self._lock:
            self._to_drop.discard(tag)
            lock = self._tag_locks.setdefault(tag, threading.Lock())
        with lock:
            found = self._bases.find(tag)
            if found:
                return Image(found, tag, self._kept_log(digest), substitutes)
            try:
                with self._build_lock.building():
                    log = self._build(context, tag, spec, deadline)
                    found = self._bases.find(tag)
                if not found:
                    raise EngineUnavailable("the build ended without an image: was the engine stopped?")
            except BuildFailed as error:
                self._keep_log(digest, error.log)
                raise
            finally:
                self.drop_pending()
            self._keep_log(digest, log)
            return Image(found, tag, log, substitutes)

    def drop(self, image: Image) -> None:
        """Remove an image of ours, now or as soon as no build is running; what is in use or not ours stays."""
        if image.tag.startswith(f"{REPOSITORY}:"):
            with self._lock:
                self._to_drop.add(image.tag)
            self.drop_pending()

    def drop_pending(self) -> None:
        with self._build_lock.removing() as alone, self._lock:
            for tag in sorted(self._to_drop) if alone else ():
                self._to_drop.discard(tag)
                with suppress(Refusal):  # gone, or in use
                    self._daemon.remove_image(tag, prune=False)

    def files(self, image: Image) -> list[str]:
        """Absolute paths of all files that the image's layers add to its base image's."""
        base = self._base_layers(image.id)
        folders = layer_folders(self._daemon.inspect_image(image.id).get("GraphDriver", {}), base)
        if folders is not None:
            return files_in_folders(folders)
        stream = self._daemon.save_image(image.tag or image.id)
        try:
            return files_in_layers(stream.chunks(1 << 20), base)
        finally:
            stream.close()

    def cancel(self) -> None:
        """End every build and pull that is running; none begins any more."""
        self._transfers.cancel()

    def _base_layers(self, image: str) -> int:
        """How many of an image's layers come from its oldest ancestor that the engine knows."""
        found = self._daemon.inspect_image(image)
        while found["Parent"]:
            found = self._daemon.inspect_image(found["Parent"])
        return 0 if found["Id"] == image else len(found["RootFS"]["Layers"] or ())

    def _as_it_is(self, spec: ImageSpec) -> Image:
        if not spec.docker_image:
            raise ContextRefused("neither a build context nor a docker_image is given")
        base = self._bases.base(spec.docker_image, spec.timeout_sec)
        if not base.id:
            raise ImageMissing(f"image not found: {spec.docker_image} ({base.why})")
        substitutes = ((spec.docker_image, base.used),) if base.used != spec.docker_image else ()
        return Image(base.id, base.used, "", substitutes)

    def _context(self, context: Tree, file: Dockerfile, bases: Mapping[str, Base]) -> Tree:
        after = [f"LABEL {BUILD_LABEL}"]
        extra: dict[str, File] = {}
        if self._settings.ca_bundle is not None:
            files = bundle_files(self._settings.ca_bundle.read_bytes())
            extra = {f"{CONTEXT_FOLDER}/{name}": part for name, part in files.items()}
            after += build_lines()
        text = rewrite(file, {name: base.used for name, base in bases.items()}, tuple(after))
        return context.merged({"Dockerfile": File(text.encode()), **extra})

    def _build(self, context: Tree, tag: str, spec: ImageSpec, deadline: float) -> str:
        lines: list[str] = []
        steps: list[str] = []
        try:
            stream = self._daemon.build(
                tar_of(context), self._parameters(tag, spec), max(0.1, deadline - time.monotonic())
            )
            with self._transfers.going_on(stream):
                for message in messages(stream, deadline):
                    lines.append(str(message.get("stream") or message.get("status") or ""))
                    if lines[-1].startswith(" ---> Running in "):
                        steps.append(lines[-1].rsplit(maxsplit=1)[-1])
                        self._bound(steps[-1])
                    if "error" in message:
                        lines.append(str(message["error"]))
                        raise BuildFailed(f"the image does not build: {message['error']}", capped(lines, _LOG_CAP))
        except (TimeoutError, EngineUnavailable) as error:
            self._end(steps[-1:])
            if isinstance(error, EngineUnavailable):
                raise
            log = capped(lines, _LOG_CAP)
            raise BuildTimedOut(f"the build took longer than {spec.timeout_sec:g} s", log) from error
        except Refusal as error:
            raise BuildFailed(f"the engine refused to build: {error}", str(error)) from error
        return capped(lines, _LOG_CAP)

    def _parameters(self, tag: str, spec: ImageSpec) -> dict[str, object]:
        memory = self._settings.memory_mb << 20
        return {
            "t": tag,
            "buildargs": json.dumps({**self._settings.proxies, **spec.build_args}),
            "rm": 1,
            "forcerm": 1,
            "memory": memory,
            "memswap": memory,
            "cpuperiod": 100_000,
            "cpuquota": int(self._settings.cpus * 100_000),
        }

    def _bound(self, container: str) -> None:
        """A build's containers have no limit of processes in the engine's interface: set it as each one starts."""
        with suppress(Refusal):  # a short step is over before
            self._daemon.limit_pids(container, _BUILD_PIDS)

    def _end(self, containers: list[str]) -> None:
        """End the step of a build that was cancelled at once; the engine itself takes a second or more."""
        for container in containers:
            with suppress(Refusal, EngineUnavailable):
                self._daemon.remove_container(container)

    def _keep_log(self, digest: str, log: str) -> None:
        if self._settings.log_dir is not None:
            self._settings.log_dir.mkdir(parents=True, exist_ok=True)
            (self._settings.log_dir / f"{digest}.log").write_text(log, encoding="utf-8")

    def _kept_log(self, digest: str) -> str:
        path = None if self._settings.log_dir is None else self._settings.log_dir / f"{digest}.log"
        return path.read_text(encoding="utf-8") if path is not None and path.is_file() else ""
