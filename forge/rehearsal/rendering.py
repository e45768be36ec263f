"""From a family and a draw to the parts of a task."""

import json
import random
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import jinja2

from forge.assets import templates
from forge.rehearsal.drawing import Draw
from forge.rehearsal.families import Family, FamilyInvalid
from forge.skeleton import verifier_skeleton
from sandbox.tree import File, Tree


@dataclass(frozen=True)
class Rendered:
    """A task without a solution. environment and tests are the folders of the same names."""

    instruction: str
    config_text: str
    environment: Tree
    tests: Tree

    def tree(self) -> Tree:
        """The task directory."""
        top = Tree({"instruction.md": self.instruction, "task.toml": self.config_text})
        return top.merged(self.environment.at("environment")).merged(self.tests.at("tests"))


def render(family: Family, drawn: Draw) -> Rendered:
    """All parts but the solution. Raises FamilyInvalid where a template fails."""
    context = _context_with_knobs(family, drawn)
    files = dict(family.files)
    files.update({copy.to: files[copy.source] for copy in family.spec.copies if copy.source in files})
    tests = _folder(family, files, "tests", context)
    return Rendered(
        instruction=instruction(family, drawn),
        config_text=_config(family, drawn, context),
        environment=_folder(family, files, "environment", context),
        tests=verifier_skeleton(family.spec.checks).merged(tests),
    )


def instruction(family: Family, drawn: Draw) -> str:
    """The instruction alone. Raises FamilyInvalid."""
    return _text(family, "instruction.md.j2", _context_with_knobs(family, drawn))


def reference_solution(family: Family, drawn: Draw) -> str:
    """solve.sh for these values. It must do for every setting of the knobs, so the template cannot see them."""
    return _text(family, "solve.sh.j2", _context(family, drawn))


def variants(family: Family, drawn: Draw, kind: str) -> dict[str, str]:
    """The scripts below `alternatives` (right) or `wrong` (wrong solutions), by name."""
    tree = _folder(family, family.files, kind, _context_with_knobs(family, drawn))
    return {path: file.data.decode() for path, file in tree.items()}


def artifact_paths(family: Family, drawn: Draw) -> list[str]:
    """The paths that are collected when an attempt ends."""
    context = _context(family, drawn)
    return [_string(family, path, context) for path in family.spec.artifacts]


def _context(family: Family, drawn: Draw) -> dict[str, Any]:
    seeded = random.Random(f"{drawn.seed} {family.name} data").randrange(10**9)
    return {**drawn.values, "family": family.name, "data_seed": seeded}


def _context_with_knobs(family: Family, drawn: Draw) -> dict[str, Any]:
    return {**_context(family, drawn), "knobs": drawn.knobs}


@cache
def _template(text: str) -> jinja2.Template:
    return _jinja().from_string(_without_tag_lines(text))


@cache
def _jinja() -> jinja2.Environment:
    root = templates()

    def source(name: str) -> str | None:
        file = root.joinpath(name)
        return _without_tag_lines(file.read_text("utf-8")) if file.is_file() else None

    made = jinja2.Environment(
        loader=jinja2.FunctionLoader(source),
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
    )
    made.filters["toml"] = _toml
    return made


def _without_tag_lines(text: str) -> str:
    """A line with nothing but one block tag leaves no line; other tags eat no line end (Jinja's trim_blocks would)."""
    return re.sub(r"(?m)^[ \t]*(\{%(?:(?!%\}).)*%\})[ \t]*\n", r"\1", text)


def _toml(value: object) -> str:
    """A value as TOML: strings and numbers as JSON writes them, tables inline."""
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{key} = {_toml(item)}" for key, item in value.items()) + " }" if value else "{}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_toml(item) for item in value) + "]"
    return json.dumps(value, ensure_ascii=False)


def _config(family: Family, drawn: Draw, context: Mapping[str, Any]) -> str:
    spec = family.spec
    task = {
        "title": _string(family, spec.title, context),
        "artifacts": artifact_paths(family, drawn),
        "spec": spec,
        "seed": drawn.seed,
        "history": drawn.history,
    }
    return _string(family, '{% include "task/task.toml.j2" %}', {**context, "task": task})


def _folder(family: Family, files: Mapping[str, bytes], folder: str, context: Mapping[str, Any]) -> Tree:
    below = {path[len(folder) + 1 :]: data for path, data in files.items() if path.startswith(f"{folder}/")}
    return _tree(family, below, context)


def _tree(family: Family, files: Mapping[str, bytes], context: Mapping[str, Any]) -> Tree:
    """Paths are templates too. Files that end in .j2 are rendered and lose the ending, unless only blanks are left."""
    made: dict[str, File] = {}
    for path, data in files.items():
        target = _string(family, path, context)
        if path.endswith(".j2"):
            text = _string(family, data.decode(), context, path)
            if text.strip():
                made[target.removesuffix(".j2")] = File(text.encode())
        else:
            made[target] = File(data)
    return Tree(made)


def _text(family: Family, path: str, context: Mapping[str, Any]) -> str:
    return _string(family, family.files[path].decode(), context, path)


def _string(family: Family, text: str, context: Mapping[str, Any], path: str = "family.toml") -> str:
    try:
        return _template(text).render(context)
    except jinja2.TemplateError as error:
        raise FamilyInvalid(family.name, f"{path}: {error}") from error
