"""What every engine does with files and trees: on the fake in memory and on Docker."""

import io
import tarfile

import pytest

from sandbox.api import CopyLimits, Engine, Image, Machine, Owner, Sandbox
from sandbox.errors import CopyRefused, PathMissing
from sandbox.tree import File, Tree

TREE = Tree({"a.txt": "one\n", "bin/run": File(b"#!/bin/bash\necho ran\n", 0o755), "deep/er/data": b"\x00\xff"})


def run(sandbox: Sandbox, command: str) -> str:
    result = sandbox.exec(command, timeout_sec=20)
    assert result.exit_code == 0, result
    return result.stdout.decode()


def test_put_and_get_keep_content_and_modes(sandbox: Sandbox) -> None:
    sandbox.put(TREE, "/srv/new/place")
    assert run(sandbox, "/srv/new/place/bin/run; cat /srv/new/place/a.txt") == "ran\none\n"
    assert sandbox.get("/srv/new/place") == TREE


def test_put_over_what_is_there(sandbox: Sandbox) -> None:
    run(sandbox, "echo old > a.txt; echo kept > other")
    sandbox.put(Tree({"a.txt": "new\n"}), "/work")
    assert run(sandbox, "cat a.txt other") == "new\nkept\n"


def test_put_at_the_root(sandbox: Sandbox) -> None:
    sandbox.put(Tree({"rooted.txt": "x", "opt/inner.txt": "y"}), "/")
    assert run(sandbox, "cat /rooted.txt /opt/inner.txt") == "xy"


def test_get_one_file(sandbox: Sandbox) -> None:
    run(sandbox, "mkdir d; echo hi > d/f")
    assert sandbox.get("/work/d/f") == Tree({"f": "hi\n"})


def test_get_what_is_missing(sandbox: Sandbox) -> None:
    for path in ("/work/nope", "/nope/nope", "/work/nope/deeper"):
        with pytest.raises(PathMissing):
            sandbox.get(path)


def test_a_relative_path_is_an_error_of_the_caller(sandbox: Sandbox) -> None:
    with pytest.raises(ValueError, match="absolute"):
        sandbox.get("work")
    with pytest.raises(ValueError, match="absolute"):
        sandbox.put(TREE, "work")


def test_get_refuses_links(sandbox: Sandbox) -> None:
    run(sandbox, "mkdir d; echo x > d/f; ln -s f d/link")
    with pytest.raises(CopyRefused, match="symbolic link"):
        sandbox.get("/work/d")


def test_get_refuses_a_linked_parent(sandbox: Sandbox) -> None:
    run(sandbox, "mkdir real; echo x > real/f; ln -s real shown")
    with pytest.raises(CopyRefused, match="parent"):
        sandbox.get("/work/shown/f")


def test_get_within_limits(sandbox: Sandbox) -> None:
    run(sandbox, "mkdir d; for n in 1 2 3 4 5; do head -c 1000 /dev/zero > d/$n; done")
    assert len(sandbox.get("/work/d", CopyLimits(max_bytes=5000, max_files=6))) == 5
    with pytest.raises(CopyRefused, match="too many bytes"):
        sandbox.get("/work/d", CopyLimits(max_bytes=4999))
    with pytest.raises(CopyRefused, match="too many files"):
        sandbox.get("/work/d", CopyLimits(max_files=5))


def test_collect_and_put_archive_carry_trees_across(
    engine: Engine, image: Image, owner: Owner, sandbox: Sandbox
) -> None:
    sandbox.put(TREE, "/work/out")
    run(sandbox, "mkdir /srv/state; echo 7 > /srv/state/n; ln -s a.txt /work/out/link; ln -s /usr/bin/env out/env")
    archive = io.BytesIO()
    sandbox.stop()
    came = sandbox.collect(["/work/out", "/srv/state/n", "/work/missing"], archive)
    assert came.missing == ("/work/missing",)
    assert came.refused == ()
    by_path = {file.path: file for file in came.files}
    assert by_path["/work/out/a.txt"].size == 4
    assert by_path["/work/out/link"].kind == "link"
    assert by_path["/work/out/deep"].kind == "folder"
    assert len(by_path["/srv/state/n"].sha256) == 64
    archive.seek(0)
    with engine.start(image, Machine(), owner) as other:
        other.put_archive(archive)
        assert run(other, "cat /work/out/link /srv/state/n; /work/out/bin/run") == "one\n7\nran\n"


