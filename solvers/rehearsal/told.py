"""What a text tells its reader: commands in fenced blocks, commands in the running text, paths."""

import re

FENCE = re.compile(r"^[ \t]*```(\w*)[^\n]*\n(.*?)^[ \t]*```[ \t]*$", re.MULTILINE | re.DOTALL)
SHELLS = ("bash", "sh", "shell", "console")
SPAN = re.compile(r"`([^`\n]+)`")
RUNNERS = ("python3", "python", "bash", "sh", "make", "sqlite3", "git", "pip", "pip3", "perl", "awk", "sed", "cp", "mv")
REBUILDERS = ("python3", "python", "bash", "sh", "make")
PLACEHOLDER = re.compile(r"[<>…]|\.\.\.|\b[A-Z][A-Z_]{2,}\b(?![./])")
PATH = re.compile(r"(?<![\w./<-])/(?:[\w.@+-]+/)*[\w.@+-]*\w/?")
SYSTEM = re.compile(r"/(?:bin|dev|proc|sys|usr|lib|tmp|root|etc|var|opt|srv|home|logs)?")


def blocks(text: str) -> tuple[str, ...]:
    """The fenced blocks that are marked as shell, prompts ("$ ") taken off."""
    found = []
    for language, body in FENCE.findall(text):
        if language.lower() in SHELLS:
            lines = [re.sub(r"^\$ ", "", line) for line in body.rstrip("\n").split("\n")]
            found.append("\n".join(lines))
    return tuple(body for body in found if body.strip())


def spans(text: str, runners: tuple[str, ...] = RUNNERS) -> tuple[str, ...]:
    """Commands in the running text: code spans that begin with a known program and hold no placeholder."""
    plain = FENCE.sub("", text)
    found = [span.strip() for span in SPAN.findall(plain)]
    wanted = [span for span in found if span.split(" ")[0] in runners and " " in span and not PLACEHOLDER.search(span)]
    return tuple(dict.fromkeys(wanted))


def rebuilds(text: str) -> tuple[str, ...]:
    """Commands of a text that run a project's own programs (not those that would change its state by hand)."""
    return spans(text, REBUILDERS)


def paths(text: str) -> tuple[str, ...]:
    """Absolute paths in the text, in order of appearance, a folder's closing slash taken off; no URLs."""
    return tuple(dict.fromkeys(found.rstrip("/") or "/" for found in PATH.findall(text)))


def folders(text: str) -> tuple[str, ...]:
    """The folders worth a look: of the paths named, the outermost ones that are not the system's own."""
    named = [_folder(path) for path in paths(text)]
    wanted = [path for path in dict.fromkeys(named) if not SYSTEM.fullmatch(path)]
    return tuple(path for path in wanted if not any(path.startswith(other + "/") for other in wanted))


def _folder(path: str) -> str:
    last = path.rsplit("/", 1)[1]
    return path.rsplit("/", 1)[0] or "/" if "." in last.lstrip(".") else path
