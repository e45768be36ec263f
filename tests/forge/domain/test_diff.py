"""Diffs are what git would take, and say what changed."""

import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forge.domain.diff import LARGEST, MOST_LINES, unified_diff
from sandbox.tree import File, Tree

BEFORE = Tree({"instruction.md": "one\ntwo\nthree\n", "environment/gone.txt": "bye\n", "same.txt": "same"})


def test_equal_trees_have_no_diff() -> None:
    assert unified_diff(BEFORE, BEFORE) == ""


def test_what_a_diff_looks_like() -> None:
    after = BEFORE.without("environment/gone.txt").merged({"instruction.md": "one\n2\nthree\n", "new": "x"})
    assert unified_diff(BEFORE, after) == (
        "diff --git a/environment/gone.txt b/environment/gone.txt\n"
        "deleted file mode 100644\n"
        "--- a/environment/gone.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-bye\n"
        "diff --git a/instruction.md b/instruction.md\n"
        "--- a/instruction.md\n+++ b/instruction.md\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n"
        "diff --git a/new b/new\n"
        "new file mode 100644\n"
        "--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+x\n\\ No newline at end of file\n"
    )


def test_modes_are_told() -> None:
    after = BEFORE.merged({"same.txt": File(b"same", 0o755)})
    assert unified_diff(BEFORE, after) == "diff --git a/same.txt b/same.txt\nold mode 100644\nnew mode 100755\n"


@pytest.mark.parametrize(
    "data", [b"\0", b"\xff\xfe", b"x" * (LARGEST + 1), b"\n" * (MOST_LINES + 1)], ids=["nul", "bytes", "large", "long"]
)
def test_what_is_not_shown_is_named(data: bytes) -> None:
    after = BEFORE.merged({"same.txt": data})
    assert unified_diff(BEFORE, after).endswith("\nBinary files a/same.txt and b/same.txt differ\n")
    assert unified_diff(after, BEFORE).endswith("\nBinary files a/same.txt and b/same.txt differ\n")


lines = st.sampled_from(["a", "b", "", "-c", "+d", " e", "@@ -1 +1 @@", "\\ No newline", "f\x0bg\x85h\u2028i", "\r"])
contents = st.builds(lambda made, end: "\n".join(made) + end, st.lists(lines, max_size=8), st.sampled_from(["", "\n"]))
paths = st.sampled_from(["a", "b c", "dir/x", "dir/y.txt"])
trees = st.dictionaries(paths, contents.map(lambda text: File(text.encode())), max_size=4).map(Tree)


@settings(deadline=None, max_examples=40)
@given(before=trees, after=trees)
def test_git_makes_the_one_tree_of_the_other(
    tmp_path_factory: pytest.TempPathFactory, before: Tree, after: Tree
) -> None:
    folder = tmp_path_factory.mktemp("tree")
    before.write(folder)
    diff = unified_diff(before, after)
    if diff:
        command = ["git", "apply", "--whitespace=nowarn", "-"]
        environment = {"PATH": "/usr/local/bin:/usr/bin:/bin", "GIT_CEILING_DIRECTORIES": str(folder.parent)}
        done = subprocess.run(
            command, cwd=folder, input=diff.encode(), capture_output=True, check=False, env=environment
        )
        assert done.returncode == 0, done.stderr.decode() + diff
    assert Tree.read(folder) == after


def test_a_strange_name_stays_on_its_line(tmp_path: Path) -> None:
    diff = unified_diff(Tree(), Tree({'a\nb"c\\d\tü': "x\n"}))
    assert len(diff.splitlines()) == 6
