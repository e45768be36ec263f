"""forge doctor: what this machine and this config are fit for, one line each."""

import argparse
from collections.abc import Iterator
from dataclasses import asdict

from forge.cli.checkups import FAIL, Checkup, engine_checkups, machine_checkups, model_checkups
from forge.cli.config_options import add_config_arguments, load_config
from forge.cli.output import print_json
from forge.domain.config import Config


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--ask", action="store_true", help="also ask each model for one short answer, which it may charge"
    )
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout")
    add_config_arguments(parser, flags=False)


def main(args: argparse.Namespace) -> int:
    """3 when something is missing without which a run cannot work."""
    found = []
    for checkup in _checkups(load_config(args), args.ask):
        found.append(checkup)
        if not args.json:
            print(f"{checkup.level:<4}  {checkup.name}: {checkup.text}", flush=True)
            if checkup.advice:
                print(f"      {checkup.advice}", flush=True)
    if args.json:
        print_json([asdict(checkup) for checkup in found])
    return 3 if any(checkup.level == FAIL for checkup in found) else 0


def _checkups(config: Config, ask: bool) -> Iterator[Checkup]:
    yield from machine_checkups(config)
    yield from engine_checkups(config)
    yield from model_checkups(config, ask)
