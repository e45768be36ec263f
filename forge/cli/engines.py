"""The Docker engine, as the config says."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from forge.domain.config import Config
from forge.factory.bounded_engine import BoundedEngine
from sandbox.api import Engine
from sandbox.engine import DockerEngine, EngineConfig


def docker_engine(config: Config, log_dir: Path | None = None) -> DockerEngine:
    """To be used in a `with` block. log_dir: where build logs are kept, None for nowhere."""
    section = config.sandbox
    return DockerEngine(
        EngineConfig(
            substitutes=section.substitutes,
            ca_bundle=Path(section.ca_bundle) if section.ca_bundle is not None else None,
            proxies=section.proxy,
            build_memory_mb=section.build.memory_mb,
            build_cpus=section.build.cpus,
            log_dir=log_dir,
        )
    )


@contextmanager
def open_engine(config: Config, log_dir: Path | None = None) -> Iterator[Engine]:
    """The engine as the factory uses it. Raises EngineUnavailable."""
    with docker_engine(config, log_dir) as engine:
        yield BoundedEngine(engine, config.sandbox.most.limits())
