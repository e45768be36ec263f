"""Which family a clue leads to, and which family and draw an instruction was made of."""

import random
import re
from collections.abc import Mapping
from dataclasses import replace
from itertools import product

from forge.rehearsal.drawing import Draw, draw
from forge.rehearsal.families import Family
from forge.rehearsal.rendering import artifact_paths, instruction

CATEGORY_WEIGHT = 2


def choose(families: Mapping[str, Family], words: str, category: str, seed: int) -> Family:
    """The family that has most of the clue's words; ties, and clues that fit none, are settled by the seed."""
    tokens = set(re.findall(r"[a-z0-9]+", words))
    scores = {name: _score(family, tokens, words, category) for name, family in families.items()}
    best = [name for name, score in sorted(scores.items()) if score == max(scores.values())]
    return families[random.Random(f"{seed} family").choice(best)]


def _score(family: Family, tokens: set[str], words: str, category: str) -> int:
    hits = sum(keyword in tokens or (not keyword.isalnum() and keyword in words) for keyword in family.spec.keywords)
    return hits + (CATEGORY_WEIGHT if family.spec.category == category else 0)


def recognise(families: Mapping[str, Family], text: str, seed: int) -> tuple[Family, Draw] | None:
    """The family whose instruction, drawn with this seed and at some setting of the knobs, stands in the text."""
    given = _spaced(text)
    for family in families.values():
        drawn = draw(family, seed)
        if all(path in given for path in artifact_paths(family, drawn)):
            for setting in product(*(knob.values for knob in family.spec.knobs.values())):
                turned = replace(drawn, knobs=dict(zip(family.spec.knobs, setting, strict=True)))
                if _spaced(instruction(family, turned)) in given:
                    return family, turned
    return None


def _spaced(text: str) -> str:
    return " ".join(text.split())
