"""The program that merges configuration layers: it is given a plan as JSON, and runs in the container."""

PROGRAM = '''\
"""Merge configuration layers, the weakest first, into one JSON file for each instance."""

import configparser
import json
import re
import sys
from pathlib import Path

plan = json.loads(sys.argv[1])


def flat(tree, above=()):
    for key, value in tree.items():
        if isinstance(value, dict):
            yield from flat(value, (*above, key))
        else:
            yield (*above, key), value


def text(value):
    if isinstance(value, list):
        return [text(item) for item in value]
    return value if isinstance(value, str) or not plan["texts"] else "" if value is None else json.dumps(value)


def read_env(path):
    settings = {}
    for line in Path(path).read_text().splitlines():
        name, equals, value = line.strip().removeprefix("export ").partition("=")
        if equals and not name.startswith("#"):
            parts = re.split("__|[.]", name.strip().lower())
            quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "\\"'"
            settings[tuple(parts)] = value[1:-1] if quoted else value.strip()
    return settings


def read_ini(path):
    parser = configparser.RawConfigParser(delimiters=("=",), strict=False, allow_no_value=True)
    parser.optionxform = str
    parser.read_string(Path(path).read_text())
    nested = {name: tuple(name.split(".")) if plan["dots"] else (name,) for name in parser.sections()}
    return {(*nested[name], key): value or "" for name in parser.sections() for key, value in parser[name].items()}


def read(path):
    if path.endswith(".json"):
        return dict(flat(json.loads(Path(path).read_text())))
    return read_env(path) if path.endswith(".env") else read_ini(path)


contents = {path: read(path) for layers in plan["instances"].values() for path in layers}
named = {key[0] for path, found in contents.items() if path.endswith(".env") for key in found}
sections = {key[0] for path, found in contents.items() if not path.endswith(".env") for key in found}
prefixed = len(named) == 1 and not named & sections
for instance, layers in plan["instances"].items():
    settings = {}
    for path in layers:
        for key, value in contents[path].items():
            key = key[1:] if prefixed and path.endswith(".env") else key
            value, below = text(value), settings.get(key)
            if plan["append"] and isinstance(value, list) and isinstance(below, list):
                value = below + value
            settings[key] = value
    tree = {}
    for (*sections, key), value in settings.items():
        if value in ("", None) and plan["unset"]:
            continue
        at = tree
        for name in sections:
            at = at.setdefault(name, {})
        at[key] = value
    target = Path(instance)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(json.dumps(tree, indent=4, ensure_ascii=False))
    print(target, len(settings), "settings of", len(layers), "layers")
'''
