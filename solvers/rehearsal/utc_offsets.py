"""Timestamps with a UTC offset: sources that cut the offset off, drop it, or take local time for UTC."""

import ast
import re

from solvers.rehearsal import edits, shell
from solvers.rehearsal.edits import Edit
from solvers.rehearsal.technique import Move, View

STAMP = r"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]+)?)?[+-][0-9]{2}:?[0-9]{2}"
ISO_LENGTH = 19
DATA = (".jsonl", ".ndjson", ".log", ".csv", ".tsv", ".txt", ".json")
CUTTERS = ("split", "rsplit", "partition", "rpartition")


class UtcOffsets:
    """Parse the offset of each timestamp and convert to UTC where a program computes in UTC."""

    name = "keep the UTC offset when parsing timestamps"
    names = ("utc offset", "offset-aware", "timezone-aware", "time zone offset", "timezone offset")

    def probe(self, view: View) -> Move | None:
        data = view.named(DATA)
        if not data or not _parses_times(view) or _offsets_seen(view):
            return None
        names = shell.quote(*data[:20])
        command = f"grep -hoE '{STAMP}' -- {names} | head -n 5"
        return Move("The sources parse timestamps. I want to see whether the data's have UTC offsets.", command)

    def act(self, view: View) -> Move | None:
        if not _offsets_seen(view):
            return None
        found = [edit for path in view.named((".py",)) for edit in repair(path, view.files.get(path, ""))]
        if not found:
            return None
        thought = f"The timestamps carry offsets, but {found[-1].path} loses them. I keep them and convert to UTC."
        return Move(thought, edits.command(found))


def _offsets_seen(view: View) -> bool:
    pattern = re.compile(STAMP)
    texts = [view.instruction, *view.files.values(), *view.heads.values(), *(out.stdout for _, out in view.outputs)]
    return any(pattern.search(text) for text in texts)


def _parses_times(view: View) -> bool:
    return any("fromisoformat" in text or "strptime" in text for text in view.files.values())


def repair(path: str, source: str) -> list[Edit]:
    """The edits that make a Python source convert its ISO timestamps to UTC; none where it does not lose the offset."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return []
    cuts = _cut_names(tree)
    found: list[Edit] = []
    inside: set[ast.AST] = set()
    for node in ast.walk(tree):
        if node in inside or not isinstance(node, ast.Call):
            continue
        new = _converted(node, cuts)
        old = ast.get_source_segment(source, node)
        if new is not None and old is not None:
            inside.update(ast.walk(node))
            found.append(Edit(path, old, new))
    if not found:
        return []
    found += [Edit(path, ast.get_source_segment(source, cut) or "", base) for cut, base in cuts.values()]
    return [*_import_edits(path, source, tree, found), *dict.fromkeys(edit for edit in found if edit.old)]


def _converted(node: ast.Call, cuts: dict[str, tuple[ast.expr, str]]) -> str | None:
    """The call's replacement when it parses a timestamp and loses its offset."""
    zone = next((keyword.value for keyword in node.keywords if keyword.arg == "tzinfo"), None)
    if isinstance(node.func, ast.Attribute) and node.func.attr == "replace" and zone is not None:
        inner = node.func.value
        if isinstance(inner, ast.Call) and (parsed := _parsed(inner)) is not None:
            base = _uncut(inner.args[0]) or ast.unparse(inner.args[0])
            return f"{parsed}.fromisoformat({base}).astimezone({_utc(parsed)}).replace(tzinfo={ast.unparse(zone)})"
        return None
    parsed = _parsed(node)
    if parsed is None:
        return None
    argument = node.args[0]
    known = isinstance(argument, ast.Name) and argument.id in cuts
    base = ast.unparse(argument) if known else _uncut(argument) or ""
    return f"{parsed}.fromisoformat({base}).astimezone({_utc(parsed)}).replace(tzinfo=None)" if base else None


def _parsed(node: ast.Call) -> str | None:
    """The datetime class as the source writes it, when the call parses a text into one."""
    function = node.func
    if not isinstance(function, ast.Attribute) or function.attr not in ("fromisoformat", "strptime") or not node.args:
        return None
    owner = ast.unparse(function.value)
    return owner if owner.split(".")[-1].lower() in ("datetime", "dt") else None


def _uncut(node: ast.expr) -> str | None:
    """The expression without what cuts the end of a timestamp off; None where nothing does."""
    if isinstance(node, ast.Subscript):
        if isinstance(node.slice, ast.Slice):
            upper = node.slice.upper
            short = isinstance(upper, ast.Constant) and upper.value in (ISO_LENGTH, ISO_LENGTH - 3)
            minus = isinstance(upper, ast.UnaryOp) and isinstance(upper.op, ast.USub)
            return ast.unparse(node.value) if node.slice.lower is None and (short or minus) else None
        call = node.value
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr in CUTTERS:
            return ast.unparse(call.func.value)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "sub":
        pattern = ast.unparse(node.args[0]) if len(node.args) == 3 else ""
        return ast.unparse(node.args[2]) if "+" in pattern and "-" in pattern else None
    return None


def _cut_names(tree: ast.Module) -> dict[str, tuple[ast.expr, str]]:
    """Names that are given a cut timestamp: name -> (the cutting expression, the text without the cut)."""
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            base = _uncut(node.value)
            if base is not None:
                found[node.targets[0].id] = (node.value, base)
    return found


def _utc(parsed: str) -> str:
    return f"{parsed.rsplit('.', 1)[0]}.timezone.utc" if "." in parsed else "timezone.utc"


def _import_edits(path: str, source: str, tree: ast.Module, found: list[Edit]) -> list[Edit]:
    """The import of `timezone`, where the edits need it and the source has it not."""
    imports = [node for node in tree.body if isinstance(node, ast.ImportFrom) and node.module == "datetime"]
    have = any(alias.name == "timezone" and alias.asname is None for node in imports for alias in node.names)
    bare = any(re.search(r"(?<![.\w])timezone\.utc", edit.new) for edit in found)
    line = ast.get_source_segment(source, imports[0]) if imports else None
    if have or not bare or line is None:
        return []
    return [Edit(path, line, f"{line}\nfrom datetime import timezone")]
