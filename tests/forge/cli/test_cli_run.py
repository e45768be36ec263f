"""forge run: what it is given, what it refuses, and what stays when it cannot work."""

import os
import signal
import subprocess
import uuid

import pytest

from forge.cli.tools import open_tools
from forge.domain.config import Config
from forge.storage.ledger import Ledger
from sandbox.api import ImageSpec, Owner
from sandbox.tree import Tree

NO_ENGINE = {"DOCKER_HOST": "unix:///nowhere/docker.sock"}

CLUE = '{"text": "Settings from three places, and the wrong one wins."}\n'


def nothing_begun(shell):
    return not (shell.folder / "runs").exists()


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ("[run]\nsed = 1", "forge.toml: run.sed: unknown key; did you mean 'seed'?"),
        ("[run", "forge.toml: not valid TOML"),
        ('[calibration]\nstrong = "best"', "calibration.strong: no solver is named 'best'"),
    ],
)
def test_config_that_is_wrong_is_refused_before_anything_begins(shell, config, said):
    shell.write("forge.toml", config)
    got = shell.forge("run", "--clue", "x", **NO_ENGINE)
    assert got.code == 2
    assert said in got.err
    assert nothing_begun(shell)


def test_config_file_that_is_not_there(shell):
    got = shell.forge("run", "--clue", "x", "--config", "other.toml", **NO_ENGINE)
    assert got.code == 2
    assert "other.toml: no such config file; `forge init` writes one" in got.err


@pytest.mark.parametrize(
    ("flag", "said"),
    [
        (("--seed", "x"), "run.seed: input should be a valid integer"),
        (("--strategy", "both"), "calibration.strategy: input should be 'contrastive' or 'multi-solver', not 'both'"),
        (("--max-rounds", "0"), "calibration.max_rounds: input should be greater than or equal to 1, not 0"),
        (("--set", "run.sead=1"), "run.sead: unknown key; did you mean 'seed'?"),
        (("--set", "run"), "--set run: is not of the form key=value"),
        (("--name", "../x"), "run.name: string should match pattern"),
    ],
)
def test_flags_are_checked_like_keys(shell, flag, said):
    got = shell.forge("run", "--clue", "x", *flag, **NO_ENGINE)
    assert got.code == 2
    assert said in got.err
    assert nothing_begun(shell)


def test_no_clue_at_all(shell):
    assert "no clues" in shell.forge("run", **NO_ENGINE).err
    got = shell.forge("run", "nowhere.jsonl", **NO_ENGINE)
    assert (got.code, got.err) == (2, "forge: nowhere.jsonl: cannot be read: No such file or directory\n")


@pytest.mark.parametrize(("text", "said"), [("  ", "--clue: is empty"), ("caf\udce9", "not UTF-8 text")])
def test_clue_that_says_nothing_or_is_no_text(shell, text, said):
    got = shell.forge("run", "--clue", text, **NO_ENGINE)
    assert got.code == 2
    assert said in got.err
    assert nothing_begun(shell)


def test_file_without_a_good_line_names_every_broken_one(shell):
    shell.write("clues.jsonl", '{"text": 3}\nnot json\n')
    got = shell.forge("run", "clues.jsonl", **NO_ENGINE)
    assert got.code == 2
    assert "clues.jsonl: line 1: text: input should be a valid string" in got.err
    assert "clues.jsonl: line 2: not JSON" in got.err
    assert "no clue is left to work on" in got.err


def test_engine_that_does_not_answer_is_code_3_and_one_message(shell):
    shell.write("clues.jsonl", CLUE)
    got = shell.forge("run", "clues.jsonl", **NO_ENGINE)
    assert got.code == 3
    assert "Traceback" not in got.err
    assert "DOCKER_HOST" in got.err


def test_broken_line_is_named_and_the_good_ones_go_on(shell):
    shell.write("clues.jsonl", f"{CLUE}broken\n")
    got = shell.forge("run", "clues.jsonl", **NO_ENGINE)
    assert "clues.jsonl: line 2: not JSON" in got.err
    assert "run run: 1 clue, seed 1" in got.err


def test_run_that_was_killed_before_it_had_a_ledger_begins_anew(shell):
    shell.write("runs/run/ledger.db", "")
    got = shell.forge("run", "--clue", "x", **NO_ENGINE)
    assert "run run: 1 clue, seed 1, in runs/run" in got.err
    assert got.code == 3, "it got as far as to the engine"