def test_collect_lists_what_is_hostile_and_brings_the_rest(sandbox: Sandbox) -> None:
    run(
        sandbox,
        "mkdir good bad loop sys; echo x > good/f; echo x > bad/f; ln -s /root/secret bad/link;"
        "ln -s b loop/a; ln -s a loop/b; ln -s good top; ln -s ../good/f sys/across",
    )
    archive = io.BytesIO()
    came = sandbox.collect(["/work/bad", "/work/good", "/work/loop", "/work/top", "/work/top/f", "/work/sys"], archive)
    assert {path for path, _ in came.refused} == {"/work/bad", "/work/loop", "/work/top", "/work/top/f"}
    assert {file.path for file in came.files} == {"/work/good", "/work/good/f", "/work/sys", "/work/sys/across"}
    archive.seek(0)
    with tarfile.open(fileobj=archive) as members:
        assert set(members.getnames()) == {"work/good", "work/good/f", "work/sys", "work/sys/across"}


def test_a_link_into_a_refused_path_is_refused_too(sandbox: Sandbox) -> None:
    run(sandbox, "mkdir a b; ln -s /tests/x a/out; ln -s ../a/out b/link")
    came = sandbox.collect(["/work/a", "/work/b"], io.BytesIO())
    assert {path for path, _ in came.refused} == {"/work/a", "/work/b"}


def test_collect_shares_its_limits_among_paths(sandbox: Sandbox) -> None:
    run(sandbox, "for d in a b c; do mkdir $d; head -c 1000 /dev/zero > $d/f; done; echo small > c/f")
    came = sandbox.collect(["/work/a", "/work/b", "/work/c"], io.BytesIO(), CopyLimits(max_bytes=1500))
    assert [path for path, _ in came.refused] == ["/work/b"]
    assert {"/work/a/f", "/work/c/f"} <= {file.path for file in came.files}


def test_collect_of_a_path_inside_another_comes_once(sandbox: Sandbox) -> None:
    run(sandbox, "mkdir -p a/b; echo x > a/b/f")
    came = sandbox.collect(["/work/a/b", "/work/a", "/work/a/b/f"], io.BytesIO())
    assert [file.path for file in came.files] == ["/work/a", "/work/a/b", "/work/a/b/f"]
    assert (came.missing, came.refused) == ((), ())


def test_a_path_inside_a_refused_one_comes_by_itself_or_is_listed(sandbox: Sandbox) -> None:
    run(sandbox, "mkdir -p a/b a/c; echo x > a/b/f; ln -s /tests/x a/c/out; ln -s /tests/x a/out")
    came = sandbox.collect(["/work/a", "/work/a/b", "/work/a/c", "/work/a/b/f"], io.BytesIO())
    assert {path for path, _ in came.refused} == {"/work/a", "/work/a/c"}
    assert [file.path for file in came.files] == ["/work/a/b", "/work/a/b/f"]


def test_an_empty_collection_is_an_empty_archive(sandbox: Sandbox) -> None:
    archive = io.BytesIO()
    assert sandbox.collect(["/work/none"], archive).missing == ("/work/none",)
    archive.seek(0)
    with tarfile.open(fileobj=archive) as members:
        assert members.getnames() == []


def test_files_can_be_put_after_stop(sandbox: Sandbox) -> None:
    sandbox.stop()
    sandbox.put(Tree({"late": "1"}), "/work/late")
    assert sandbox.get("/work/late") == Tree({"late": "1"})
