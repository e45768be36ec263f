"""Pinned packages that do not go together: the smallest change of pins that the packages' own metadata allows."""

import json
import re

from solvers.rehearsal import edits, shell
from solvers.rehearsal.edits import Edit
from solvers.rehearsal.phrases import chosen
from solvers.rehearsal.technique import Move, View

PIN = re.compile(r"^[ \t]*([A-Za-z0-9][\w.-]*)[ \t]*==[ \t]*([\w.!+-]+)", re.MULTILINE)
NEWEST = (r"\b(?:newest|latest|highest) (?:\w+ )?(?:releases?|versions?)\b",)
OLDEST = (r"\b(?:oldest|lowest|earliest) (?:\w+ )?(?:releases?|versions?)\b",)
SEARCH = """\
import email, itertools, json, re, sys, zipfile
from pathlib import Path
from pip._vendor.packaging.requirements import Requirement
from pip._vendor.packaging.utils import canonicalize_name as plain
from pip._vendor.packaging.version import Version

file, folder, order = sys.argv[1:]
shelf = {}
for path in Path(folder).glob("*.whl"):
    with zipfile.ZipFile(path) as wheel:
        info = next(name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
        about = email.message_from_bytes(wheel.read(info))
    needs = [Requirement(need) for need in about.get_all("Requires-Dist") or []]
    kept = [need for need in needs if need.marker is None or need.marker.evaluate({"extra": ""})]
    shelf.setdefault(plain(about["Name"]), {})[Version(about["Version"])] = kept
found = re.findall(r"(?m)^\\s*([A-Za-z0-9][\\w.-]*)\\s*==\\s*([\\w.!+-]+)", Path(file).read_text())
pins = {plain(name): Version(version) for name, version in found}

def fits(chosen):
    if any(version not in shelf.get(name, {}) for name, version in chosen.items()):
        return False
    needs = [need for name, version in chosen.items() for need in shelf[name][version]]
    if any(plain(n.name) in chosen and chosen[plain(n.name)] not in n.specifier for n in needs):
        return False
    rest = sorted({plain(need.name) for need in needs} - set(chosen))
    return not rest or any(fits({**chosen, rest[0]: version}) for version in shelf.get(rest[0], {}))

def changes():
    for count in range(len(pins) + 1):
        for names in itertools.combinations(sorted(pins), count):
            ordered = [sorted(shelf.get(name, {}), reverse=order == "newest") for name in names]
            for versions in itertools.product(*ordered):
                if fits({**pins, **dict(zip(names, versions))}):
                    return {name: str(version) for name, version in zip(names, versions)}

print(json.dumps(changes()))
"""


class VersionConflict:
    """Read what every release needs, and change as few pins as possible, to the newest releases that fit by default."""

    name = "resolve a version conflict"
    names = ("dependency conflict", "version conflict", "conflicting versions", "conflicting pins", "resolve the pins")

    def probe(self, view: View) -> Move | None:
        search = _search(view)
        if search is None:
            return None
        return Move("Pins and a folder of wheels: which pins do not go with what the others need?", search)

    def act(self, view: View) -> Move | None:
        search, pins = _search(view), _pins(view)
        output = view.output_of(search) if search else None
        changes = _changes(output.stdout) if output else {}
        if pins is None or not changes:
            return None
        path, text = pins
        made = [
            Edit(path, pin[0], pin[0][: -len(pin[2])] + changes[_plain(pin[1])])
            for pin in PIN.finditer(text)
            if changes.get(_plain(pin[1]), pin[2]) != pin[2]
        ]
        if not made:
            return None
        names = " and ".join(changes)
        return Move(f"The pin of {names} does not go with the rest; nothing else has to change.", edits.command(made))


def _pins(view: View) -> tuple[str, str] | None:
    """(path, text) of the first requirements file with pins."""
    for path in view.named((".txt",)):
        if "requirements" in path.rsplit("/", 1)[-1] and PIN.search(view.files.get(path, "")):
            return path, view.files[path]
    return None


def _search(view: View) -> str | None:
    wheels, pins = view.named((".whl",)), _pins(view)
    if not wheels or pins is None:
        return None
    newest = chosen(view.prose(), NEWEST, OLDEST, default=True)
    return shell.run_python(SEARCH, pins[0], wheels[0].rsplit("/", 1)[0], "newest" if newest else "oldest")


def _changes(shown: str) -> dict[str, str]:
    try:
        found = json.loads(shown)
    except ValueError:
        return {}
    return {str(name): str(version) for name, version in found.items()} if isinstance(found, dict) else {}


def _plain(name: str) -> str:
    """A package's name as metadata compares it."""
    return re.sub(r"[-_.]+", "-", name).lower()
