"""Trees: digests, and the way through an archive and back."""

import io
import os
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.api import CopyLimits
from sandbox.archive import tree_of
from sandbox.context import image_digest, tar_of
from sandbox.copying import collect_from
from sandbox.errors import CopyRefused, SandboxError
from sandbox.tree import MOST_READ_BYTES, File, Tree

PARTS = st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="/\0"), min_size=1, max_size=12)
PATHS = st.lists(PARTS.filter(lambda part: part not in (".", "..")), min_size=1, max_size=3).map("/".join)
FILES = st.builds(File, st.binary(max_size=100), st.sampled_from([0o644, 0o755, 0o600, 0o400]))


@st.composite
def trees(draw: st.DrawFn) -> Tree:
    files: dict[str, File] = {}
    for path, file in draw(st.dictionaries(PATHS, FILES, max_size=6)).items():
        if not any(path.startswith(f"{other}/") or other.startswith(f"{path}/") for other in files):
            files[path] = file
    return Tree(files)


def chunks(data: bytes, size: int) -> Iterator[bytes]:
    return iter([data[at : at + size] for at in range(0, len(data), size)])


@given(trees(), st.integers(1, 3000))
def test_a_tree_survives_the_way_through_an_archive(tree: Tree, size: int) -> None:
    data = tar_of(tree, folders=True, below="app/")
    folder = io.BytesIO()
    with tarfile.open(fileobj=folder, mode="w") as archive:
        entry = tarfile.TarInfo("app")
        entry.type = tarfile.DIRTYPE
        archive.addfile(entry)
    head = folder.getvalue()[: tarfile.BLOCKSIZE]
    assert tree_of("/app", chunks(head + data, size), CopyLimits()) == tree


@given(trees(), trees())
def test_digests_tell_trees_apart(one: Tree, other: Tree) -> None:
    assert (one.digest(modes=True) == other.digest(modes=True)) == (one == other)
    without_modes = {path: file.data for path, file in one.items()} == {path: file.data for path, file in other.items()}
    assert (one.digest() == other.digest()) == without_modes


@given(trees())
def test_image_digests_depend_on_all_facts(tree: Tree) -> None:
    assert image_digest(tree, {"args": {"A": "1"}}) == image_digest(Tree(dict(tree)), {"args": {"A": "1"}})
    assert image_digest(tree, {"args": {"A": "1"}}) != image_digest(tree, {"args": {"A": "2"}})
    assert image_digest(tree, {}) != image_digest(tree.merged({"another file": "x"}), {})


def archive_of(*members: tuple[str, bytes, str]) -> bytes:
    """(name, type, link target) each; regular files hold their own name."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name, kind, target in members:
            entry = tarfile.TarInfo(name)
            entry.type, entry.linkname = kind, target
            data = name.encode() if kind == tarfile.REGTYPE else b""
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return out.getvalue()


FOLDER = ("app", tarfile.DIRTYPE, "")


@pytest.mark.parametrize(
    ("members", "why"),
    [
        ([FOLDER, ("app/../etc/x", tarfile.REGTYPE, "")], "not normal"),
        ([FOLDER, ("/etc/x", tarfile.REGTYPE, "")], "outside"),
        ([FOLDER, ("appendix", tarfile.REGTYPE, "")], "outside"),
        ([FOLDER, ("app/./x", tarfile.REGTYPE, "")], "not normal"),
        ([FOLDER, ("app/x", tarfile.REGTYPE, ""), ("app/x", tarfile.REGTYPE, "")], "twice"),
        ([FOLDER, ("app/x", tarfile.REGTYPE, ""), ("app/x/y", tarfile.REGTYPE, "")], "not a folder"),
        ([FOLDER, ("app/l", tarfile.SYMTYPE, "/etc"), ("app/l/passwd", tarfile.REGTYPE, "")], "not a folder"),
        ([FOLDER, ("app/missing/y", tarfile.REGTYPE, "")], "not a folder"),
        ([FOLDER, ("app/h", tarfile.LNKTYPE, "../etc/shadow")], "hard link"),
        ([FOLDER, ("app/h", tarfile.LNKTYPE, "app/later"), ("app/later", tarfile.REGTYPE, "")], "hard link"),
        ([FOLDER, ("app/p", tarfile.FIFOTYPE, "")], "special file"),
        ([FOLDER, ("app/d", tarfile.BLKTYPE, "")], "special file"),
        ([("app", tarfile.SYMTYPE, "/etc")], "symbolic link itself"),
    ],
)
def test_hostile_members_are_refused(members: list[tuple[str, bytes, str]], why: str) -> None:
    with pytest.raises(CopyRefused, match=why):
        tree_of("/app", iter([archive_of(*members)]), CopyLimits())


CUT = archive_of(FOLDER, ("app/x", tarfile.REGTYPE, ""), ("app/y", tarfile.REGTYPE, ""))[: 6 * tarfile.BLOCKSIZE]


@pytest.mark.parametrize("at", range(0, len(CUT), tarfile.BLOCKSIZE // 2))
def test_an_archive_that_the_engine_cut_short_is_no_smaller_tree(at: int) -> None:
    with pytest.raises(CopyRefused, match=r"cut short|not a readable archive"):
        tree_of("/app", iter([CUT[:at]]), CopyLimits())
    with pytest.raises(SandboxError) as caught:
        collect_from(lambda _: iter([CUT[:at]]), ["/app"], io.BytesIO(), CopyLimits())
    assert not isinstance(caught.value, CopyRefused)


@given(st.binary(max_size=2000))
def test_no_bytes_whatever_bring_more_than_a_refusal(data: bytes) -> None:
    try:
        found = tree_of("/app", iter([data]), CopyLimits())
    except CopyRefused:
        return
    assert len(found) == 0


@given(st.integers(0, 5000), st.binary(min_size=1, max_size=8))
def test_a_damaged_archive_is_refused_or_within_its_bounds(at: int, noise: bytes) -> None:
    data = bytearray(archive_of(FOLDER, ("app/x", tarfile.REGTYPE, ""), ("app/y", tarfile.REGTYPE, "")))
    data[at : at + len(noise)] = noise
    try:
        found = tree_of("/app", iter([bytes(data)]), CopyLimits(max_bytes=10_000, max_files=10))
    except CopyRefused:
        return
    assert found.size() <= 10_000


def test_name_on_disk_that_is_no_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"caf\xe9")).write_bytes(b"")
    with pytest.raises(ValueError, match="a name is not UTF-8"):
        Tree.read(tmp_path)


def test_folder_that_memory_should_not_hold_is_refused(tmp_path: Path) -> None:
    with (tmp_path / "a").open("wb") as file:
        file.truncate(MOST_READ_BYTES + 1)
    with pytest.raises(ValueError, match="a: the folder holds more than 1024 MB"):
        Tree.read(tmp_path)
