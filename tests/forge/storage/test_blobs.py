"""Blobs are whole or not there; trees come back as they were."""

import threading
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forge.storage.blobs import INCOMING_NAME, BlobStore
from forge.storage.errors import BlobCorrupt, BlobMissing
from forge.storage.trees import get_tree, put_tree
from sandbox.tree import File, Tree


@pytest.fixture
def blobs(tmp_path: Path) -> BlobStore:
    return BlobStore(tmp_path)


def names(blobs: BlobStore) -> list[str]:
    return sorted(path.name for path in blobs.folder.glob("??/*"))


def left_over(blobs: BlobStore) -> list[Path]:
    return list((blobs.folder / INCOMING_NAME).iterdir())


@pytest.mark.parametrize("data", [b"", b"text\n", b"\0\xff" * 100_000])
def test_round_trip_once(blobs: BlobStore, data: bytes) -> None:
    sha = blobs.put(data)
    assert blobs.put(data) == sha
    assert blobs.get(sha) == data
    assert blobs.path(sha) == blobs.folder / sha[:2] / sha
    assert names(blobs) == [sha]
    assert left_over(blobs) == []
    blobs.check(sha)


def test_a_large_blob_is_written_as_a_file(blobs: BlobStore) -> None:
    with blobs.incoming() as blob:
        for _ in range(3):
            blob.file.write(b"x" * 100_000)
        sha = blob.keep()
    assert sha == blobs.put(b"x" * 300_000)
    with blobs.open(sha) as file:
        assert len(file.read()) == 300_000
    assert left_over(blobs) == []


def test_what_is_not_kept_leaves_nothing(blobs: BlobStore) -> None:
    with blobs.incoming() as blob:
        blob.file.write(b"half")
    with pytest.raises(TypeError), blobs.incoming() as blob:
        blob.file.write("no bytes")  # type: ignore[arg-type]
    assert names(blobs) == []
    assert left_over(blobs) == []


def test_a_missing_blob_says_so(blobs: BlobStore) -> None:
    sha = blobs.put(b"gone")
    blobs.path(sha).unlink()
    for read in (blobs.get, blobs.open, blobs.check):
        with pytest.raises(BlobMissing, match=sha):
            read(sha)


@pytest.mark.parametrize("name", ["", "../../etc/passwd", "A" * 64, "a" * 63, "/" * 64])
def test_a_name_that_is_no_digest_reaches_no_file(blobs: BlobStore, name: str) -> None:
    with pytest.raises(BlobMissing):
        blobs.get(name)


def test_a_damaged_blob_says_so(blobs: BlobStore) -> None:
    sha = blobs.put(b"content")
    blobs.path(sha).chmod(0o644)
    blobs.path(sha).write_bytes(b"conten")
    for read in (blobs.get, blobs.check):
        with pytest.raises(BlobCorrupt, match=sha):
            read(sha)


def test_what_a_dead_process_was_writing_is_cleared(blobs: BlobStore) -> None:
    sha = blobs.put(b"whole")
    (blobs.folder / INCOMING_NAME / "half").write_bytes(b"ha")
    blobs.clear_incoming()
    assert not (blobs.folder / INCOMING_NAME).exists()
    assert blobs.get(sha) == b"whole"
    assert blobs.get(blobs.put(b"next")) == b"next"


def test_sixteen_threads_store_the_same(blobs: BlobStore) -> None:
    results: list[str] = []

    def put() -> None:
        results.extend(blobs.put(bytes([number]) * 1000) for number in range(20))

    threads = [threading.Thread(target=put) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 320
    assert names(blobs) == sorted(set(results))
    for sha in set(results):
        blobs.check(sha)
    assert left_over(blobs) == []


names_in_tree = st.text(st.characters(codec="utf-8", blacklist_characters="/\0"), min_size=1, max_size=8).filter(
    lambda name: name not in (".", "..")
)
paths = st.lists(names_in_tree, min_size=1, max_size=3).map("/".join)
files = st.builds(File, st.binary(max_size=200), st.sampled_from([0o644, 0o755, 0o600]))


def as_tree(made: dict[str, File]) -> Tree:
    """Leave out what would be both a file and a folder."""
    return Tree({p: f for p, f in made.items() if not any(other.startswith(f"{p}/") for other in made)})


@settings(deadline=None, max_examples=50)
@given(made=st.dictionaries(paths, files, max_size=6))
def test_trees_round_trip(tmp_path_factory: pytest.TempPathFactory, made: dict[str, File]) -> None:
    blobs, tree = BlobStore(tmp_path_factory.mktemp("blobs")), as_tree(made)
    sha = put_tree(blobs, tree)
    assert get_tree(blobs, sha) == tree
    assert put_tree(blobs, Tree(dict(reversed(list(tree.items()))))) == sha


def test_revisions_share_what_they_have_in_common(blobs: BlobStore) -> None:
    tree = Tree({"big.bin": b"x" * 100_000, "instruction.md": "first"})
    put_tree(blobs, tree)
    put_tree(blobs, tree.merged({"instruction.md": "second"}))
    assert len(names(blobs)) == 5


@pytest.mark.parametrize("data", [b"no json", b"[]", b'{"a": 1}', b'{"../a": ["' + b"0" * 64 + b'", 420]}'])
def test_what_is_no_manifest_is_refused(blobs: BlobStore, data: bytes) -> None:
    blobs.put(b"")
    with pytest.raises((BlobCorrupt, BlobMissing)):
        get_tree(blobs, blobs.put(data))
