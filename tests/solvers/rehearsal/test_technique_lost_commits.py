"""Commits lost and found again in real repositories."""

import os
import subprocess
from pathlib import Path

import pytest

from solvers.rehearsal.lost_commits import LostCommits
from solvers.rehearsal.technique import Output, View


def git(root: Path, *words: str) -> str:
    who = {f"GIT_{role}_{part}": "Ann" for role in ("AUTHOR", "COMMITTER") for part in ("NAME", "EMAIL")}
    env = {**os.environ, **who, "HOME": str(root), "GIT_CONFIG_NOSYSTEM": "1"}
    return subprocess.run(
        ["git", "-C", root, *words], env=env, capture_output=True, text=True, check=True
    ).stdout.strip()


def commit(root: Path, name: str, *options: str) -> str:
    (root / name).write_text(f"{name}\n")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", f"Add {name}", *options)
    return git(root, "rev-parse", "HEAD")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    git(tmp_path, "init", "-q", "-b", "main")
    git(tmp_path, "config", "user.name", "Ann")
    git(tmp_path, "config", "user.email", "ann@example.org")
    commit(tmp_path, "first")
    commit(tmp_path, "second")
    commit(tmp_path, "second-again", "--amend")
    return tmp_path


def recover(root: Path, prose: str = "") -> bool:
    """Whether the technique did something."""
    view = View(f"Look at {root}. {prose}", (f"{root}/.git",))
    probe = LostCommits().probe(view)
    assert probe is not None
    shown = subprocess.run(["bash", "-c", probe.command], capture_output=True, text=True, check=True).stdout
    act = LostCommits().act(View(view.instruction, view.listing, outputs=((probe.command, Output(0, shown)),)))
    if act is not None:
        subprocess.run(["bash", "-c", act.command], capture_output=True, check=True)
    return act is not None


def subjects(root: Path) -> list[str]:
    return git(root, "log", "--no-merges", "--reverse", "--topo-order", "--format=%s", "main").splitlines()


def test_after_a_reset(repository: Path) -> None:
    commit(repository, "lost-one")
    commit(repository, "lost-two")
    git(repository, "reset", "-q", "--hard", "HEAD~2")
    commit(repository, "later")
    assert recover(repository)
    assert subjects(repository)[2:] == ["Add later", "Add lost-one", "Add lost-two"]
    assert git(repository, "log", "--merges", "--format=%s") == ""


@pytest.mark.parametrize(
    "prose", ["They keep their commit ids.", "Under the old hashes.", "With the ids that they had."]
)
def test_the_old_ids_when_they_are_wanted(repository: Path, prose: str) -> None:
    lost = commit(repository, "lost")
    git(repository, "reset", "-q", "--hard", "HEAD~1")
    commit(repository, "later")
    assert recover(repository, prose)
    assert lost in git(repository, "rev-list", "main").splitlines()
    assert sorted(subjects(repository)[2:]) == ["Add later", "Add lost"]


def test_after_a_branch_was_deleted(repository: Path) -> None:
    git(repository, "checkout", "-q", "-b", "topic")
    commit(repository, "lost")
    git(repository, "checkout", "-q", "main")
    git(repository, "branch", "-q", "-D", "topic")
    assert recover(repository)
    assert subjects(repository)[-1] == "Add lost"


def test_after_a_rebase_that_dropped_one(repository: Path) -> None:
    commit(repository, "lost")
    commit(repository, "kept")
    git(repository, "rebase", "-q", "--onto", "HEAD~2", "HEAD~1", "main")
    commit(repository, "later")
    assert recover(repository)
    assert subjects(repository)[2:] == ["Add kept", "Add later", "Add lost"]


def test_an_amended_commit_is_not_lost(repository: Path) -> None:
    assert not recover(repository)


def test_a_folder_without_a_repository_is_not_looked_at() -> None:
    assert LostCommits().probe(View("Look at /srv.", ("/srv/a.txt",))) is None
