"""Build contexts: the digest that names an image, the tar that is sent to the engine."""

import hashlib
import io
import json
import tarfile
from collections.abc import Mapping

from sandbox.errors import ContextRefused
from sandbox.tree import File, Tree

# Not 1970: some archive formats cannot hold that.
CONTEXT_TIME = 1577836800


def image_digest(context: Tree, facts: Mapping[str, object]) -> str:
    """sha256 over the context with its modes and whatever else decides what is built (32 hex digits of it)."""
    text = json.dumps({"context": context.digest(modes=True), **facts}, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def tar_of(
    tree: Mapping[str, File], *, folders: bool = False, uid: int = 0, below: str = "", time: float = CONTEXT_TIME
) -> bytes:
    """A tar of a tree, all of one time, below a relative folder; with an entry for each folder when asked."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as archive:
        made: set[str] = set()
        for path, file in sorted(tree.items()):
            if folders:
                _add_folders(archive, path, made, folder_entry(below, uid, time))
            entry = tarfile.TarInfo(f"{below}{path}")
            entry.size, entry.mode, entry.mtime = len(file.data), file.mode, time
            entry.uid = entry.gid = uid
            archive.addfile(entry, io.BytesIO(file.data))
    return out.getvalue()


def _add_folders(archive: tarfile.TarFile, path: str, made: set[str], model: tarfile.TarInfo) -> None:
    parts = path.split("/")[:-1]
    for count in range(1, len(parts) + 1):
        folder = "/".join(parts[:count])
        if folder not in made:
            made.add(folder)
            archive.addfile(folder_entry(f"{model.name}{folder}", model.uid, model.mtime))


def folder_entry(path: str, uid: int = 0, time: float = CONTEXT_TIME) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(path)
    entry.type, entry.mode, entry.mtime = tarfile.DIRTYPE, 0o755, time
    entry.uid = entry.gid = uid
    return entry


def check_context(context: Tree) -> None:
    """Raises ContextRefused for a context that cannot be built."""
    if "Dockerfile" not in context:
        raise ContextRefused("the build context has no Dockerfile at its root")
    if ".dockerignore" in context:
        raise ContextRefused(".dockerignore is not supported: leave the files out of the context instead")


def dockerfile_text(context: Tree) -> str:
    """Raises ContextRefused when it is no text."""
    try:
        return context["Dockerfile"].data.decode()
    except UnicodeDecodeError as error:
        raise ContextRefused(f"Dockerfile: not UTF-8 text ({error})") from error
