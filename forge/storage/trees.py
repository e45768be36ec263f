"""Trees as blobs: one manifest, one blob for each file, so that what two revisions share is stored once."""

import json

from pydantic import TypeAdapter, ValidationError

from forge.storage.blobs import BlobStore
from forge.storage.errors import BlobCorrupt
from sandbox.tree import File, Tree

_Manifest = TypeAdapter(dict[str, tuple[str, int]])


def put_tree(blobs: BlobStore, tree: Tree) -> str:
    """Store a tree and return the name of its manifest, the same for equal trees. Raises LedgerFull."""
    manifest = {path: (blobs.put(file.data), file.mode) for path, file in tree.items()}
    return blobs.put(json.dumps(manifest, sort_keys=True).encode())


def get_tree(blobs: BlobStore, sha: str) -> Tree:
    """Raises BlobMissing, BlobCorrupt."""
    try:
        manifest = _Manifest.validate_python(json.loads(blobs.get(sha)))
        return Tree({path: File(blobs.get(name), mode) for path, (name, mode) in manifest.items()})
    except (ValueError, ValidationError) as error:
        raise BlobCorrupt(f"{blobs.path(sha)}: not the manifest of a tree ({error})") from error
