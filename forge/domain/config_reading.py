"""From a config file's text to a Config: overrides, unknown keys with a suggestion, a line a problem."""

import difflib
import tomllib
import types
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError

from forge.domain.config import Config
from forge.domain.configtext import UNREADABLE

Path = tuple[int | str, ...]


class ConfigRefused(Exception):
    """A config that cannot be used. `problems` has one line each: file, key, what is wrong."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = tuple(problems)


def parse_config(text: str, source: str, overrides: Mapping[str, Any] | None = None) -> Config:
    """`source` names the file in messages. `overrides` maps dotted keys ("run.seed") to values and wins.

    Raises ConfigRefused."""
    try:
        data = tomllib.loads(text)
    except UNREADABLE as error:
        raise ConfigRefused([f"{source}: not valid TOML: {error}"]) from error
    for key, value in (overrides or {}).items():
        _override(data, key, value)
    try:
        return Config.model_validate(data)
    except ValidationError as error:
        raise ConfigRefused([_problem(source, item) for item in error.errors()]) from error


def parse_assignment(text: str) -> tuple[str, Any]:
    """ "key=value" of a command line; the value is TOML, or a plain string where it is not.

    Raises ConfigRefused."""
    key, equals, value = text.partition("=")
    key = key.strip()
    if not equals or not key:
        raise ConfigRefused([f"--set {text}: is not of the form key=value, for example run.seed=7"])
    try:
        return key, tomllib.loads(f"value = {value.strip()}")["value"]
    except UNREADABLE:
        return key, value.strip()


def _override(data: dict[str, Any], dotted: str, value: Any) -> None:
    path = dotted.split(".")
    table = data
    for done, key in enumerate(path[:-1], start=1):
        below = table.setdefault(key, {})
        if not isinstance(below, dict):
            where = ".".join(path[:done])
            raise ConfigRefused([f"{dotted}: {where} is no table, so it has no key {path[done]!r} to set"])
        table = below
    table[path[-1]] = value


def _problem(source: str, error: Any) -> str:
    path: Path = tuple(part for part in error["loc"] if part != "[key]")
    where = f"{source}: {_dotted(path)}: " if path else f"{source}: "
    if error["type"] == "extra_forbidden":
        return f"{where}unknown key{_suggestion(path)}"
    if error["type"] == "missing":
        return f"{where}is required"
    if error["type"] in ("model_type", "dict_type", "tuple_type"):
        kind = "an array of tables" if error["type"] == "tuple_type" else "a table"
        return f"{where}should be {kind}, not {_shown(error['input'])}"
    message = str(error["msg"]).removeprefix("Value error, ")
    if error["type"] == "value_error":
        return f"{where}{message}"
    return f"{where}{message[:1].lower()}{message[1:]}, not {_shown(error['input'])}"


def _dotted(path: Path) -> str:
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part + 1}]"
        else:
            text += ("." if text else "") + (part if part.replace("_", "").replace("-", "").isalnum() else f'"{part}"')
    return text


def _suggestion(path: Path) -> str:
    known = _keys_at(path[:-1])
    close = difflib.get_close_matches(str(path[-1]), known, n=1, cutoff=0.6)
    if close:
        return f"; did you mean {close[0]!r}?"
    return f"; known here: {', '.join(known)}" if known else ""


def _keys_at(path: Path) -> list[str]:
    """The keys that the table at this place of the file may have."""
    model: Any = Config
    for part in path:
        if isinstance(model, type) and issubclass(model, BaseModel) and part in model.model_fields:
            model = _inner(model.model_fields[str(part)].annotation)
    return list(model.model_fields) if isinstance(model, type) and issubclass(model, BaseModel) else []


def _inner(annotation: Any) -> Any:
    """The table behind tuple[X, ...], dict[str, X] and X | None; other types as they are."""
    if get_origin(annotation) in (tuple, dict, Union, types.UnionType, Annotated):
        for argument in get_args(annotation):
            inner = _inner(argument)
            if isinstance(inner, type) and issubclass(inner, BaseModel):
                return inner
    return annotation


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
