"""Where to look next: listings, documents, sources, the beginnings of data, within what one turn can show."""

from collections.abc import Sequence

from solvers.rehearsal import shell, told
from solvers.rehearsal.technique import Move, View

TURN_BYTES = 13_000
DOCUMENTS = (".md", ".txt", ".rst", "README", "NOTES", "CHANGELOG")
SOURCES = (".py", ".sh", ".sql", ".toml", ".cfg", "Makefile", "requirements.txt", ".pl", ".awk")
SETTINGS = (".ini", ".conf", ".json", ".yaml", ".yml", ".env", ".properties")
DATA = (".csv", ".tsv", ".log", ".jsonl", ".ndjson", ".dat")
DATA_BYTES = 700
ORIENT = "id -un; pwd; ls -la; command -v python3 git sqlite3 jq make"
DATA_FILES = 6


def survey(view: View) -> Move | None:
    """Look around: everything under the folders that the instruction names, then documents, sources, settings, data."""
    if view.output_of(ORIENT) is None:
        return Move("First, where I am and which tools there are.", ORIENT)
    listing = list_named(view)
    if listing is not None:
        return listing
    documents, sources = view.named(DOCUMENTS), view.named(SOURCES)
    return (
        _read(view, documents, 1, f"There are {len(view.listing)} files. I read the documents first.")
        or _read(view, sources, 3, "Now that I know what it is for, I read the sources.")
        or _read(view, view.named(SETTINGS), 1, "Next the settings.")
        or _data(view)
    )


def list_named(view: View) -> Move | None:
    """List the folders that the instruction names, or the working directory where it names none."""
    command = shell.list_files(told.folders(view.instruction))
    if view.output_of(command) is not None:
        return None
    return Move("I begin with what is there.", command)


def read_named(view: View) -> Move | None:
    """Read the files that the instruction names, then those that these name."""
    named = mentioned(view, view.instruction)
    first = _read(view, named, 1, "I read what the instruction names.")
    if first is not None:
        return first
    onward = mentioned(view, "\n".join(view.text(path) for path in named))
    return _read(view, onward, 1, "These refer to other files; I read those as well.")


def mentioned(view: View, text: str) -> tuple[str, ...]:
    """The listed documents, sources and settings that the text names by path, by name or by their folder's path."""
    readable = view.named(DOCUMENTS + SOURCES + SETTINGS)
    folders = told.paths(text)
    return tuple(
        path
        for path in readable
        if path in text or ("." in _name(path) and _name(path) in text) or path.rsplit("/", 1)[0] in folders
    )


def _read(view: View, paths: Sequence[str], turns: int, thought: str) -> Move | None:
    """Read the unread of the paths, as many as fit into one turn, for at most so many turns."""
    unread = [path for path in paths if path not in view.files and path not in view.heads and view.sizes.get(path, 1)]
    batches = [(path, ran) for path in paths for ran, _ in view.outputs if ran.startswith("head -v") and path in ran]
    if not unread or len({ran for _, ran in batches}) >= turns:
        return None
    return Move(thought, shell.read_files(_fitting(view, unread)))


def _fitting(view: View, paths: Sequence[str]) -> list[str]:
    chosen: list[str] = []
    room = TURN_BYTES
    for path in paths:
        cost = min(view.sizes.get(path, shell.READ_CHARS), shell.READ_CHARS) + len(path) + 12
        if cost > room and chosen:
            break
        chosen.append(path)
        room -= cost
    return chosen


def _data(view: View) -> Move | None:
    """The beginnings of some data files, one a folder and kind first."""
    kinds: dict[tuple[str, str], str] = {}
    for path in view.named(DATA):
        kinds.setdefault((path.rsplit("/", 1)[0], path.rsplit(".", 1)[-1]), path)
    wanted = [path for path in kinds.values() if not view.text(path) and view.sizes.get(path, 1)][:DATA_FILES]
    command = f"head -v -c {DATA_BYTES} -- {shell.quote(*wanted)}"
    if not wanted or any(ran.startswith(f"head -v -c {DATA_BYTES} ") for ran, _ in view.outputs):
        return None
    return Move("A look at the data itself, only the beginning of each kind of file.", command)


def _name(path: str) -> str:
    return path.rsplit("/", 1)[-1]
