"""Runs of the rehearsal models on Docker, as programs that are killed."""

import json
from collections.abc import Mapping, Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from forge.assets import templates
from forge.cli.engines import docker_engine
from forge.cli.tools import rehearsal_programs
from forge.domain.clue import Clue
from forge.domain.config import Config
from forge.factory.bounded_engine import BoundedEngine
from forge.factory.run import Tools, run_factory
from forge.factory.signals import StopSignal
from forge.skeleton import verifier_skeleton
from forge.storage.ledger_reader import LedgerReader
from tests.faults.killing import KillSwitch
from tests.faults.labelled_engine import LabelledEngine
from tests.faults.noticing import NoticingEngine
from tests.faults.toy_run import kept_tasks

ENDED = "ended.json"
WORKERS = 4
"""The most units that can be under way at once: two candidates and two trials."""


def rehearsal_config(folder: Path, run: str, stand_in: str) -> Config:
    tables = {
        "run": {
            "name": run,
            "seed": 1,
            "runs_dir": str(folder / "runs"),
            "out": str(folder / "out"),
            "candidates_at_once": 2,
            "trials_at_once": 2,
        },
        "calibration": {"self_solve_replays": 1},
        "sandbox": {"substitutes": {"debian:bookworm-slim": stand_in}},
    }
    return Config.model_validate(tables)


def demo_clues(*words: str) -> list[Clue]:
    """The shipped clues whose text holds one of the words."""
    lines = templates().joinpath("clues").joinpath("demo.jsonl").read_text(encoding="utf-8").splitlines()
    clues = [Clue.model_validate_json(line) for line in lines]
    return [clue for clue in clues if any(word in clue.text for word in words)]


def rehearse_until(folder: Path, config: Config, clues: Sequence[Clue], base: str, at: int) -> None:
    """A program: the run until the event `at` kills it, or to its end (0). Events are the ledger's commits and both
    sides of every call of the engine."""
    switch = KillSwitch(at)
    with docker_engine(config) as docker:
        labelled = NoticingEngine(LabelledEngine(docker, base), switch)
        engine = BoundedEngine(labelled, config.sandbox.most.limits())
        tools = Tools(engine, rehearsal_programs(), verifier_skeleton(), on_commit=switch)
        summary = run_factory(config, clues, tools, stop=StopSignal())
    (folder / ENDED).write_text(json.dumps({"events": switch.events, "finished": summary.finished}))


def rehearse(connection: Connection, folder: Path, config: Config, clues: Sequence[Clue], base: str) -> None:
    """A program that others kill: the whole run."""
    rehearse_until(folder, config, clues, base, at=0)


def rehearsed(config: Config) -> Mapping[str, Any]:
    """What two runs with the same answers have in common, by candidate."""
    kept = kept_tasks(config)
    with LedgerReader(Path(config.run.runs_dir) / config.run.name) as reader:
        return {
            row.id: {
                "kept": kept.get(row.id),
                "end": (row.state, row.reason, row.detail, row.rounds),
                "revisions": [one.task_digest for one in reader.revisions(row.id)],
                "rounds": [(one.decision, [trial.outcome for trial in one.trials]) for one in reader.rounds(row.id)],
            }
            for row in reader.candidates()
        }
