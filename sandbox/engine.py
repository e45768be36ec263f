"""Docker as an Engine. The only file that imports the docker package."""

import threading
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import docker
import docker.utils

from sandbox.api import Image, ImageSpec, Machine, Network, Owner, Swept
from sandbox.build_lock import BuildLock
from sandbox.certificates import FOLDER, VARIABLES, bundle_files
from sandbox.container import DockerSandbox, close_all, container_body, start_error
from sandbox.copying import put_tree
from sandbox.daemon import Daemon, Refusal
from sandbox.errors import BuildFailed, EngineUnavailable
from sandbox.images import BuildSettings, Images
from sandbox.labels import BUILD_LABEL, RUN, labels_of
from sandbox.sweeping import Sweeper
from sandbox.tree import Tree
from sandbox.watching import Watcher, read_space


@dataclass(frozen=True)
class EngineConfig:
    """How to reach Docker and how to use it.

    substitutes: base image -> local stand-in, used only where the image is neither local nor can be pulled.
    ca_bundle: certificates (PEM) that tools trust during builds and in containers with a network, for people behind a
        proxy that intercepts TLS.
    proxies: proxy variables of builds (HTTP_PROXY, HTTPS_PROXY, NO_PROXY).
    build_memory_mb, build_cpus: what one build step may use.
    disk_poll_sec: how often containers' disk use is looked at, at most 3.
    log_dir: where build logs are kept, None for nowhere.
    docker_host: the engine's address, None for DOCKER_HOST or the local socket.
    min_free_disk_mb: below this much free disk on the host nothing new is started."""

    substitutes: Mapping[str, str] = field(default_factory=dict)
    ca_bundle: Path | None = None
    proxies: Mapping[str, str] = field(default_factory=dict)
    build_memory_mb: int = 2048
    build_cpus: float = 2.0
    disk_poll_sec: float = 1.5
    log_dir: Path | None = None
    docker_host: str | None = None
    min_free_disk_mb: int = 1024


class DockerEngine:
    """`with DockerEngine(config) as engine:`. Raises EngineUnavailable on entering when no engine answers."""

    def __init__(self, config: EngineConfig = EngineConfig()) -> None:
        self._config = config
        self._client: docker.APIClient | None = None
        self._parts: _Parts | None = None
        self._sandboxes: set[DockerSandbox] = set()
        self._lock = threading.Lock()
        self._cancelled = False

    def __enter__(self) -> Self:
        address = docker.utils.kwargs_from_env()
        if self._config.docker_host is not None:
            address = {"base_url": self._config.docker_host}
        try:
            self._client = docker.APIClient(version="auto", timeout=60, max_pool_size=64, **address)
        except docker.errors.DockerException as error:
            raise EngineUnavailable(f"no Docker engine answers: {error}") from error
        daemon = Daemon(self._client)
        settings = BuildSettings(
            substitutes=self._config.substitutes,
            ca_bundle=self._config.ca_bundle,
            proxies=self._config.proxies,
            memory_mb=self._config.build_memory_mb,
            cpus=self._config.build_cpus,
            log_dir=self._config.log_dir,
        )
        build_lock = BuildLock()
        # Only a socket's engine is on this machine for sure.
        local = str(self._client.base_url).startswith("http+docker://")
        info = daemon.info()
        folder = Path(info["DockerRootDir"]) if local else None
        watcher = Watcher(
            daemon,
            self._open_sandboxes,
            self._config.disk_poll_sec,
            lambda: read_space(folder),
            self._config.min_free_disk_mb,
        )
        images = Images(daemon, settings, build_lock)
        self._parts = _Parts(daemon, images, Sweeper(daemon, build_lock), watcher, info["NCPU"])
        watcher.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def build(self, spec: ImageSpec, owner: Owner) -> Image:
        self._opened().watcher.check_host()
        try:
            return self._opened().images.build(spec)
        except BuildFailed:
            self._opened().watcher.check_host()  # a step that found no space is not to blame for it
            raise

    def start(self, image: Image, machine: Machine, owner: Owner) -> DockerSandbox:
        daemon = self._opened().daemon
        self._opened().watcher.check_host()
        asked = replace(machine, limits=replace(machine.limits, cpus=min(machine.limits.cpus, self._opened().cores)))
        body = container_body(image.id, self._with_certificates(asked), labels_of(owner))
        try:
            container = daemon.create_container(body)
        except Refusal as error:
            raise start_error(image, error) from error
        sandbox = DockerSandbox(daemon, container, machine.limits.disk_mb, self._forget)
        with self._lock:
            self._sandboxes.add(sandbox)
            cancelled = self._cancelled
        try:
            if cancelled:
                raise EngineUnavailable("the engine was told to begin nothing new")
            self._trust(daemon, container, machine)
            daemon.start_container(container)
        except Refusal as error:
            sandbox.close()
            raise start_error(image, error) from error
        except BaseException:
            sandbox.close()
            raise
        return sandbox

    def image_files(self, image: Image) -> Sequence[str]:
        return self._opened().images.files(image)

    def drop(self, image: Image) -> None:
        self._opened().images.drop(image)

    def sweep(self, run: str) -> Swept:
        return self._opened().sweeper.run(run)

    def sweep_dead(self) -> Swept:
        """Remove what processes of this host that no longer live have left behind, whatever their run."""
        return self._opened().sweeper.dead()

    def clean_images(self) -> int:
        """Remove every image that was built here and is not in use; how many."""
        return self._opened().sweeper.clean_images()

    def run_containers(self, run: str) -> list[dict[str, Any]]:
        """The engine's list entries (Id, Command, Labels ...) of all containers labelled with a run."""
        return self._opened().daemon.containers(f"{RUN}={run}")

    def build_containers(self) -> list[dict[str, Any]]:
        """The engine's list entries of the containers in which build steps run, whoever builds."""
        return self._opened().daemon.containers(BUILD_LABEL)

    def cancel(self) -> None:
        with self._lock:
            self._cancelled = True
        self._opened().images.cancel()
        close_all(self._open_sandboxes())

    def close(self) -> None:
        if self._parts is None or self._client is None:
            return
        parts, client = self._parts, self._client
        parts.images.cancel()
        parts.watcher.close()
        self._parts = self._client = None
        with ExitStack() as stack:
            stack.callback(client.close)
            stack.callback(parts.images.drop_pending)
            close_all(self._open_sandboxes())

    def _opened(self) -> "_Parts":
        if self._parts is None:
            raise EngineUnavailable("the engine is not open: use it in a `with` block")
        return self._parts

    def _open_sandboxes(self) -> list[DockerSandbox]:
        with self._lock:
            return list(self._sandboxes)

    def _with_certificates(self, machine: Machine) -> Machine:
        """A machine with a network needs the same certificates as a build."""
        if self._config.ca_bundle is None or machine.network is Network.NONE:
            return machine
        return replace(machine, env={**VARIABLES, **machine.env})

    def _trust(self, daemon: Daemon, container: str, machine: Machine) -> None:
        if self._config.ca_bundle is not None and machine.network is not Network.NONE:
            put_tree(daemon, container, Tree(bundle_files(self._config.ca_bundle.read_bytes())), FOLDER, 0)

    def _forget(self, sandbox: DockerSandbox) -> None:
        with self._lock:
            self._sandboxes.discard(sandbox)


@dataclass(frozen=True)
class _Parts:
    """What there is while the engine is open."""

    daemon: Daemon
    images: Images
    sweeper: Sweeper
    watcher: Watcher
    cores: int
