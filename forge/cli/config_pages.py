"""The config's own docstrings as a commented forge.toml and as docs/config.md."""

import json
import types
from collections.abc import Iterator
from enum import Enum
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from forge.domain.config import Config, SolverSection
from forge.domain.config_models import ModelSection

WIDTH = 118

TOML_HEAD = """\
# Config of the task factory. Every key is shown with its default; any may be left out. docs/config.md has the same.
# A flag of `forge run` overrides the key of its name (--seed 7), --set any key (--set sandbox.draft.cpus=2).
"""

TOML_MODELS = """\
# One table a model, named as [author] and [[solvers]] name it. To use models of your own:
#
#   [models."openai/my-model"]
#   api_base = "http://localhost:8000/v1"
#   api_key_env = "MY_KEY"
#
# and model = "openai/my-model" above. Keys of such a table:
"""

PAGE_HEAD = """\
# Config

<!-- Made from the docstrings of forge/domain/config*.py by `python -m forge.cli.config_pages > docs/config.md`. -->

One TOML file, by default `forge.toml` in the current folder; `forge init` writes one with every key and its default. A
key that is not known is refused, with a suggestion. `forge run` has a flag for every key of `[run]`, `[calibration]`
and `[budget]` (`--max-rounds 10` sets `calibration.max_rounds`), and `--set key=value` for any key
(`--set sandbox.draft.cpus=2`).
"""


def config_toml() -> str:
    """A file that says what the defaults say."""
    parts = [TOML_HEAD]
    for name, field in Config.model_fields.items():
        default = field.get_default(call_default_factory=True)
        if name == "solvers":
            parts.extend(_solver_tables(default))
        elif name == "models":
            body = "".join(_model_key(key, field) for key, field in _fields(ModelSection))
            parts.append(TOML_MODELS + "#\n" + body)
        else:
            parts.extend(_table(name, default, type(default).__doc__))
    return "\n".join(parts)


def _model_key(key: str, field: FieldInfo) -> str:
    default = field.get_default(call_default_factory=True)
    value = "..." if default is None else _toml(default)
    return f"{_comment(field.description)}# {key} = {value}\n"


def config_markdown() -> str:
    """docs/config.md."""
    parts = [PAGE_HEAD]
    for title, model, default, text in _sections():
        parts.append(f"## {title}\n\n{_one_line(text)}\n")
        rows = [_row(key, field, default) for key, field in _fields(model)]
        if rows:
            parts.append("\n".join(["| key | value | default | meaning |", "|---|---|---|---|", *rows]) + "\n")
    return "\n".join(parts)


def _row(key: str, field: FieldInfo, section: BaseModel | None) -> str:
    cells = (f"`{key}`", _type(field.annotation), _default(key, field, section), _one_line(field.description))
    return f"| {' | '.join(cells)} |"


def _sections() -> Iterator[tuple[str, type[BaseModel], BaseModel | None, str | None]]:
    """Each table's heading, model, the values it has when it is left out, and meaning, in the file's order."""
    for name, field in Config.model_fields.items():
        if name == "solvers":
            yield "[[solvers]]", SolverSection, None, SolverSection.__doc__
        elif name == "models":
            yield '[models."NAME"]', ModelSection, None, ModelSection.__doc__
        else:
            yield from _below(name, field, field.get_default(call_default_factory=True))


def _below(
    name: str, field: FieldInfo, default: BaseModel
) -> Iterator[tuple[str, type[BaseModel], BaseModel | None, str | None]]:
    yield f"[{name}]", type(default), default, field.description or type(default).__doc__
    for key, inner in type(default).model_fields.items():
        if isinstance(inner.default, BaseModel):
            yield from _below(f"{name}.{key}", inner, inner.default)


def _fields(model: type[BaseModel]) -> list[tuple[str, FieldInfo]]:
    """The keys of a table, those below it left out, its own before those that it shares with others."""
    fields = [(key, field) for key, field in model.model_fields.items() if not isinstance(field.default, BaseModel)]
    return sorted(fields, key=lambda item: item[0] not in model.__annotations__)


def _table(name: str, section: BaseModel, text: str | None) -> Iterator[str]:
    yield f"{_comment(text)}[{name}]\n" + "".join(_lines(section, True))
    for key, field in type(section).model_fields.items():
        value = getattr(section, key)
        if isinstance(value, BaseModel):
            yield from _table(f"{name}.{key}", value, field.description)


def _solver_tables(solvers: tuple[SolverSection, ...]) -> Iterator[str]:
    for number, solver in enumerate(solvers):
        lines = "".join(_lines(solver, number == 0))
        yield (_comment(SolverSection.__doc__) if number == 0 else "") + f"[[solvers]]\n{lines}"


def _lines(section: BaseModel, commented: bool) -> Iterator[str]:
    for key, field in _fields(type(section)):
        value = getattr(section, key)
        comment = _comment(field.description) if commented else ""
        if value is not None:
            yield f"{comment}{key} = {_toml(value)}\n"
        elif commented:
            yield f"{comment}# {key} = ...\n"


def _comment(text: str | None) -> str:
    """Filled comment lines."""
    lines, line = [], "#"
    for word in (text or "").split():
        if len(line) + 1 + len(word) > WIDTH:
            lines.append(line)
            line = "#"
        line = f"{line} {word}"
    return "\n".join([*lines, line]) + "\n"


def _toml(value: Any) -> str:
    if isinstance(value, Enum):
        value = value.value
    if isinstance(value, dict):
        return (
            "{ " + ", ".join(f"{_toml(key)} = {_toml(item)}" for key, item in value.items()) + " }" if value else "{}"
        )
    return json.dumps(value, ensure_ascii=False)


def _one_line(text: str | None) -> str:
    return " ".join((text or "").split()).replace("|", "\\|")


def _default(key: str, field: FieldInfo, section: BaseModel | None) -> str:
    default = field.get_default(call_default_factory=True) if section is None else getattr(section, key)
    if default is PydanticUndefined:
        return "required"
    return "not set" if default is None else f"`{_toml(default)}`"


def _type(annotation: Any) -> str:
    """What a value looks like, in words."""
    if get_origin(annotation) is Annotated:
        return _type(get_args(annotation)[0])
    if get_origin(annotation) in (Union, types.UnionType):
        return _type(next(part for part in get_args(annotation) if part is not type(None)))
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return " or ".join(f"`{_toml(item)}`" for item in annotation)
    words = {str: "text", int: "whole number", float: "number", bool: "true or false"}
    return words.get(annotation, "table")


if __name__ == "__main__":
    print(config_markdown(), end="")
