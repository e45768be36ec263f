"""The hardened verifier skeleton in templates/verifier, as files."""

from collections.abc import Sequence

import jinja2

from forge.assets import templates
from sandbox.tree import Tree

SUFFIX = ".j2"
PLACEHOLDER = "test_name_of_yours"


def verifier_skeleton(expected: Sequence[str] = (PLACEHOLDER,)) -> Tree:
    """The skeleton for a verifier with these tests. Raises jinja2.UndefinedError where a template wants more."""
    environment = jinja2.Environment(undefined=jinja2.StrictUndefined, keep_trailing_newline=True)
    files = {}
    for entry in templates().joinpath("verifier").iterdir():
        text = entry.read_text(encoding="utf-8")
        if entry.name.endswith(SUFFIX):
            text = environment.from_string(text).render(expected=list(expected))
        files[entry.name.removesuffix(SUFFIX)] = text
    return Tree(files)
