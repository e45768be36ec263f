"""Events that were delivered more than once: kept once where they stand for one thing."""

import ast
import json

from solvers.rehearsal import edits, shell
from solvers.rehearsal.edits import Edit
from solvers.rehearsal.phrases import chosen
from solvers.rehearsal.technique import Move, View

DATA = (".jsonl", ".ndjson")
NOUN = r"(?:\w+ ){0,6}?"
ONCE = (
    rf"count(?:s|ed)? {NOUN}(?:only |just |exactly )?once\b",
    r"only the first (?:\w+ )?(?:counts|is counted|is kept)",
    r"(?:repeats|repetitions|copies|duplicates) (?:are|must be) (?:ignored|dropped|left out|not counted)",
    r"(?:must|may|do|does|is|are) not (?:be )?count(?:ed)? (?:twice|again)",
)
EACH = (
    r"count(?:s|ed)? (?:\w+ )?each time",
    r"count(?:s|ed)? (?:\w+ )?every time",
    r"(?:each|every) (?:line|delivery|copy|record|one) (?:of them )?(?:counts|is counted)",
    r"count(?:s|ed)? as often as",
    r"count(?:s|ed)? (?:on its own|separately|again)",
)
FIND = """\
import json, sys
from collections import Counter, defaultdict

lines, values = Counter(), defaultdict(Counter)
for path in sys.argv[1:]:
    for line in open(path, encoding="utf-8", errors="replace"):
        try:
            event = json.loads(line)
        except ValueError:
            continue
        if isinstance(event, dict):
            lines[json.dumps(event, sort_keys=True)] += 1
            for field, value in event.items():
                values[field][str(value)] += 1
total, distinct = sum(lines.values()), len(lines)
keys = [field for field, seen in values.items() if len(seen) == distinct and sum(seen.values()) == total]
print(json.dumps({"events": total, "repeated": total - distinct, "keys": keys}))
"""
WRAPPER = '''\
def first_deliveries(read):
    """Of events with the same {field}, the reader gives only the first."""

    def unique(*args, **kwargs):
        seen = set()
        for event in read(*args, **kwargs):
            key = event[{field!r}] if isinstance(event, dict) else getattr(event, {field!r}, event)
            if key not in seen:
                seen.add(key)
                yield event

    return unique


@first_deliveries
'''


class RepeatedEvents:
    """Find events that arrived twice under one id, and count them as the documents say: once, unless they say else."""

    name = "count repeated deliveries once"
    names = ("repeated deliver", "repeated event", "repeated line", "duplicate deliver", "deduplicat", "at-least-once")

    def probe(self, view: View) -> Move | None:
        data = view.named(DATA)
        if not data or _reader(view) is None:
            return None
        return Move("Are there events in the data that come more than once?", self._find(view))

    def act(self, view: View) -> Move | None:
        reader, field = _reader(view), self._key(view)
        if reader is None or field is None or not chosen(view.prose(), ONCE, EACH, default=True):
            return None
        path, line = reader
        thought = f"Some events come twice with the same {field}, and {path} reads them all. One event counts once."
        return Move(thought, edits.command([Edit(path, line, WRAPPER.format(field=field) + line)]))

    def _find(self, view: View) -> str:
        return shell.run_python(FIND, *view.named(DATA)[:60])

    def _key(self, view: View) -> str | None:
        """The field that identifies an event, when some come more than once."""
        output = view.output_of(self._find(view))
        try:
            found = json.loads(output.stdout) if output else None
        except ValueError:
            return None
        if not isinstance(found, dict) or not found.get("repeated") or not isinstance(found.get("keys"), list):
            return None
        keys = [str(key) for key in found["keys"]]
        return next((key for key in keys if "id" in key.lower()), keys[0] if keys else None)


def _reader(view: View) -> tuple[str, str] | None:
    """(path, its `def` line) of the outermost function that yields events parsed from JSON lines, in a source that does
    not remember what it has seen."""
    for path in view.named((".py",)):
        try:
            tree = ast.parse(view.files.get(path, ""))
        except (SyntaxError, ValueError):
            continue
        functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
        parsing = {function.name for function in functions if _calls(function, {"loads"})}
        if not parsing or any(_calls(function, {"set"}) for function in functions):
            continue
        outer = [function for function in functions if _yields(function) and _calls(function, parsing)]
        inner = [function for function in functions if _yields(function) and function.name in parsing]
        for function in [*outer, *inner]:
            return path, (view.files[path].split("\n")[function.lineno - 1])
    return None


def _calls(function: ast.FunctionDef, names: set[str]) -> bool:
    called = [node.func for node in ast.walk(function) if isinstance(node, ast.Call)]
    return any((getattr(name, "attr", None) or getattr(name, "id", None)) in names for name in called)


def _yields(function: ast.FunctionDef) -> bool:
    return any(isinstance(node, ast.Yield | ast.YieldFrom) for node in ast.walk(function))
