"""Runs of the toy world, also as programs that are killed, and what can be told of one from outside."""

import hashlib
import json
import os
import resource
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from forge.domain.clue import Clue
from forge.domain.config import Config
from forge.factory.progress import RunSummary
from forge.factory.run import Tools, run_factory
from forge.factory.signals import StopSignal
from forge.storage.errors import StorageError
from forge.storage.ledger_reader import LedgerReader
from sandbox.api import Engine
from sandbox.tree import Tree
from solvers.model import Message, Program
from tests.faults.killing import KillSwitch
from tests.faults.toy_machine import ASKED, toy_engine
from tests.faults.toy_models import CLUES, programs

NAME = "toy"
PAID = "paid"
"""The file with a line for each answer that a program gave, whether it was recorded or not."""
ENDED = "ended.json"
"""The file that a program writes when it comes to its end."""


def toy_config(folder: Path, **keys: Any) -> Config:
    """A config below `folder`. keys: table__key or table -> value."""
    data: dict[str, Any] = {
        "run": {
            "name": NAME,
            "seed": 7,
            "runs_dir": str(folder / "runs"),
            "out": str(folder / "out"),
            "candidates_at_once": 3,
            "trials_at_once": 3,
        },
        "author": {"model": "rehearsal/author", "steps": 10},
        "solvers": [{"name": name, "model": f"rehearsal/{name}", "steps": 10} for name in ("strong", "weak")],
        "calibration": {"max_rounds": 6, "self_solve_replays": 2},
        "sandbox": {"author_image": ASKED},
    }
    for key, value in keys.items():
        table, _, name = key.partition("__")
        if name:
            data.setdefault(table, {})[name] = value
        else:
            data[table] = value
    return Config.model_validate(data)


def served_config(folder: Path, api_base: str, **keys: Any) -> Config:
    """The same with models behind an endpoint, whose tokens cost a dollar for a thousand."""
    price = {"api_base": api_base, "input_usd_per_million": 1000.0, "output_usd_per_million": 1000.0, "retries": 0}
    names = ("author", "strong", "weak")
    served = {
        "author": {"model": "openai/author", "steps": 10},
        "solvers": [{"name": name, "model": f"openai/{name}", "steps": 10} for name in names[1:]],
        "models": {f"openai/{name}": price for name in names},
    }
    return toy_config(folder, **served, **keys)


