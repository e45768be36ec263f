"""What a kept task says of where it came from, in [metadata.forge] of its task.toml. The same for the same run."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import tomlkit
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import Table

from forge.domain.clue import Clue
from forge.domain.configtext import read_tables
from forge.domain.refused import TaskRefused
from forge.domain.task import Task
from solvers.model import is_rehearsal


def with_provenance(
    task: Task, clue: Clue, *, strategy: str, rounds: int, models: Sequence[str], substitutes: Sequence[tuple[str, str]]
) -> Task:
    """The task with its provenance written into task.toml; everything else in that file stays as it is.

    models: of the author and all solvers; one that is a rehearsal program marks the whole task as rehearsal."""
    wanted = read_tables(task.config_text)
    forge = wanted.setdefault("metadata", {}).setdefault("forge", {})
    added = {
        "clue": clue.text,
        **{
            key: value
            for key in ("source", "licence")
            if (value := getattr(clue, key)) is not None and key not in forge
        },
        "strategy": strategy,
        "rounds": rounds,
        "models": sorted(set(models)),
        "rehearsal": any(map(is_rehearsal, models)),
    }
    if substitutes:
        added["substitutes"] = [f"{asked} -> {used}" for asked, used in sorted(set(substitutes))]
    forge.update(added)
    text = _edited(task.config_text, added)
    return replace(task, config_text=text if _says(text, wanted) else tomlkit.dumps(wanted))


def _edited(text: str, added: Mapping[str, Any]) -> str:
    """The text with keys added to [metadata.forge], "" where the editor cannot read it."""
    try:
        document = tomlkit.parse(text.removeprefix("\ufeff"))
        _table(_table(document, "metadata"), "forge").update(added)
        return tomlkit.dumps(document)
    except TOMLKitError:
        return ""


def _says(text: str, wanted: Mapping[str, Any]) -> bool:
    """The editor keeps comments, but there are spellings (dotted keys of inline tables) that it writes back wrongly."""
    try:
        return read_tables(text) == wanted
    except TaskRefused:
        return False


def _table(parent: Any, key: str) -> Table:
    if key not in parent:
        parent[key] = tomlkit.table()
    table = parent[key]
    if not isinstance(table, Table):
        table = tomlkit.table()
        table.update(parent[key])
        parent[key] = table
    return table
