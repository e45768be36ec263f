"""Files sorted by a list of digests, in several formats and wordings."""

import hashlib
from pathlib import Path

import pytest

from solvers.rehearsal.checksums import Checksums
from tests.solvers.rehearsal.places import work

FILES = {"a.txt": b"a\n", "sub/b c.bin": b"b\n", "sub/d": b"d\n", "e": b"e\n"}


def listing(digest: str, tagged: bool) -> str:
    lines = []
    for name, data in FILES.items():
        value = hashlib.new(digest, data).hexdigest()
        lines.append(f"{digest.upper()} ({name}) = {value}" if tagged else f"{value}  {name}")
    return "\n".join(lines) + "\n"


def served(root: Path, digest: str = "sha256", tagged: bool = False) -> Path:
    """A folder with one file altered, one gone, one that nobody listed, and a list of its own that says all is well."""
    folder = root / "pub"
    present = {**FILES, "a.txt": b"changed\n", "new.sh": b"new\n"}
    del present["e"]
    for name, data in present.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    own = "".join(f"{hashlib.sha256(data).hexdigest()}  {name}\n" for name, data in present.items())
    (folder / "SUMS.txt").write_text(own)
    (root / "signed").mkdir()
    (root / "signed/list.txt").write_text(listing(digest, tagged))
    return folder


def request(root: Path, more: str = "") -> str:
    return (
        f"Look at `{root}/pub`. Write `{root}/found.csv` with the header `name,state`: `good`, `tampered`, `absent` or"
        f" `unknown`. Altered files go to `{root}/quarantine`. {more}"
    )


@pytest.mark.parametrize("tagged", [False, True])
@pytest.mark.parametrize("digest", ["sha256", "sha512", "sha1", "md5"])
def test_all_kinds_of_lists(tmp_path: Path, digest: str, tagged: bool) -> None:
    folder = served(tmp_path, digest, tagged)
    assert work(Checksums(), tmp_path, request(tmp_path))
    assert (tmp_path / "found.csv").read_text().splitlines() == [
        *(
            "name,state",
            "SUMS.txt,unknown",
            "a.txt,tampered",
            "e,absent",
            "new.sh,unknown",
            "sub/b c.bin,good",
            "sub/d,good",
        )
    ]
    assert (tmp_path / "quarantine/a.txt").read_bytes() == b"changed\n"
    assert not (folder / "a.txt").exists()


@pytest.mark.parametrize(
    ("more", "stays"),
    [
        ("", False),
        ("Files that are not on the list are moved as well.", False),
        ("Files that were not released stay where they are.", True),
        ("Unlisted files are left; files not on the list remain.", True),
    ],
)
def test_what_nobody_listed_goes_where_the_text_says(tmp_path: Path, more: str, stays: bool) -> None:
    folder = served(tmp_path)
    work(Checksums(), tmp_path, request(tmp_path, more))
    assert (folder / "new.sh").exists() == stays
    assert (tmp_path / "quarantine/new.sh").exists() != stays


def test_nothing_is_moved_where_all_is_well(tmp_path: Path) -> None:
    for name, data in FILES.items():
        (tmp_path / "pub" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "pub" / name).write_bytes(data)
    (tmp_path / "list.txt").write_text(listing("sha256", False))
    assert work(Checksums(), tmp_path, request(tmp_path)) == []
