"""forge clean: what dead runs left in the engine."""

import argparse
from dataclasses import asdict

from forge.cli.config_options import add_config_arguments, load_config
from forge.cli.engines import docker_engine
from forge.cli.output import count, print_json


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--images", action="store_true", help="also remove every image that was built here and is not in use"
    )
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout")
    add_config_arguments(parser, flags=False)


def main(args: argparse.Namespace) -> int:
    """Only what belongs to processes that no longer live goes; ledgers and kept tasks stay."""
    with docker_engine(load_config(args)) as engine:
        swept = asdict(engine.sweep_dead())
        if args.images:
            swept["images"] += engine.clean_images()
    if args.json:
        print_json(swept)
    else:
        print("removed " + ", ".join(count(number, kind.removesuffix("s")) for kind, number in swept.items()))
    return 0
