"""Task directories on disk."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from forge.domain.task import Task, TaskRefused
from forge.storage.taskdir import read_task, write_task
from sandbox.tree import File, Tree

Sample = Callable[..., Task]


def test_round_trip(tmp_path: Path, sample: Sample) -> None:
    tree = sample("totals").to_tree()
    tree = tree.merged({"environment/app/blob": File(bytes(range(256)), 0o600), "tests/test.sh": File(b"x\n", 0o755)})
    task = Task.from_tree(tree)
    write_task(task, tmp_path / "made" / "one")
    read = read_task(tmp_path / "made" / "one")
    assert read.task.to_tree() == tree
    assert read.task.digest() == task.digest()
    assert read.warnings == ()


def test_a_directory_is_replaced_whole_and_nothing_is_left_beside_it(tmp_path: Path, sample: Sample) -> None:
    target = tmp_path / "one"
    write_task(sample("totals"), target)
    (target / "environment" / "more").write_text("x")
    write_task(sample("greeting"), target)
    assert Tree.read(target) == sample("greeting").to_tree()
    assert os.listdir(tmp_path) == ["one"]
    assert target.stat().st_mode & 0o777 == 0o755


def test_a_failed_write_leaves_what_was_there(tmp_path: Path, sample: Sample) -> None:
    target = tmp_path / "one"
    write_task(sample("totals"), target)
    with pytest.raises(OSError, match="too long"):
        write_task(sample("greeting", {"environment/" + "n" * 300: "x"}), target)
    assert Tree.read(target) == sample("totals").to_tree()
    assert os.listdir(tmp_path) == ["one"]


def test_warnings_name_file_and_key(tmp_path: Path, sample: Sample) -> None:
    write_task(sample("greeting"), tmp_path / "old")
    warnings = read_task(tmp_path / "old").warnings
    assert "task.toml: environment.memory: deprecated key" in warnings
    with pytest.raises(TaskRefused, match="version"):
        read_task(tmp_path / "old", strict=True)


def test_links_and_missing_directories_are_refused(tmp_path: Path, sample: Sample) -> None:
    with pytest.raises(TaskRefused, match="no such directory"):
        read_task(tmp_path / "nowhere")
    write_task(sample("totals"), tmp_path / "one")
    (tmp_path / "one" / "environment" / "link").symlink_to("/etc/passwd")
    with pytest.raises(TaskRefused, match=r"environment/link: symbolic links"):
        read_task(tmp_path / "one")
