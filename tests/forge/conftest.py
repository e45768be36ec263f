"""Sample tasks for the tests of the factory: tests/data/tasks, completed by the verifier skeleton where they use it."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import jinja2
import pytest

from forge.domain.task import Task
from sandbox.fake_process import Answer, Call, Program
from sandbox.tree import Tree

ROOT = Path(__file__).resolve().parents[2]
SKELETON = ROOT / "templates" / "verifier"
TASKS = ROOT / "tests" / "data" / "tasks"


def rendered_skeleton(expected: Sequence[str]) -> Tree:
    """templates/verifier, rendered."""
    environment = jinja2.Environment(undefined=jinja2.StrictUndefined, keep_trailing_newline=True)
    made = {}
    for path, file in Tree.read(SKELETON).items():
        if path.endswith(".j2"):
            made[path.removesuffix(".j2")] = environment.from_string(file.data.decode()).render(expected=list(expected))
        else:
            made[path] = file.data.decode()
    return Tree(made)


def sample_tree(name: str, changes: Mapping[str, str | None] | None = None) -> Tree:
    """A changed task directory of tests/data/tasks, with the skeleton where it brings no test.sh of its own."""
    changes = changes or {}
    kept = Tree.read(TASKS / name)
    tree = kept.merged({path: text for path, text in changes.items() if text is not None})
    if "tests/test.sh" not in kept:
        source = tree["tests/test_outputs.py"].data.decode()
        names = [line[4:].partition("(")[0] for line in source.splitlines() if line.startswith("def test_")]
        tree = rendered_skeleton(names).at("tests").merged(tree)
    return tree.without(*(path for path, text in changes.items() if text is None))


@pytest.fixture(scope="session")
def skeleton() -> Callable[[Sequence[str]], Tree]:
    """skeleton(names): templates/verifier for a task with these tests."""
    return rendered_skeleton


@pytest.fixture
def sample() -> Callable[..., Task]:
    """sample(name, changes): a sample task; changes maps paths to new content, None for a file to leave out."""

    def make(name: str, changes: Mapping[str, str | None] | None = None) -> Task:
        return Task.from_tree(sample_tree(name, changes))

    return make


def _digests(call: Call) -> Answer:
    """What `find / ... -exec sha256sum -z -- {} +` prints, sizes not looked at."""
    out = b""
    for path in call.files.below("/"):
        if call.files.is_file(path):
            out += f"{hashlib.sha256(call.files.read(path)).hexdigest()}  {path}\0".encode()
    return Answer(0, out)


def _fill(call: Call) -> Answer:
    call.files.write("/fill", b"x" * (8 << 20))
    return Answer()


@pytest.fixture
def programs() -> dict[str, Program]:
    """Programs for an engine in memory: the search for leaks; `fill`, which writes 8 MB to /fill."""
    return {"find": _digests, "sha256sum": lambda _call: Answer(), "fill": _fill}
