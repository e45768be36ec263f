"""What belongs to which part of a task, and the digest of each.

    part          files                       task.toml
    instruction   instruction.md, as an agent sees it: without leading canary lines
    environment   environment/**              [environment]; user, network_mode, allowed_hosts of [agent]
    verifier      tests/**                    [verifier], artifacts, guards of [metadata.forge]
    solution      solution/**                 [solution]
    metadata      every other file            every other key
    none                                      schema_version, version, version of [task]

A digest is taken over paths, bytes and modes of the files and over the values of the keys: comments, spelling and
order in task.toml change nothing.
"""

import hashlib
import json
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import asdict, dataclass
from typing import Any

from sandbox.tree import Tree

MACHINE_KEYS_OF_AGENT = ("user", "network_mode", "allowed_hosts")


@dataclass(frozen=True)
class Parts:
    """sha256 of each part."""

    instruction: str
    environment: str
    verifier: str
    solution: str
    metadata: str

    def changed(self, other: "Parts") -> tuple[str, ...]:
        """Names of the parts that differ, in the order above."""
        mine, theirs = asdict(self), asdict(other)
        return tuple(name for name in mine if mine[name] != theirs[name])


def split_tables(tables: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """task.toml's values by part; what belongs to none is left out. No value is dropped otherwise."""
    rest = deepcopy(dict(tables))
    rest.pop("schema_version", None)
    rest.pop("version", None)
    if isinstance(rest.get("task"), dict):
        rest["task"].pop("version", None)
    agent = _table(rest, "agent")
    forge = _table(_table(rest, "metadata"), "forge")
    return {
        "environment": {
            "environment": rest.pop("environment", {}),
            "agent": {key: agent.pop(key) for key in MACHINE_KEYS_OF_AGENT if key in agent},
        },
        "verifier": {
            "verifier": rest.pop("verifier", {}),
            "artifacts": rest.pop("artifacts", []),
            "guards": forge.pop("guards", []),
        },
        "solution": {"solution": rest.pop("solution", {})},
        "metadata": {key: value for key, value in rest.items() if value != {}},
    }


def digest_of(tree: Tree, values: object) -> str:
    """sha256 over a tree with its modes and over values."""
    canonical = json.dumps(values, sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(f"{tree.digest(modes=True)}\n{canonical}".encode("utf-8", "surrogatepass")).hexdigest()


def _table(tables: dict[str, Any], key: str) -> dict[str, Any]:
    value = tables.get(key)
    return value if isinstance(value, dict) else {}
