"""forge validate: good and bad task directories, on the Docker engine."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

TASKS = Path(__file__).parents[2] / "data/tasks"


@pytest.fixture
def greeting(shell):
    """A copy of a task directory that validates."""
    shutil.copytree(TASKS / "greeting", shell.folder / "greeting")
    return shell.folder / "greeting"


@pytest.mark.docker
def test_good_task_is_code_0_and_leaves_nothing_in_the_engine(shell, greeting):
    command = shell.command("validate", "greeting", "--times", "1")
    with subprocess.Popen(command, cwd=shell.folder, env=shell.env(), stdout=subprocess.PIPE, text=True) as process:
        out, _ = process.communicate(timeout=300)
    assert (process.returncode, out) == (0, "ok    greeting  (no report per test; untouched 0; solution 1)\n")
    listing = ["docker", "ps", "--all", "--quiet", "--filter", f"label=forge.run=validate-{process.pid}"]
    assert subprocess.run(listing, capture_output=True, text=True, check=True, timeout=60).stdout == ""


@pytest.mark.docker
@pytest.mark.parametrize(
    ("missing", "said"),
    [
        ("instruction.md", "instruction.md"),
        ("task.toml", "task.toml"),
        ("environment/Dockerfile", "environment"),
        ("tests/test.sh", "tests/test.sh"),
    ],
)
def test_task_that_lacks_a_part_is_named_with_the_file(shell, greeting, missing, said):
    (greeting / missing).unlink()
    got = shell.forge("validate", "greeting")
    assert got.code == 1
    assert "FAIL  greeting" in got.out
    assert f"refused: {said}" in got.out
    assert "Traceback" not in got.err


@pytest.mark.docker
def test_image_that_does_not_build_shows_the_end_of_its_log(shell, greeting):
    dockerfile = greeting / "environment/Dockerfile"
    dockerfile.write_text(f"{dockerfile.read_text()}\nRUN echo the-last-words && exit 7\n")
    got = shell.forge("validate", "greeting")
    assert got.code == 1
    assert "build_failed" in got.out
    assert "| the-last-words" in got.out


@pytest.mark.docker
def test_folder_of_tasks_as_json_with_one_that_is_bad(shell, greeting):
    shutil.copytree(greeting, shell.folder / "tasks/good")
    shutil.copytree(greeting, shell.folder / "tasks/bad")
    (shell.folder / "tasks/bad/solution/solve.sh").write_text("true\n")
    got = shell.forge("validate", "tasks", "--times", "1", "--json")
    assert got.code == 1
    bad, good = json.loads(got.out)
    assert (bad["path"], bad["ok"], good["path"], good["ok"]) == ("tasks/bad", False, "tasks/good", True)
    assert bad["findings"][0]["code"] == "solution_failed"
    assert (good["untouched_reward"], good["solution_rewards"]) == (0, [1])


def test_folder_that_is_not_there(shell):
    got = shell.forge("validate", "nowhere")
    assert got.code == 2
    assert "nowhere: no such directory" in got.err


def test_no_run_of_the_solution_proves_nothing(shell):
    got = shell.forge("validate", ".", "--times", "0")
    assert got.code == 2
    assert "--times 0: one run of the solution is the least" in got.err


def test_engine_that_does_not_answer(shell, greeting):
    got = shell.forge("validate", "greeting", DOCKER_HOST="unix:///nowhere/docker.sock")
    assert got.code == 3
    assert "no Docker engine answers" in got.err
