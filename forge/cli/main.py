"""The command line: which subcommand, its module loaded only when it is chosen, its errors to one message and a code.

Exit codes: 0 done, 1 findings or nothing kept, 2 usage or config, 3 environment, 130 interrupted.
"""

import argparse
import importlib
import os
import sys
from collections.abc import Sequence
from importlib import metadata

DISTRIBUTION = "terminal-task-forge"

COMMANDS = {
    "init": ("forge.cli.init", "write a commented forge.toml"),
    "run": ("forge.cli.run", "turn clues into kept tasks"),
    "validate": ("forge.cli.validate", "check task directories by running them"),
    "status": ("forge.cli.status", "a run's candidates, funnel and spend"),
    "show": ("forge.cli.show", "one candidate: its rounds, diffs and trials"),
    "doctor": ("forge.cli.doctor", "check this machine and this config"),
    "clean": ("forge.cli.clean", "remove what dead runs left behind"),
}


def main(argv: Sequence[str]) -> int:
    """Run one subcommand and return its exit code."""
    try:
        try:
            return _run(argv)
        finally:
            sys.stdout.flush()
    except KeyboardInterrupt:
        print("forge: interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # Who read the output has gone: nothing more can be said there, at exit neither.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


def _run(argv: Sequence[str]) -> int:
    command = next((word for word in argv if not word.startswith("-")), None)
    parser = _parser(command)
    args = parser.parse_args(list(argv))
    if args.command is None:
        parser.print_help()
        return 2
    module = importlib.import_module(COMMANDS[args.command][0])
    failures = importlib.import_module("forge.cli.failures")
    try:
        return int(module.main(args))
    except BrokenPipeError:
        raise
    except failures.KNOWN as error:
        message, code = failures.explain(error)
        print(f"forge: {message}", file=sys.stderr)
        return int(code)


def _parser(command: str | None) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="forge", description="Terminal tasks that are worth training on, from clues.")
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version")
    parsers = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands")
    for name, (module, summary) in COMMANDS.items():
        sub = parsers.add_parser(name, help=summary, description=f"{summary[0].upper()}{summary[1:]}.")
        if name == command:
            importlib.import_module(module).add_arguments(sub)
    return parser


class _Version(argparse.Action):
    """Reads the installed distribution only when it is asked for."""

    def __call__(self, parser: argparse.ArgumentParser, *_rest: object) -> None:
        try:
            version = metadata.version(DISTRIBUTION)
        except metadata.PackageNotFoundError:
            version = "(not installed)"
        print(DISTRIBUTION, version)
        parser.exit()
