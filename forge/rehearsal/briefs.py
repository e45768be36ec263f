"""What the messages of a duty say to the rehearsal author. Parsing only; nothing here fails on any text."""

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from solvers.model import Message

DUTY = re.compile(r"^#[ \t]*Duty:[ \t]*(\w+)", re.MULTILINE)
TABLE = re.compile(r"^\[metadata\.forge\.drawn\][ \t]*\n((?:[^\n\[][^\n]*\n?)*)", re.MULTILINE)
DIGEST = re.compile(r"^([0-9a-f]{64})  (?:\./)?([^\n]+)$", re.MULTILINE)
EXIT_CODE = re.compile(r"^(?:exit|return) ?code: *(-?\d+)", re.MULTILINE | re.IGNORECASE)


@dataclass(frozen=True)
class Brief:
    """duty: "" where none is named. text: the message that names it. seen: what each turn showed, oldest first; a turn
    that was answered by nothing yet is not in it."""

    duty: str
    text: str
    seen: tuple[str, ...]

    def section(self, heading: str) -> str:
        """The text below `## heading`: up to the end for the last heading of the author's own prompt, since what is
        quoted there may have headings of its own."""
        found = re.search(rf"^##[ \t]+{re.escape(heading)}[ \t]*$", self.text, re.MULTILINE | re.IGNORECASE)
        return self.text[found.end() :].strip() if found else ""


def read_brief(messages: Sequence[Message]) -> Brief:
    """The duty comes with the first user message that names one, else with the first user message."""
    asked = [message.content for message in messages if message.role == "user"]
    text = next((content for content in asked if DUTY.search(content)), asked[0] if asked else "")
    duty = DUTY.search(text)
    seen: list[str] = []
    answered = False
    for message in messages:
        if message.role == "assistant":
            answered = True
        elif message.role == "user" and answered:
            seen.append(message.content)
            answered = False
    return Brief(duty.group(1).lower() if duty else "", text, tuple(seen))


def words_of_clue(brief: Brief) -> tuple[str, str]:
    """(all words of the clue in lower case, its category or "")."""
    text = brief.section("Clue") or brief.text
    clue = _json_in(text)
    if clue is None:
        return text.lower(), ""
    parts = [clue.get("text"), *_strings(clue.get("tags")), *_strings(clue.get("tools"))]
    return " ".join(part for part in parts if isinstance(part, str)).lower(), str(clue.get("category") or "").lower()


def _json_in(text: str) -> Mapping[str, Any] | None:
    start = text.find("{")
    if start < 0:
        return None
    try:
        value, _ = json.JSONDecoder().raw_decode(text, start)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _strings(value: object) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def drawn_table(shown: str) -> Mapping[str, Any]:
    """[metadata.forge.drawn] of a task.toml that a command has shown; empty where there is none."""
    found = TABLE.search(shown)
    if found is None:
        return {}
    try:
        return tomllib.loads(found.group(1))
    except (tomllib.TOMLDecodeError, RecursionError):
        return {}


def digests(shown: str) -> dict[str, str]:
    """path -> sha256 of what a listing with digests has shown."""
    return {path: digest for digest, path in DIGEST.findall(shown)}


def failed(shown: str) -> bool:
    """Whether a command's report tells of an exit code other than 0."""
    code = EXIT_CODE.search(shown)
    return code is not None and code.group(1) != "0"
