"""Where the shipped templates are: beside the packages in a checkout, inside `forge.templates` once installed."""

import importlib.resources
from importlib.resources.abc import Traversable
from pathlib import Path


def templates() -> Traversable:
    """The folder with prompts, task skeletons, families and clues."""
    checkout = Path(__file__).resolve().parent.parent / "templates"
    if checkout.is_dir():
        return checkout
    return importlib.resources.files("forge.templates")
