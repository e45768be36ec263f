"""From the text of task.toml to a TaskConfig, with errors and warnings that name the key."""

import tomllib
from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel, ValidationError

from forge.domain.refused import TaskRefused
from forge.domain.taskconfig import (
    DEPRECATED,
    EnvironmentConfig,
    ForgeMetadata,
    Metadata,
    NetworkMode,
    TaskConfig,
)

FILE = "task.toml"
UNREADABLE = (ValueError, RecursionError)
"""What tomllib raises: besides its own error, for endless numbers and endless nesting."""

LONGEST_AUTHORED_SEC = 3600.0
"""The most that what we write ourselves may set as a time-out, its collect hooks together."""

KNOWN_VERSIONS = ("1.0", "1.1", "1.2", "1.3", "1.4")


def read_tables(text: str) -> dict[str, Any]:
    """The tables as TOML has them. Raises TaskRefused."""
    try:
        return tomllib.loads(text.removeprefix("\ufeff"))
    except UNREADABLE as error:
        raise TaskRefused(FILE, "", f"not TOML: {error}") from error


def parse_config(text: str) -> TaskConfig:
    """The file as values. Raises TaskRefused for wrong values and for what is not run here."""
    tables = read_tables(text)
    try:
        config = TaskConfig.model_validate(tables)
    except ValidationError as error:
        first = error.errors()[0]
        why = first["msg"].removeprefix("Value error, ")
        raise TaskRefused(FILE, _dotted(first["loc"]), why) from error
    for key, why in _not_run(config):
        raise TaskRefused(FILE, key, why)
    return config


def refuse_unauthored(text: str) -> None:
    """What we write ourselves holds neither unknown nor deprecated keys, is judged in a container that no solver
    touched and that has no network, and waits for nothing longer than an hour. Raises TaskRefused."""
    config = parse_config(text)
    for key, why in [*unknown_keys(config), *_deprecated_keys(read_tables(text)), *_not_authored(config)]:
        raise TaskRefused(FILE, key, why)


def config_warnings(text: str) -> tuple[str, ...]:
    """What is read but means nothing here, one line each, with file and key."""
    config = parse_config(text)
    notes = [*unknown_keys(config), *_deprecated_keys(read_tables(text)), *_ignored(config)]
    return tuple(f"{FILE}: {key}: {why}" for key, why in notes)


def unknown_keys(config: BaseModel, prefix: str = "") -> Iterator[tuple[str, str]]:
    """(dotted key, why) of every key that the schema does not know. [metadata] is free."""
    if isinstance(config, Metadata | ForgeMetadata):
        return
    for name in config.model_extra or {}:
        yield prefix + name, "unknown key"
    for name in type(config).model_fields:
        value = getattr(config, name)
        if isinstance(value, BaseModel):
            yield from unknown_keys(value, f"{prefix}{name}.")
        elif isinstance(value, tuple):
            for index, item in enumerate(value):
                if isinstance(item, BaseModel):
                    yield from unknown_keys(item, f"{prefix}{name}[{index}].")


def _deprecated_keys(tables: dict[str, Any]) -> Iterator[tuple[str, str]]:
    if "version" in tables:
        yield "version", "old name of schema_version"
    machines = {
        "environment": tables.get("environment"),
        "verifier.environment": tables.get("verifier", {}).get("environment"),
    }
    for place, table in machines.items():
        for key in DEPRECATED:
            if key in (table or {}):
                yield f"{place}.{key}", "deprecated key"


def _not_authored(config: TaskConfig) -> Iterator[tuple[str, str]]:
    if not config.separate:
        yield "verifier.environment_mode", "has to be separate: in a solver's own container no verdict can be trusted"
    if config.verifier_network is not NetworkMode.NO_NETWORK:
        yield "verifier.network_mode", "has to be no-network: a verdict follows from what was handed in alone"
    hooks = sum(hook.timeout_sec for hook in config.verifier.collect)
    times = {
        "agent.timeout_sec": config.agent.timeout_sec or 0.0,
        "verifier.timeout_sec": config.verifier.timeout_sec,
        "verifier.collect": hooks,
        "environment.build_timeout_sec": config.environment.build_timeout_sec,
        "verifier.environment.build_timeout_sec": config.verifier_machine.build_timeout_sec,
    }
    for key, seconds in times.items():
        if seconds > LONGEST_AUTHORED_SEC:
            yield key, f"at most {LONGEST_AUTHORED_SEC:g} seconds, not {seconds:g}"


def _ignored(config: TaskConfig) -> Iterator[tuple[str, str]]:
    if config.schema_version not in KNOWN_VERSIONS:
        yield "schema_version", f"{config.schema_version} is not known here; read as {KNOWN_VERSIONS[-1]}"
    if config.environment.skills_dir is not None:
        yield "environment.skills_dir", "skills are not handed to solvers"


def _not_run(config: TaskConfig) -> Iterator[tuple[str, str]]:
    if config.steps:
        yield "steps", "tasks of several steps are not run here"
    machines = [("environment", config.environment)]
    if config.verifier.environment is not None:
        machines.append(("verifier.environment", config.verifier.environment))
    for place, machine in machines:
        yield from _machine_not_run(place, machine)
    for place, mode in (("agent", config.agent.network_mode), ("verifier", config.verifier.network_mode)):
        if mode is NetworkMode.ALLOWLIST:
            yield f"{place}.network_mode", ALLOWLIST
    if not config.separate and config.verifier.network_mode not in (None, config.solver_network):
        yield "verifier.network_mode", "a shared verifier runs in the solver's container, whose network cannot change"
    for index, artifact in enumerate(config.artifacts):
        if artifact.service not in (None, "main"):
            yield f"artifacts[{index}].service", "there is one service only, main"
    for index, hook in enumerate(config.verifier.collect):
        if hook.service not in (None, "main"):
            yield f"verifier.collect[{index}].service", "there is one service only, main"


ALLOWLIST = "a network of some hosts only is not run here, since names and addresses cannot be held apart reliably"


def _machine_not_run(place: str, machine: EnvironmentConfig) -> Iterator[tuple[str, str]]:
    if (machine.os or "linux").lower() != "linux":
        yield f"{place}.os", f"{machine.os} containers are not run here, Linux ones are"
    if machine.gpus:
        yield f"{place}.gpus", "GPUs are not handed to containers"
    if machine.network_mode is NetworkMode.ALLOWLIST:
        yield f"{place}.network_mode", ALLOWLIST
    if machine.mcp_servers:
        yield f"{place}.mcp_servers", "solvers act by shell commands; MCP servers are not started"


def _dotted(path: tuple[int | str, ...]) -> str:
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text
