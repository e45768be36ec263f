"""Kept tasks: whole, with their provenance, the same bytes whoever writes them."""

import tomllib

import pytest

from forge.factory.signals import StopKind
from forge.storage.taskdir import read_task
from sandbox.tree import Tree
from tests.faults.toy_machine import ASKED, STAND_IN
from tests.faults.toy_run import NAME
from tests.forge.factory.world import World


def test_kept_task_says_where_it_came_from(world: World) -> None:
    assert world.run("easy").retained == 1
    task = world.task("easy")
    assert task.config.metadata.forge.model_dump(exclude_unset=True) | {"design": None} == {
        "design": None,
        "guards": (),
        "clue": "toy easy apple",
        "strategy": "contrastive",
        "rounds": 2,
        "models": ["rehearsal/author", "rehearsal/strong", "rehearsal/weak"],
        "rehearsal": True,
        "substitutes": [f"{ASKED} -> {STAND_IN}"],
    }
    assert "solve.sh" in task.solution


def test_kept_task_is_the_revision_that_was_retained(world: World) -> None:
    world.run("strict")
    with world.reader() as reader:
        last = reader.revisions("strict")[-1]
    parts = world.task("strict").parts()
    assert (parts.instruction, parts.environment, parts.verifier, parts.solution) == (
        last.instruction,
        last.environment,
        last.verifier,
        last.solution,
    )


def test_nothing_but_kept_tasks_is_in_the_folder(world: World) -> None:
    summary = world.run("easy", "hopeless", "broken")
    assert (summary.retained, summary.discarded) == (2, 1)
    assert world.kept() == {"easy", "broken"}


def test_what_a_killed_process_left_half_written_goes(world: World) -> None:
    folder = world.folder / "out" / NAME
    for name in (".easy.abc123", ".easier.abc123"):
        (folder / name / "tests").mkdir(parents=True)
        (folder / name / "task.toml").write_text("half")
    assert world.run("easy").retained == 1
    assert world.kept() == {"easy", ".easier.abc123"}


def test_same_run_gives_the_same_bytes(world: World, tmp_path_factory) -> None:  # type: ignore[no-untyped-def]
    other = World(tmp_path_factory.mktemp("other"))
    for one in (world, other):
        one.run("inverted")
    digests = {Tree.read(one.folder / "out" / NAME / "inverted").digest(modes=True) for one in (world, other)}
    assert len(digests) == 1


def test_provenance_changes_no_other_line(world: World) -> None:
    world.run("broken")
    kept = read_task(world.folder / "out" / NAME / "broken", strict=True)
    assert kept.warnings == ()
    assert tomllib.loads(kept.task.config_text)["metadata"]["forge"]["design"][0] == "broken"


def test_output_folder_that_cannot_be_one_is_refused_before_anything_is_paid(world: World) -> None:
    (world.folder / "out").write_text("in the way")
    with pytest.raises(NotADirectoryError, match="out"):
        world.run("easy")
    assert not (world.folder / "runs").exists()


def test_kept_task_that_cannot_be_written_halts_the_run_and_is_written_later(world: World) -> None:
    folder = world.folder / "out" / NAME
    folder.mkdir(parents=True)
    (folder / "easy").write_text("in the way")
    summary = world.run("easy")
    assert (summary.stopped, summary.errored) == (StopKind.HALTED, 0)
    assert "easy: the kept task cannot be written" in summary.why
    (folder / "easy").unlink()
    assert world.run("easy").retained == 1
    assert world.kept() == {"easy"}
