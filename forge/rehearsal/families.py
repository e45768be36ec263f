"""Task families: parametrised tasks that the rehearsal author draws on (docs/families.md says how to write one).

templates/families/NAME/family.toml        what can be drawn, which knobs can be turned
                       instruction.md.j2  environment/**  tests/**  solve.sh.j2  alternatives/**  wrong/**
"""

import tomllib
from collections.abc import Mapping
from importlib.resources.abc import Traversable
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError, model_validator

from forge.assets import templates
from forge.rehearsal.resources import walk

Scalar = str | int
Record = dict[str, Scalar]
Name = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]*$")]
Category = Literal[
    "software engineering",
    "system administration",
    "scientific computing",
    "security",
    "data science",
    "file operations",
    "debugging",
    "data processing",
    "model training",
    "mathematics",
    "machine learning",
    "personal assistant",
    "optimization",
    "games",
    "data querying",
    "video processing",
]
RESERVED = frozenset({"knobs", "family", "seed", "data_seed", "expected", "loop", "history", "task"})


class FamilyInvalid(Exception):
    """A family that cannot be used: its name and what is wrong with it."""

    def __init__(self, family: str, why: str) -> None:
        super().__init__(f"family {family}: {why}")
        self.family, self.why = family, why


class Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Knob(Strict):
    """Allowed values, and how likely the first draw is to take each (all equal when weights are absent)."""

    values: tuple[Scalar, ...] = Field(min_length=1)
    weights: tuple[float, ...] = ()

    @model_validator(mode="after")
    def _matching(self) -> Self:
        if self.weights and len(self.weights) != len(self.values):
            raise ValueError("as many weights as values are needed")
        return self


class DrawRule(Strict):
    """How one value is drawn: exactly one of choice, words, between, date, text.

    choice: one of these, values or records of values that belong together. words: one of a list in families/words.toml.
    between: a whole number, both ends included. date: an ISO date, both ends included. text: a template over the values
    drawn by the other rules. distinct: draw that many different ones, as a list (choice, words, between)."""

    choice: tuple[Scalar | Record, ...] = ()
    words: str | None = None
    between: tuple[int, int] | None = None
    date: tuple[str, str] | None = None
    text: str | None = None
    distinct: int | None = Field(default=None, ge=1)

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        kinds = [bool(self.choice), *(k is not None for k in (self.words, self.between, self.date, self.text))]
        if sum(kinds) != 1:
            raise ValueError("exactly one of choice, words, between, date, text is needed")
        if self.distinct is not None and (self.date is not None or self.text is not None):
            raise ValueError("distinct goes with choice, words or between")
        return self


class Copy(Strict):
    """A file of the family that is shipped a second time at another place, e.g. a generator that the tests need too."""

    source: str
    to: str


class FamilySpec(Strict):
    """family.toml."""

    name: Name
    category: Category
    title: str = Field(min_length=1)
    keywords: tuple[str, ...] = Field(min_length=1)
    tags: tuple[str, ...] = Field(min_length=1)
    expert_time_estimate_min: int = Field(ge=1)
    checks: tuple[str, ...] = Field(min_length=1)
    guards: tuple[str, ...] = ()
    artifacts: tuple[str, ...] = Field(min_length=1)
    copies: tuple[Copy, ...] = ()
    knobs: Mapping[Name, Knob]
    draw: Mapping[Name, DrawRule]

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        unknown = set(self.guards) - set(self.checks)
        if unknown:
            raise ValueError(f"guards that are no checks: {', '.join(sorted(unknown))}")
        if set(self.guards) == set(self.checks):
            raise ValueError("a task is more than guards")
        taken = RESERVED & set(self.draw)
        if taken:
            raise ValueError(f"reserved names: {', '.join(sorted(taken))}")
        lists = [rule.words for rule in self.draw.values() if rule.words]
        if len(lists) != len(set(lists)):
            raise ValueError("two rules draw from the same word list and could collide: draw distinct ones in one rule")
        return self


class Family(Strict):
    """A family's specification, the files below its folder (relative path -> bytes) and the shared word lists."""

    spec: FamilySpec
    files: Mapping[str, bytes]
    words: Mapping[str, tuple[str, ...]]

    @property
    def name(self) -> str:
        return self.spec.name


def load_families(root: Traversable | None = None) -> dict[str, Family]:
    """All families below `root` (a folder of families with a words.toml; by default the shipped ones), by name, sorted.

    Raises FamilyInvalid."""
    from_folder = root if root is not None else templates().joinpath("families")
    words = _words(from_folder)
    found = (_load(entry, words) for entry in from_folder.iterdir() if entry.joinpath("family.toml").is_file())
    return {family.name: family for family in sorted(found, key=lambda family: family.name)}


def _words(root: Traversable) -> dict[str, tuple[str, ...]]:
    source = root.joinpath("words.toml")
    if not source.is_file():
        return {}
    lists = tomllib.loads(source.read_text("utf-8"))
    return {name: tuple(str(word) for word in words) for name, words in lists.items()}


def _load(folder: Traversable, words: Mapping[str, tuple[str, ...]]) -> Family:
    files = {path: entry.read_bytes() for path, entry in walk(folder)}
    try:
        spec = FamilySpec.model_validate(tomllib.loads(files["family.toml"].decode()))
    except (ValidationError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise FamilyInvalid(folder.name, f"family.toml: {error}") from error
    if spec.name != folder.name:
        raise FamilyInvalid(folder.name, f"family.toml says name = {spec.name!r}")
    missing = {rule.words for rule in spec.draw.values() if rule.words} - set(words)
    if missing:
        raise FamilyInvalid(folder.name, f"no such word list: {', '.join(sorted(map(str, missing)))}")
    for needed in ("instruction.md.j2", "solve.sh.j2"):
        if needed not in files:
            raise FamilyInvalid(folder.name, f"{needed} is missing")
    return Family(spec=spec, files=files, words=words)
