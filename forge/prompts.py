"""Prompts are files in templates/prompts, rendered strictly: a value that is not given is an error."""

import hashlib
from collections.abc import Sequence
from functools import cache

import jinja2

from forge.assets import templates


def render(name: str, **values: object) -> str:
    """The text of templates/prompts/NAME.md.j2. Raises jinja2.UndefinedError where a value is missing."""
    return _environment().get_template(f"{name}.md.j2").render(values).strip() + "\n"


def prompts_digest(names: Sequence[str]) -> str:
    """sha256 over the sources of these prompts, in the order of their names."""
    total = hashlib.sha256()
    for name in sorted(names):
        total.update(f"{name}\0{_source(f'{name}.md.j2')}\0".encode())
    return total.hexdigest()


@cache
def _environment() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.FunctionLoader(_source), undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )


def _source(name: str) -> str:
    return templates().joinpath("prompts").joinpath(name).read_text(encoding="utf-8")
