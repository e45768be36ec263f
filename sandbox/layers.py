"""The names of files in an image's layers: from the folders in which the engine keeps them, where those can be read on
this machine, else from the archive that it saves the image as, which takes seconds."""

import json
import os
import posixpath
import tarfile
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from sandbox.archive import ChunkReader, open_stream


def files_in_layers(chunks: Iterator[bytes], skip: int) -> list[str]:
    """Absolute paths of what is no folder in every layer but the first `skip`, sorted; also what later ones delete."""
    names: dict[str, list[str]] = {}
    links: dict[str, str] = {}
    order: list[str] = []
    with open_stream(ChunkReader(chunks)) as archive:
        for member in archive:
            if member.issym():
                links[member.name] = _target(member.name, member.linkname)
                continue
            data = archive.extractfile(member) if member.isreg() else None
            if data is None:
                continue
            if member.name == "manifest.json":
                order = json.load(data)[0]["Layers"]
            elif member.name.endswith("/layer.tar") or member.name.startswith("blobs/"):
                try:
                    with tarfile.open(fileobj=data, mode="r|*") as layer:
                        names[member.name] = [f"/{file.name}" for file in layer if _is_file(file)]
                except tarfile.TarError:
                    continue  # a blob that is no layer
    found: set[str] = set()
    for layer_name in order[skip:]:
        found.update(names.get(links.get(layer_name, layer_name), ()))
    return sorted(found)


def _is_file(member: tarfile.TarInfo) -> bool:
    """Not a folder, and not the mark of a deletion, which names a file of a layer below."""
    return not member.isdir() and not posixpath.basename(member.name).startswith(".wh.")


def layer_folders(driver: Mapping[str, object], skip: int) -> list[str] | None:
    """The folders of all layers but the lowest `skip`, from an image's GraphDriver; None where they cannot be read."""
    data = driver.get("Data")
    if driver.get("Name") != "overlay2" or not isinstance(data, Mapping):
        return None
    lower = [folder for folder in str(data.get("LowerDir") or "").split(":") if folder]
    folders = [*reversed(lower), str(data.get("UpperDir") or "")][skip:]
    return folders if all(os.access(folder, os.R_OK | os.X_OK) for folder in folders) else None


def files_in_folders(folders: Sequence[str]) -> list[str]:
    """As `files_in_layers`, of layers that lie in folders."""
    return sorted({name for folder in folders for name in _names(folder)})


@lru_cache(maxsize=256)
def _names(folder: str) -> tuple[str, ...]:
    """A layer never changes, and many images share it."""
    names = []
    for place, folders, files in os.walk(folder):
        links = [name for name in folders if os.path.islink(os.path.join(place, name))]
        names += [os.path.join(place, name)[len(folder) :] for name in (*files, *links)]
    return tuple(names)


def _target(name: str, link: str) -> str:
    """Layers that are the same are saved once, as links of the form ../ID/layer.tar."""
    return link.removeprefix("../") if link.startswith("../") else f"{name.rpartition('/')[0]}/{link}"
