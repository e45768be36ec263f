"""What share of the twelve shipped clues is kept by the rehearsal models, by seed and strategy.

    python benchmarks/yield_by_seed.py contrastive 7 8 9          the twelve clues, three seeds
    python benchmarks/yield_by_seed.py multi-solver 7 --clues templates/clues/blind.jsonl

Prints JSON: kept of how many for each seed, how each candidate's rounds went, and the lowest share, 0.7 wanted."""

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from forge.cli.clue_files import read_clues
from forge.cli.tools import open_tools
from forge.domain.clue import Clue
from forge.domain.config import Config
from forge.factory.run import run_factory
from forge.factory.signals import StopSignal
from forge.storage.ledger_reader import LedgerReader

CLUES = Path(__file__).resolve().parent.parent / "templates" / "clues" / "twelve.jsonl"
WANTED = 0.7


def main() -> int:
    parser = argparse.ArgumentParser(description="The share of clues that is kept, by seed.")
    parser.add_argument("strategy", choices=["contrastive", "multi-solver"])
    parser.add_argument("seeds", nargs="+", type=int)
    parser.add_argument("--clues", default=str(CLUES), help="instead of the twelve shipped ones")
    args = parser.parse_args()
    clues = read_clues([args.clues], []).clues
    with tempfile.TemporaryDirectory(prefix="yield-") as folder:
        runs = {seed: _run(args.strategy, seed, clues, Path(folder)) for seed in args.seeds}
    shares = [run["kept"] / len(clues) for run in runs.values()]
    print(json.dumps({"strategy": args.strategy, "wanted": WANTED, "lowest": min(shares), "runs": runs}, indent=1))
    return 0 if min(shares) >= WANTED else 1


def _run(strategy: str, seed: int, clues: Sequence[Clue], folder: Path) -> dict[str, object]:
    config = Config.model_validate(
        {
            "run": {"name": f"yield-{seed}", "seed": seed, "runs_dir": str(folder), "out": str(folder / "out")},
            "calibration": {"strategy": strategy},
        }
    )
    with open_tools(config) as tools:
        run_factory(config, clues, tools, stop=StopSignal())
    with LedgerReader(folder / config.run.name) as reader:
        kept = sum(row.state == "retained" for row in reader.candidates())
        rounds = {row.id: [*_course(reader, row.id), row.state.value] for row in reader.candidates()}
    return {"kept": kept, "of": len(clues), "candidates": rounds}


def _course(reader: LedgerReader, candidate: str) -> list[str]:
    return [round.decision.diagnosis or round.decision.kind for round in reader.rounds(candidate)]


if __name__ == "__main__":
    sys.exit(main())
