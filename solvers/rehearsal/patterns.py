"""Path patterns as people write them: `/srv/out/NAME.csv`, `conf.d/*.ini`, `hosts/<host>.env`."""

import re
from collections.abc import Iterable

PLACEHOLDER = re.compile(r"<\w+>|\{\w+\}|\b[A-Z]{3,}\b")


def has_placeholder(pattern: str) -> bool:
    return PLACEHOLDER.search(pattern) is not None


def filled(pattern: str, name: str) -> str:
    """The pattern with a name in place of its placeholder."""
    return name.join(PLACEHOLDER.split(pattern))


def matching(paths: Iterable[str], pattern: str) -> dict[str, str]:
    """Path -> what stands for the placeholder, or "", of the paths that fit. `*` is anything within a folder."""
    expression = re.escape(PLACEHOLDER.sub("\0", pattern)).replace(r"\*", "[^/]*").replace("\0", "([^/]+)", 1)
    compiled = re.compile(expression.replace("\0", "[^/]+"))
    found = ((path, compiled.fullmatch(path)) for path in paths)
    return {path: match.group(1) if match.groups() else "" for path, match in found if match}
