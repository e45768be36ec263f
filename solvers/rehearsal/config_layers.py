"""Layered configuration: the documents state the layers and which of them wins; they are merged setting by setting."""

import json
import re
from dataclasses import dataclass

from solvers.rehearsal import shell, told
from solvers.rehearsal.layer_merge import PROGRAM
from solvers.rehearsal.patterns import filled, has_placeholder, matching
from solvers.rehearsal.phrases import chosen, states
from solvers.rehearsal.technique import Move, View

FORMATS = (".ini", ".json", ".env", ".conf", ".cfg")
ITEM = re.compile(r"^[ \t]*(?:\d+[.)]|\|)[^`\n]*`([^`\n]+)`", re.MULTILINE)
WINS = r"(?:wins|win|overrides?|takes? precedence|counts?|decides?)"
LAST_WINS = (
    rf"(?:later|last|lower|following) (?:layer|file|one|entry)?s? ?{WINS}",
    r"from (?:the )?(?:weakest|lowest|least \w+) to (?:the )?(?:strongest|highest|most)",
    r"overrides? (?:the (?:ones?|layers?|files?)|those|what is|everything|all) (?:above|before|earlier)",
    r"(?:weakest|lowest precedence) first",
)
FIRST_WINS = (
    r"(?:first|earlier|earliest|upper) (?:layer|file|one|entry)?s? ?(?:that \w+ (?:a|the|it)[ \w]{0,20})?"
    rf"{WINS}",
    r"from (?:the )?(?:strongest|highest|most \w+) to (?:the )?(?:weakest|lowest|least)",
    r"overrides? (?:the (?:ones?|layers?|files?)|those|what is|everything|all) (?:below|after|later|behind)",
    r"(?:strongest|highest precedence) first",
)
EMPTY = r"(?:empty|blank) (?:value|text|string|setting)"
UNSETS = (
    rf"{EMPTY}[^.;]{{0,60}}\b(?:unsets?|unset|removes?|deletes?|drops?|taken? out|clears?)\b",
    rf"(?:unset|removed?|deleted?) by (?:an? )?{EMPTY}",
)
STAYS = (
    rf"{EMPTY}s? (?:is|are|counts?|stays?|remains?)[^.;]{{0,40}}\b(?:like any other|kept|values? too|valid)\b",
    rf"{EMPTY}s? (?:overrides?|wins?|counts?)\b",
)
APPENDS = (r"lists?\b[^.;]{0,60}\b(?:append|concatenat|joined|accumulat|added together|added to|extend)",)
REPLACES = (r"lists?\b[^.;]{0,60}\b(?:replaces?|replaced|overrides?|as a whole)\b",)
TEXTS = (r"values (?:are|as) (?:all )?(?:texts|strings|text)\b", r"(?:are|as) the (?:texts|strings)\b")
TYPED = (r"keep(?:s|ing)? (?:their|its|the) (?:json )?types?",)


@dataclass(frozen=True)
class Layers:
    """patterns: of files, absolute, as listed in the document at `path`, the weakest first."""

    path: str
    patterns: tuple[str, ...]


class ConfigLayers:
    """Merge configuration layers by their documented precedence, and write what results for each instance."""

    name = "merge layered configuration by its stated precedence"
    names = ("configuration layers", "layered configuration", "layers by their precedence", "merge the layers")

    def probe(self, view: View) -> Move | None:
        """All evidence is in the documents and in the listing."""
        return None

    def act(self, view: View) -> Move | None:
        layers = _documented(view)
        target = _target(view)
        if layers is None or target is None:
            return None
        instances = _instances(view, layers, target)
        if not instances:
            return None
        prose = view.prose()
        plan = {
            "instances": instances,
            "texts": chosen(prose, TEXTS, TYPED, default=False),
            "dots": "dot" in prose,
            "unset": chosen(prose, UNSETS, STAYS, default=False),
            "append": chosen(prose, APPENDS, REPLACES, default=False),
        }
        thought = f"{layers.path} lists {len(layers.patterns)} layers and says which wins. I merge them key by key."
        return Move(thought, shell.run_python(PROGRAM, json.dumps(plan)))


def _documented(view: View) -> Layers | None:
    """The longest list of layers in a document, put in order; None where no document has one and says which wins."""
    for path in view.named((".md", ".txt", ".rst")):
        text = view.text(path)
        found = [_absolute(view, path, span) for span in ITEM.findall(text)]
        patterns = [pattern for pattern in dict.fromkeys(found) if pattern is not None]
        one_line = re.sub(r"\s+", " ", text).lower()
        last, first = states(one_line, LAST_WINS), states(one_line, FIRST_WINS)
        if len(patterns) >= 2 and last != first:
            expanded = [file for pattern in patterns for file in _files(view, pattern)]
            return Layers(path, tuple(expanded if last else reversed(expanded)))
    return None


def _absolute(view: View, document: str, span: str) -> str | None:
    """The pattern of a layer's files, when it has a known format and fits files that are there."""
    if not span.endswith(FORMATS) or " " in span:
        return None
    folder = document.rsplit("/", 1)[0]
    bases = ("",) if span.startswith("/") else (f"{folder}/", f"{folder.rsplit('/', 1)[0]}/")
    return next((base + span for base in bases if matching(view.listing, base + span)), None)


def _files(view: View, pattern: str) -> list[str]:
    """The files of a layer without placeholder, in the order of their names; a pattern with a placeholder stays."""
    return [pattern] if has_placeholder(pattern) else sorted(matching(view.listing, pattern))


def _target(view: View) -> str | None:
    """The path of the results as the instruction gives it: a JSON file, with or without a placeholder."""
    spans = [span for span in told.SPAN.findall(view.instruction) if span.startswith("/") and span.endswith(".json")]
    return next((span for span in spans if span not in view.listing), None)


def _instances(view: View, layers: Layers, target: str) -> dict[str, list[str]]:
    """Path of each result -> the files of its layers, the weakest first."""
    names: set[str] = set()
    for pattern in layers.patterns:
        if has_placeholder(pattern):
            names.update(matching(view.listing, pattern).values())
    if not has_placeholder(target):
        return {target: list(layers.patterns)} if not names else {}
    listed = set(view.listing)
    found = {}
    for name in sorted(names):
        files = [filled(pattern, name) for pattern in layers.patterns]
        found[filled(target, name)] = [path for path in files if path in listed]
    return found