def run_toy(
    config: Config,
    *,
    engine: Engine | None = None,
    models: Mapping[str, Program] | None = None,
    clues: Sequence[Clue] = CLUES,
    on_commit: Callable[[int], None] | None = None,
    stop: StopSignal | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> RunSummary:
    tools = Tools(
        engine=engine if engine is not None else toy_engine(),
        programs=programs() if models is None else models,
        skeleton=Tree(),
        clock=clock,
        on_commit=on_commit,
    )
    return run_factory(config, clues, tools, stop=stop or StopSignal())


def toy_until(folder: Path, at: int, config: Config, clues: Sequence[Clue]) -> None:
    """A program: the toy world until the event `at` kills it, or to its end (0). Events are the ledger's commits, the
    engine's operations, and both sides of every model call."""
    switch = KillSwitch(at)
    engine = toy_engine(switch)
    summary = run_toy(config, engine=engine, models=_counted(folder / PAID, switch), clues=clues, on_commit=switch)
    _end(folder, switch, summary, len(engine.host.sandboxes))


def served_until(folder: Path, at: int, config: Config, clues: Sequence[Clue]) -> None:
    """A program: as `toy_until`, with the models that the config names; the events are those of ledger and engine."""
    switch = KillSwitch(at)
    engine = toy_engine(switch)
    summary = run_toy(config, engine=engine, models={}, clues=clues, on_commit=switch)
    _end(folder, switch, summary, len(engine.host.sandboxes))


def toy_until_file(folder: Path, at: int, config: Config, clues: Sequence[Clue]) -> None:
    """A program: as `toy_until`; the events are all that is done to files below the folder of kept tasks."""
    switch = KillSwitch(at)
    below = config.run.out

    def audit(event: str, arguments: tuple[object, ...]) -> None:
        if event in ("open", "os.mkdir", "os.rename", "os.chmod", "os.rmdir", "os.remove") and any(
            str(argument).startswith(below) for argument in arguments[:2]
        ):
            switch(event)

    sys.addaudithook(audit)
    engine = toy_engine()
    summary = run_toy(config, engine=engine, clues=clues)
    _end(folder, switch, summary, len(engine.host.sandboxes))


def toy_with_little_disk(folder: Path, file_bytes: int, config: Config, clues: Sequence[Clue]) -> None:
    """A program: the toy world where no file may grow beyond a size. Exit code 28 where the ledger gives up."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (file_bytes, file_bytes))
    try:
        run_toy(config, clues=clues)
    except StorageError:
        sys.exit(28)


def _end(folder: Path, switch: KillSwitch, summary: RunSummary, containers: int) -> None:
    said = {"events": switch.events, "finished": summary.finished, "containers": containers}
    (folder / ENDED).write_text(json.dumps(said))


def _counted(path: Path, switch: KillSwitch) -> Mapping[str, Program]:
    """The toy's programs, with a line in a file for each answer before anybody sees it."""

    def counted(model: str, program: Program) -> Program:
        def call(messages: Sequence[Message], seed: int | None) -> str:
            switch("asked")
            answer = program(messages, seed)
            file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
            os.write(file, f"{call_key(model, messages)}\n".encode())
            os.close(file)
            switch("answered")
            return answer

        return call

    return {model: counted(model, program) for model, program in programs().items()}


def call_key(model: str, messages: Sequence[Message]) -> str:
    text = "\0".join([model, *(f"{message.role}\0{message.content}" for message in messages)])
    return hashlib.sha256(text.encode()).hexdigest()


def paid_calls(folder: Path) -> Counter[str]:
    path = folder / PAID
    return Counter(path.read_text().split() if path.exists() else ())


def recorded_calls(reader: LedgerReader) -> Counter[str]:
    ids = [row["id"] for row in reader.rows("SELECT id FROM calls")]
    return Counter(call_key(request.model, request.messages) for request in map(reader.request, ids))


def finished_units(reader: LedgerReader) -> Mapping[tuple[str, str], tuple[int, float]]:
    """(candidate, unit) -> (attempt, when it finished)."""
    found = reader.rows("SELECT candidate, unit, attempt, finished_at FROM units WHERE state = 'finished'")
    return {(row["candidate"], row["unit"]): (row["attempt"], row["finished_at"]) for row in found}


def kept_tasks(config: Config) -> Mapping[str, str]:
    """Name of each folder of kept tasks, hidden ones included -> the digest of its tree."""
    folder = Path(config.run.out) / config.run.name
    if not folder.exists():
        return {}
    return {path.name: Tree.read(path).digest(modes=True) for path in sorted(folder.iterdir())}


def told(config: Config) -> Mapping[str, Any]:
    """All that a run has found out, but for times: what two runs with the same answers have in common. By candidate."""
    kept = kept_tasks(config)
    with LedgerReader(Path(config.run.runs_dir) / config.run.name) as reader:
        return {
            row.id: {
                "kept": kept.get(row.id),
                "end": (row.state, row.reason, row.detail, row.rounds),
                "revisions": reader.revisions(row.id),
                "rounds": [_round(one.model_dump()) for one in reader.rounds(row.id)],
                "validations": reader.validations(row.id),
                "units": {unit.unit for unit in reader.units(row.id)},
            }
            for row in reader.candidates()
        }


def _round(facts: dict[str, Any]) -> dict[str, Any]:
    timed = ("time_sec", "trajectory_blob")
    trials = [{key: value for key, value in trial.items() if key not in timed} for trial in facts["trials"]]
    for trial in trials:
        trial["verdict"] = {key: value for key, value in trial["verdict"].items() if key != "duration_sec"}
    return {**facts, "trials": trials}
