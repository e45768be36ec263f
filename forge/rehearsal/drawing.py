"""Drawing a family's values and knobs from a seed."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta

import jinja2

from forge.rehearsal.families import DrawRule, Family, FamilyInvalid, Knob, Record, Scalar

Drawn = Scalar | Record | list[Scalar | Record]


@dataclass(frozen=True)
class Draw:
    """What was drawn of a family. data_seed is what generators of data may seed themselves with."""

    family: str
    seed: int
    values: Mapping[str, Drawn]
    knobs: Mapping[str, Scalar]
    history: tuple[Mapping[str, Scalar], ...] = field(default=())

    def turned(self, **knobs: Scalar) -> "Draw":
        """The same values with other knobs; the setting that is left goes into the history."""
        return replace(self, knobs={**self.knobs, **knobs}, history=(*self.history, dict(self.knobs)))


def draw(family: Family, seed: int) -> Draw:
    """Values and first knobs. Each has a generator of its own, so that a new rule changes no other value.

    Raises FamilyInvalid where a rule cannot be followed."""
    spec = family.spec
    values: dict[str, Drawn] = {}
    for name, rule in spec.draw.items():
        if rule.text is None:
            values[name] = _value(family, name, rule, _generator(family, seed, name))
    for name, rule in spec.draw.items():
        if rule.text is not None:
            values[name] = _text(family, rule.text, values)
    knobs = {name: _knob(knob, _generator(family, seed, f"knob {name}")) for name, knob in spec.knobs.items()}
    return Draw(family.name, seed, values, knobs)


def _generator(family: Family, seed: int, name: str) -> random.Random:
    return random.Random(f"{seed} {family.name} {name}")


def _value(family: Family, name: str, rule: DrawRule, rng: random.Random) -> Drawn:
    if rule.date is not None:
        first, last = (date.fromisoformat(day) for day in rule.date)
        return (first + timedelta(rng.randint(0, (last - first).days))).isoformat()
    pool = _pool(family, rule)
    if rule.distinct is None:
        return rng.choice(pool)
    if rule.distinct > len(pool):
        raise FamilyInvalid(family.name, f"draw.{name}: {rule.distinct} distinct values out of {len(pool)}")
    return rng.sample(pool, rule.distinct)


def _pool(family: Family, rule: DrawRule) -> Sequence[Scalar | Record]:
    if rule.between is not None:
        return range(rule.between[0], rule.between[1] + 1)
    return family.words[rule.words] if rule.words is not None else rule.choice


def _text(family: Family, text: str, values: Mapping[str, Drawn]) -> str:
    try:
        return jinja2.Environment(undefined=jinja2.StrictUndefined).from_string(text).render(values)
    except jinja2.TemplateError as error:
        raise FamilyInvalid(family.name, f"draw: {text!r}: {error}") from error


def _knob(knob: Knob, rng: random.Random) -> Scalar:
    return rng.choices(knob.values, weights=knob.weights or None)[0]
