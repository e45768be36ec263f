"""Starts the command line, once it is sure that the package `forge` which Python finds is this distribution's: others
install a package of that name too."""

import importlib
import importlib.util
import sys
from pathlib import Path

DISTRIBUTION = "terminal-task-forge"


def foreign_forge() -> str | None:
    """Where a `forge` that is not ours would be imported from, None when ours would be."""
    spec = importlib.util.find_spec("forge")
    if spec is None or spec.origin is None:
        return "nowhere"
    try:
        return None if DISTRIBUTION in Path(spec.origin).read_text(encoding="utf-8") else spec.origin
    except (OSError, UnicodeDecodeError):
        return spec.origin


def entry() -> None:
    """The `forge` command."""
    other = foreign_forge()
    if other is not None:
        print(
            f"forge: the package 'forge' comes from {other}, which is not {DISTRIBUTION}\n"
            f"  uninstall the other distribution, or install {DISTRIBUTION} into a virtual environment of its own",
            file=sys.stderr,
        )
        sys.exit(3)
    sys.exit(importlib.import_module("forge.cli.main").main(sys.argv[1:]))
