"""Runs of the toy world (tests/faults): the whole factory on the fake engine in about a second, and changes to it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from forge.domain.clue import Clue
from forge.domain.config import Config
from forge.domain.outcome import Round
from forge.domain.task import Task
from forge.factory.progress import RunSummary
from forge.factory.signals import StopSignal
from forge.storage.ledger_reader import LedgerReader
from forge.storage.taskdir import read_task
from sandbox.api import Engine
from sandbox.fake import FakeEngine, FakeHost
from sandbox.fake_process import Answer, Call
from sandbox.fake_process import Program as FakeProgram
from solvers.model import Message, Program
from tests.faults.toy_machine import toy_engine
from tests.faults.toy_models import CLUES, programs
from tests.faults.toy_run import NAME, run_toy, toy_config


class HastyStop(StopSignal):
    """Never waits; `waited` keeps for how long it was asked to, in seconds. Its time is the sum."""

    def __init__(self) -> None:
        super().__init__()
        self.waited: list[float] = []

    def wait(self, seconds: float) -> None:
        self.waited.append(seconds)
        self.check()

    def clock(self) -> float:
        return sum(self.waited)


class World:
    """One run directory of the toy world; `run` may be called again and again. host: what is in the engine."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.host = FakeHost()
        self.stop = HastyStop()

    def config(self, **keys: Any) -> Config:
        return toy_config(self.folder, **keys)

    def engine(
        self, programs: Mapping[str, FakeProgram] | None = None, on_event: Callable[[str], None] | None = None
    ) -> FakeEngine:
        return toy_engine(on_event, self.host, programs)

    def run(
        self,
        *kinds: str,
        models: Mapping[str, Program] | None = None,
        engine: Engine | None = None,
        clues: Sequence[Clue] | None = None,
        on_commit: Callable[[int], None] | None = None,
        **keys: Any,
    ) -> RunSummary:
        """Work on the clues of these kinds. models: name without its provider -> the program in place of the toy's."""
        if "models_table" in keys:
            keys["models"] = keys.pop("models_table")
        mine = {f"rehearsal/{name}": program for name, program in (models or {}).items()}
        self.stop = HastyStop() if self.stop.is_set() else self.stop
        return run_toy(
            self.config(**keys),
            engine=engine or self.engine(),
            models={**programs(), **mine},
            clues=[clue for clue in CLUES if clue.id in kinds] if clues is None else clues,
            stop=self.stop,
            clock=self.stop.clock,
            on_commit=on_commit,
        )

    @contextmanager
    def reader(self) -> Iterator[LedgerReader]:
        with LedgerReader(self.folder / "runs" / NAME) as reader:
            yield reader

    def rounds(self, candidate: str) -> list[Round]:
        with self.reader() as reader:
            return reader.rounds(candidate)

    def units(self, candidate: str) -> list[str]:
        with self.reader() as reader:
            return [unit.unit for unit in reader.units(candidate)]

    def attempts(self, candidate: str, unit: str) -> int:
        with self.reader() as reader:
            return next(row.attempt for row in reader.units(candidate) if row.unit == unit)

    def end(self, candidate: str) -> tuple[str, str, str]:
        """(state, reason, detail)"""
        with self.reader() as reader:
            row = reader.candidate(candidate)
        assert row is not None
        return row.state.value, row.reason.value, row.detail

    def events(self, candidate: str, kind: str) -> list[str]:
        with self.reader() as reader:
            return [event.text for event in reader.events(candidate) if event.kind == kind]

    def kept(self) -> set[str]:
        folder = self.folder / "out" / NAME
        return {path.name for path in folder.iterdir()} if folder.exists() else set()

    def task(self, candidate: str) -> Task:
        """A kept task."""
        return read_task(self.folder / "out" / NAME / candidate).task


def saying(program: Program, first: str) -> Program:
    """A program whose first command begins with another one."""

    def call(messages: Sequence[Message], seed: int | None) -> str:
        return program(messages, seed).replace("```bash\n", f"```bash\n{first}\n", 1)

    return call


def changing(program: Program, old: str, new: str, *, where: str = "") -> Program:
    """A program in whose answers a text is replaced, in those that hold `where`."""

    def call(messages: Sequence[Message], seed: int | None) -> str:
        answer = program(messages, seed)
        return answer.replace(old, new) if where in answer else answer

    return call


def raising(error: Exception, times: int) -> FakeProgram:
    """A command that is the engine's end the first `times` times that it is given, and then does nothing."""
    left = iter(range(times))

    def run(call: Call) -> Answer:
        if next(left, None) is not None:
            raise error
        return Answer()

    return run