def test_resume_of_nothing_is_refused(shell):
    got = shell.forge("run", "--resume", **NO_ENGINE)
    assert got.code == 2
    assert "there is no run in runs/run" in got.err


@pytest.mark.docker
@pytest.mark.parametrize(
    ("key", "said"),
    [
        ("author.model=nonsense/model", "nonsense/model"),
        ("author.model=rehearsal/nobody", "rehearsal/nobody: no such program"),
        ("author.model=openai/gpt-4o", "OPENAI_API_KEY"),
    ],
)
def test_model_that_cannot_be_called_is_code_2(shell, monkeypatch, key, said):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    got = shell.forge("run", "--clue", "x", "--set", key)
    assert got.code == 2
    assert said in got.err
    assert "Traceback" not in got.err


@pytest.mark.docker
def test_second_process_on_one_run_is_refused(shell):
    with Ledger.open(shell.folder / "runs/run"):
        got = shell.forge("run", "--clue", "x")
    assert got.code == 2
    assert "is working on this run" in got.err


@pytest.mark.docker
@pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount a small disk")
def test_disk_that_is_full_is_code_3(shell):
    (shell.folder / "runs").mkdir()
    script = 'mount -t tmpfs -o size=200k small runs && exec "$@"'
    got = subprocess.run(
        ["unshare", "--mount", "bash", "-c", script, "bash", *shell.command("run", "--clue", "x")],
        cwd=shell.folder,
        env=shell.env(),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert got.returncode == 3
    assert "Traceback" not in got.stderr
    assert "no space left" in got.stderr


@pytest.mark.docker
def test_logs_of_builds_are_kept_beside_the_ledger(tmp_path, stand_in):
    mark = uuid.uuid4().hex
    config = Config.model_validate({"run": {"name": "r", "runs_dir": str(tmp_path)}})
    with open_tools(config) as tools:
        spec = ImageSpec(Tree({"Dockerfile": f"FROM {stand_in}\nRUN echo {mark}\n"}))
        tools.engine.drop(tools.engine.build(spec, Owner("r")))
    (log,) = (tmp_path / "r/builds").iterdir()
    assert f"\n{mark}\n" in log.read_text()


@pytest.fixture
def named(shell):
    """A run of one clue under a name of its own: the arguments, and the name."""
    name = f"cli-{shell.folder.name.lower().replace('_', '-')[-40:]}"
    shell.write("clues.jsonl", CLUE)
    return ("run", "clues.jsonl", "--name", name), name


def interrupted(shell, args, presses):
    """Runs until a sandbox of the run is there, and interrupts it so often. Returns the exit code and stderr."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(shell.command(*args), cwd=shell.folder, env=shell.env(), **pipes) as process:
        until_at_work(process, args[-1])
        lines = []
        for _ in range(presses):
            process.send_signal(signal.SIGINT)
            lines += until(process, "stopping")
        _, rest = process.communicate(timeout=300)
    return process.returncode, "".join(lines) + rest


def until(process, word):
    """The lines of stderr up to the one with the word."""
    lines = []
    for line in process.stderr:
        lines.append(line)
        if word in line:
            break
    return lines


def until_at_work(process, name):
    """Waits by the engine's own events until the run's first container starts."""
    command = ["docker", "events", "--since", "1", "--filter", f"label=forge.run={name}", "--filter", "event=start"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as events:
        events.stdout.readline()
        events.kill()
    assert process.poll() is None


@pytest.mark.docker
@pytest.mark.parametrize("presses", [1, 2])
def test_interrupted_run_leaves_nothing_and_goes_on_where_it_was(shell, named, presses):
    args, name = named
    code, err = interrupted(shell, args, presses)
    assert code == 130, err
    assert "stopping: finishing what is cheap" in err
    assert left_in_engine(name) == ""
    again = shell.forge("run", "--resume", "--name", name)
    assert again.code == 0, again.err
    assert "goes on" in again.err
    assert "1 retained" in again.out
    assert left_in_engine(name) == ""
    (kept,) = (shell.folder / "output_tasks" / name).iterdir()
    assert (kept / "task.toml").exists()


def left_in_engine(run):
    command = ["docker", "ps", "--all", "--quiet", "--filter", f"label=forge.run={run}"]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout
