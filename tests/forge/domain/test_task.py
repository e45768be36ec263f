"""Task directories in memory: round trip, parts, refusals."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from forge.domain.task import Parts, Task, TaskRefused, prompt_text
from sandbox.tree import File, Tree

CONFIG = """\
schema_version = "1.4"
artifacts = ["/app/out"]

[task]
name = "org/name"
version = "1.0"

[metadata]
difficulty = "easy"
tags = ["a", "b"]

[metadata.forge]
guards = ["test_a"]
visible = []

[agent]
timeout_sec = 100

[verifier]
timeout_sec = 50

[environment]
cpus = 1

[solution.env]
KEY = "value"
"""
FILES: dict[str, str] = {
    "task.toml": CONFIG,
    "instruction.md": "Do it.\n",
    "environment/Dockerfile": "FROM debian:bookworm-slim\n",
    "tests/test.sh": "echo 1 > /logs/verifier/reward.txt\n",
    "solution/solve.sh": "true\n",
    "README.md": "about\n",
}

names = st.from_regex(r"[a-zA-Z0-9_.\-é]{1,12}", fullmatch=True).filter(lambda name: name not in (".", ".."))
files = st.builds(File, st.binary(max_size=60), st.sampled_from([0o644, 0o755, 0o600, 0o640, 0o777]))
folders = st.sampled_from(["environment", "tests", "solution", "environment/a", "tests/b", "docs", ""])


def trees() -> st.SearchStrategy[dict[str, File]]:
    paths = st.builds(lambda folder, name: f"{folder}/{name}".lstrip("/"), folders, names)
    return st.dictionaries(paths, files, max_size=8)


def tree_with(extra: dict[str, File]) -> Tree:
    required = {path: File(text.encode(), 0o644) for path, text in FILES.items()}
    try:
        return Tree({**extra, **required})
    except ValueError:  # a drawn name is a folder elsewhere
        assume(False)
        raise


@given(trees(), st.sampled_from([0o644, 0o600, 0o755]), st.sampled_from(["\n", "\r\n", "\r"]))
def test_round_trip_keeps_every_byte_and_mode(extra: dict[str, File], mode: int, ending: str) -> None:
    assume(not {"docker-compose.yaml", "compose.yaml"} & {path.rsplit("/", 1)[-1] for path in extra})
    tree = tree_with(extra).merged({"instruction.md": File(f"Do{ending}it.{ending}".encode(), mode)})
    assert Task.from_tree(tree).to_tree() == tree


def test_old_spellings_are_read_and_kept() -> None:
    old = CONFIG.replace('schema_version = "1.4"', 'version = "1.0"').replace(
        "cpus = 1", 'memory = "2G"\nstorage = "10240M"\nallow_internet = false'
    )
    tree = Tree({**FILES, "task.toml": old})
    task = Task.from_tree(tree)
    machine = task.config.environment
    assert (task.config.schema_version, machine.memory_mb, machine.storage_mb) == ("1.0", 2048, 10240)
    assert machine.network_mode == "no-network"
    assert task.to_tree() == tree
    assert [note.split(": ")[1] for note in task.warnings()] == [
        "version",
        "environment.allow_internet",
        "environment.memory",
        "environment.storage",
    ]
    with pytest.raises(TaskRefused, match="old name of schema_version"):
        Task.from_tree(tree, strict=True)


@pytest.mark.parametrize(
    ("old", "new", "part"),
    [
        ("cpus = 1", "cpus = 2", "environment"),
        ("[agent]", '[agent]\nuser = "dev"', "environment"),
        ("[agent]", '[agent]\nnetwork_mode = "no-network"', "environment"),
        ("timeout_sec = 100", "timeout_sec = 101", "metadata"),
        ("timeout_sec = 50", "timeout_sec = 51", "verifier"),
        ('["/app/out"]', '["/app/result"]', "verifier"),
        ('guards = ["test_a"]', 'guards = ["test_b"]', "verifier"),
        ("visible = []", 'visible = ["test_a"]', "metadata"),
        ('"value"', '"other"', "solution"),
        ('"easy"', '"hard"', "metadata"),
        ("org/name", "org/other", "metadata"),
        ('version = "1.0"', 'version = "2.0"', None),
        ('schema_version = "1.4"', 'schema_version = "1.3"', None),
        ('schema_version = "1.4"', 'version = "1.2"', None),
        ("[agent]", "# a comment\n[agent]", None),
        ('difficulty = "easy"\ntags = ["a", "b"]', "tags = [ 'a',  'b' ]\ndifficulty = 'easy'", None),
        ("[solution.env]\nKEY =", "[solution]\nenv.KEY =", None),
    ],
)
def test_a_change_of_config_changes_its_part_only(old: str, new: str, part: str | None) -> None:
    assert CONFIG.count(old) >= 1
    task = Task.from_tree(Tree(FILES))
    changed = replace(task, config_text=CONFIG.replace(old, new, 1))
    assert task.parts().changed(changed.parts()) == (() if part is None else (part,))
    assert (task.digest() == changed.digest()) is (part is None)


@given(trees(), st.data())
def test_a_change_of_a_file_changes_its_part_only(extra: dict[str, File], data: st.DataObject) -> None:
    assume(not {"docker-compose.yaml", "compose.yaml"} & {path.rsplit("/", 1)[-1] for path in extra})
    tree = tree_with(extra)
    path = data.draw(st.sampled_from(sorted(set(tree) - {"task.toml", "instruction.md"})))
    old = tree[path]
    new = data.draw(files.filter(lambda file: file != old))
    before, after = Task.from_tree(tree).parts(), Task.from_tree(tree.merged({path: new})).parts()
    part = {"environment": "environment", "tests": "verifier", "solution": "solution"}
    expected = part.get(path.partition("/")[0], "metadata") if "/" in path else "metadata"
    assert before.changed(after) == (expected,)


def test_canary_lines_belong_to_no_part() -> None:
    task = Task.from_tree(Tree(FILES))
    marked = replace(task, instruction="<!-- some canary 1234 -->\n# canary GUID 1\n\nDo it.\n")
    assert marked.prompt_text() == "Do it.\n"
    assert marked.parts() == task.parts()


@pytest.mark.parametrize(
    ("text", "prompt"),
    [
        ("# Title\n\nText\n", "# Title\n\nText\n"),
        ("<!-- note -->\nText\n", "<!-- note -->\nText\n"),
        ("Text\n# canary below\n", "Text\n# canary below\n"),
        ("\n\n# CANARY x\r\n\r\nText\r\n", "Text\r\n"),
        ("# canary\n# canary 2\n", ""),
    ],
)
def test_only_canary_lines_at_the_top_go(text: str, prompt: str) -> None:
    assert prompt_text(text) == prompt


@pytest.mark.parametrize(
    ("changes", "file", "key"),
    [
        ({"task.toml": None}, "task.toml", ""),
        ({"instruction.md": None}, "instruction.md", ""),
        ({"instruction.md": " \n"}, "instruction.md", ""),
        ({"instruction.md": b"caf\xe9"}, "instruction.md", ""),
        ({"task.toml": b"\xff"}, "task.toml", ""),
        ({"task.toml": "[task\n"}, "task.toml", ""),
        ({"environment/Dockerfile": None}, "environment/Dockerfile", ""),
        ({"tests/test.sh": None}, "tests/test.sh", ""),
        ({"environment/docker-compose.yaml": "services: {}\n"}, "environment/docker-compose.yaml", ""),
        ({"task.toml": '[verifier]\nenvironment_mode = "separate"\n'}, "tests/Dockerfile", ""),
        ({"task.toml": "[verifier.environment]\ncpus = 1\n"}, "tests/Dockerfile", ""),
        ({"solution": "a file\n", "solution/solve.sh": None}, "solution", ""),
    ],
)
def test_incomplete_directories_are_refused_by_file(
    changes: dict[str, str | bytes | None], file: str, key: str
) -> None:
    tree = Tree({k: v for k, v in {**FILES, **changes}.items() if v is not None})
    with pytest.raises(TaskRefused) as refused:
        Task.from_tree(tree)
    assert (refused.value.file, refused.value.key) == (file, key)


def test_an_image_instead_of_a_dockerfile_is_enough() -> None:
    tree = Tree({**FILES, "task.toml": '[environment]\ndocker_image = "debian:bookworm-slim"\n'})
    assert len(Task.from_tree(tree.without("environment/Dockerfile")).environment) == 0


def test_parts_name_what_changed_in_order(sample: Callable[..., Task]) -> None:
    one = Parts("a", "b", "c", "d", "e")
    assert one.changed(Parts("x", "b", "c", "y", "e")) == ("instruction", "solution")
    assert sample("totals").parts() == sample("totals").parts()
