"""Which run a subcommand is about."""

import argparse
from pathlib import Path

from forge.cli.usage import UsageError
from forge.storage.ledger_file import LEDGER_NAME


def add_run_argument(parser: argparse.ArgumentParser, optional: bool) -> None:
    what = "a run's name, or its folder" + (" (default: the one that was worked on last)" if optional else "")
    parser.add_argument("run", nargs="?" if optional else None, metavar="RUN", help=what)
    parser.add_argument("--runs-dir", default="runs", metavar="DIR", help="folder of the runs (default: runs)")


def find_run(args: argparse.Namespace) -> Path:
    """The folder of the run that was asked for. Raises UsageError."""
    runs = sorted(Path(args.runs_dir).glob(f"*/{LEDGER_NAME}"), key=_worked_on)
    if args.run is None:
        if not runs:
            raise UsageError(f"{args.runs_dir}: there is no run in this folder; `forge run` makes one")
        return runs[-1].parent
    for folder in (Path(args.runs_dir) / args.run, Path(args.run)):
        if (folder / LEDGER_NAME).exists():
            return folder
    known = ", ".join(sorted(path.parent.name for path in runs)) or "none"
    raise UsageError(f"{args.run}: no such run in {args.runs_dir} (there are: {known})")


def _worked_on(ledger: Path) -> float:
    """When a ledger was written to last; what is not yet in the file itself is in the log beside it."""
    return max(path.stat().st_mtime for path in (ledger, ledger.with_name(f"{ledger.name}-wal")) if path.exists())
