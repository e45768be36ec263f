"""forge run: clues to kept tasks. Running it again goes on with what is there and adds what is new."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from forge.cli.clue_files import read_clues
from forge.cli.config_options import add_config_arguments, load_config
from forge.cli.interrupt import stop_on_signals
from forge.cli.output import count, note, print_json
from forge.cli.progress_bar import ProgressBar
from forge.cli.run_view import run_view
from forge.cli.status import print_run
from forge.cli.tools import open_tools
from forge.cli.usage import UsageError
from forge.domain.clue import Clue
from forge.domain.config import Config
from forge.factory.progress import RunSummary
from forge.factory.run import run_factory
from forge.factory.signals import RunHalted, StopKind, StopSignal
from forge.storage.errors import LedgerMissing
from forge.storage.ledger_file import LEDGER_NAME
from forge.storage.ledger_reader import LedgerReader
from solvers.model import is_rehearsal


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("clues", nargs="*", metavar="CLUES", help="files with one clue a line as JSON; - is stdin")
    parser.add_argument("--clue", action="append", default=[], metavar="TEXT", help="one clue, in a sentence")
    parser.add_argument("--resume", action="store_true", help="go on with a run that is there; clues are not needed")
    parser.add_argument("--fresh", action="store_true", help="start anew beside older runs: NAME-2, NAME-3 ...")
    parser.add_argument("--events", action="store_true", help="print everything that happens to each candidate")
    parser.add_argument("--json", action="store_true", help="the status as one JSON document on stdout")
    add_config_arguments(parser)


def main(args: argparse.Namespace) -> int:
    """0; 1 when nothing is kept, the run's money is spent, or a clue line was broken; 3 when the run had to halt, or a
    candidate errored; 130 when it was interrupted."""
    config = _named(load_config(args), args.fresh)
    folder = Path(config.run.runs_dir) / config.run.name
    clues, broken = _clues(args, folder)
    for problem in broken:
        note(problem)
    if any(map(is_rehearsal, config.models_used())):
        note(
            "rehearsal: programs stand in for models, and tasks are drawn from shipped families, whatever the clue says"
        )
    _say_what_happens(folder, config, clues)
    summary = _run(config, clues, args.events)
    with LedgerReader(folder) as reader:
        view = run_view(reader)
    if args.json:
        print_json(view)
    else:
        print_run(view)
    return _code(summary, broken)


def _named(config: Config, fresh: bool) -> Config:
    """With `fresh`, under the first name that no run has yet."""
    name, number = config.run.name, 1
    while fresh and (Path(config.run.runs_dir) / name).exists():
        number += 1
        name = f"{config.run.name}-{number}"
    return config.model_copy(update={"run": config.run.model_copy(update={"name": name})})


def _clues(args: argparse.Namespace, folder: Path) -> tuple[Sequence[Clue], Sequence[str]]:
    """What the command line gives, and what is wrong with it. Raises UsageError."""
    there = (folder / LEDGER_NAME).exists()
    if args.resume and not there:
        raise UsageError(f"--resume: there is no run in {folder}; leave --resume out to start one")
    if args.resume and not args.clues and not args.clue:
        return (), ()
    found = read_clues(args.clues, args.clue)
    return found.clues, found.problems


def _say_what_happens(folder: Path, config: Config, clues: Sequence[Clue]) -> None:
    try:
        with LedgerReader(folder) as reader:
            known = {clue.id for clue in reader.clues()}
            ended = sum(row.state.final for row in reader.candidates())
    except LedgerMissing:
        note(f"run {config.run.name}: {count(len(clues), 'clue')}, seed {config.run.seed}, in {folder}")
        return
    new = sum(clue.id not in known for clue in clues)
    note(f"run {config.run.name} goes on: {count(len(known), 'clue')}, {ended} of them done, {new} new, in {folder}")


def _run(config: Config, clues: Sequence[Clue], events: bool) -> RunSummary:
    stop = StopSignal()
    with (
        open_tools(config) as tools,
        ProgressBar(config.run.name, events) as bar,
        stop_on_signals(stop, bar.say),
    ):
        return run_factory(config, clues, tools, stop=stop, progress=bar)


def _code(summary: RunSummary, broken: Sequence[str]) -> int:
    """Raises RunHalted."""
    if summary.stopped is StopKind.INTERRUPTED and summary.interrupted:
        note(f"interrupted; the same config and seed with --resume --name {summary.run} go on where it was")
        return 130
    if summary.stopped is StopKind.BUDGET:
        note(summary.why)
        return 1
    if summary.stopped is StopKind.HALTED:
        raise RunHalted(summary.why)
    if summary.errored:
        note(f"{count(summary.errored, 'candidate')} errored; running the same command again tries them again")
        return 3
    if broken:
        note(f"{count(len(broken), 'clue line')} left out, see above")
    return 0 if summary.retained and not broken else 1
