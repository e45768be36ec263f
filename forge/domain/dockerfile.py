"""What a Dockerfile takes from its context: just enough to say which file is missing before anything is built."""

import json
import re
from collections.abc import Collection, Iterator
from fnmatch import fnmatchcase

_COMMENT = re.compile(r"\s*#")
_OPTION = re.compile(r"--[a-z]+(=\S*)?")


def missing_sources(dockerfile: str, context: Collection[str]) -> tuple[str, ...]:
    """Sources of COPY and ADD that no file of the context (relative paths) answers to.

    What only a build can tell (variables, other stages, addresses, inline files) is taken for granted."""
    return tuple(source for source in copy_sources(dockerfile) if not _answered(source, context))


def copy_sources(dockerfile: str) -> Iterator[str]:
    """Sources of COPY and ADD that have to be in the context, as they are written."""
    for line in _instructions(dockerfile):
        word, _, rest = line.partition(" ")
        if word.upper() not in ("COPY", "ADD"):
            continue
        options, arguments = _arguments(rest.strip())
        if any(option.startswith("--from=") for option in options) or any(a.startswith("<<") for a in arguments):
            continue
        yield from (a for a in arguments[:-1] if "$" not in a and "://" not in a and not a.startswith("git@"))


def _instructions(dockerfile: str) -> Iterator[str]:
    pending = ""
    for line in dockerfile.splitlines():
        if _COMMENT.match(line):
            continue
        text = line.rstrip()
        if text.endswith("\\"):
            pending += text[:-1] + " "
            continue
        if pending or text.strip():
            yield (pending + text).strip()
        pending = ""
    if pending.strip():
        yield pending.strip()


def _arguments(rest: str) -> tuple[list[str], list[str]]:
    options = []
    while match := _OPTION.match(rest):
        options.append(match[0])
        rest = rest[match.end() :].lstrip()
    if rest.startswith("["):
        try:
            listed = json.loads(rest)
        except ValueError:
            listed = None
        if isinstance(listed, list):
            return options, [str(item) for item in listed]
    return options, rest.split()


def _answered(source: str, context: Collection[str]) -> bool:
    wanted = source.strip("/").removeprefix("./")
    if wanted in ("", "."):
        return True
    depth = wanted.count("/") + 1
    return any(fnmatchcase("/".join(path.split("/")[:depth]), wanted) for path in context)
