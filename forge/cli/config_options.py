"""`--config`, `--set key=value`, and a flag of the same name for every key of [run], [calibration] and [budget]."""

import argparse
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from forge.cli.usage import UsageError
from forge.domain.config import BudgetSection, CalibrationSection, Config, RunSection
from forge.domain.config_reading import parse_assignment, parse_config

DEFAULT_FILE = "forge.toml"

SECTIONS: dict[str, type[BaseModel]] = {"run": RunSection, "calibration": CalibrationSection, "budget": BudgetSection}


def add_config_arguments(parser: argparse.ArgumentParser, flags: bool = True) -> None:
    """flags: also one for each key of the three tables."""
    group = parser.add_argument_group("config")
    group.add_argument("--config", metavar="FILE", help=f"config file (default: {DEFAULT_FILE} where there is one)")
    group.add_argument(
        "--set", metavar="KEY=VALUE", action="append", default=[], help="set any key, for example sandbox.draft.cpus=2"
    )
    if not flags:
        return
    for section, model in SECTIONS.items():
        for key, field in model.model_fields.items():
            group.add_argument(
                f"--{key.replace('_', '-')}",
                dest=f"{section}.{key}",
                metavar=key.upper(),
                help=(field.description or "").split(". ", maxsplit=1)[0].replace("`", "").replace("\n", " "),
            )


def load_config(args: argparse.Namespace) -> Config:
    """Raises ConfigRefused, UsageError."""
    overrides: dict[str, Any] = {}
    for text in args.set:
        key, value = parse_assignment(text)
        overrides[key] = value
    for dest, value in vars(args).items():
        if "." in dest and value is not None:
            overrides.update([parse_assignment(f"{dest}={value}")])
    if args.config is None and not Path(DEFAULT_FILE).exists():
        return parse_config("", "defaults", overrides)
    file = Path(args.config or DEFAULT_FILE)
    try:
        text = file.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise UsageError(f"{file}: no such config file; `forge init` writes one") from error
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{file}: cannot be read: {error}") from error
    return parse_config(text, str(file), overrides)
