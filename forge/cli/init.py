"""forge init: a commented forge.toml."""

import argparse
from pathlib import Path

from forge.cli.config_options import DEFAULT_FILE
from forge.cli.config_pages import config_toml
from forge.cli.output import note
from forge.cli.usage import UsageError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", nargs="?", default=DEFAULT_FILE, help=f"where to write it (default: {DEFAULT_FILE})")


def main(args: argparse.Namespace) -> int:
    """Never overwrites."""
    file = Path(args.file)
    try:
        with file.open("x", encoding="utf-8") as out:
            out.write(config_toml())
    except FileExistsError as error:
        raise UsageError(f"{file}: exists already and is left as it is; name another file, or remove it") from error
    except (FileNotFoundError, NotADirectoryError) as error:
        raise UsageError(f"{file}: its folder does not exist; make it first") from error
    note(f"wrote {file}; every key in it has its default")
    return 0
