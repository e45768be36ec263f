"""What a run is made with, put together from the config: the engine, the rehearsal programs, the verifier skeleton."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from forge.cli.engines import open_engine
from forge.domain.config import Config
from forge.factory.run import Tools
from forge.rehearsal import author
from forge.skeleton import verifier_skeleton
from solvers.model import Program
from solvers.rehearsal.programs import PROGRAMS

BUILD_LOGS = "builds"
"""Where, in a run's folder, the logs of its builds are kept, each named by what was built."""


@contextmanager
def open_tools(config: Config) -> Iterator[Tools]:
    """Raises EngineUnavailable."""
    with open_engine(config, Path(config.run.runs_dir) / config.run.name / BUILD_LOGS) as engine:
        yield Tools(engine=engine, programs=rehearsal_programs(), skeleton=verifier_skeleton())


def rehearsal_programs() -> Mapping[str, Program]:
    """Full model name -> the program that stands in for it."""
    return {**PROGRAMS, author.NAME: author.author}
