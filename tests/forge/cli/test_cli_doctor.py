"""forge doctor and forge clean."""

import json
import os
import subprocess
import sys

import pytest

NO_ENGINE = {"DOCKER_HOST": "unix:///nowhere/docker.sock"}


def levels(said):
    return {item["name"]: item["level"] for item in json.loads(said.out)}


@pytest.mark.docker
def test_machine_that_is_fit_is_code_0(shell):
    said = shell.forge("doctor")
    assert said.code == 0, said.out
    lines = said.out.splitlines()
    assert all(line[:6] in ("ok    ", "warn  ", "      ") for line in lines)
    assert any("engine" in line for line in lines)
    assert any("rehearsal/author: a rehearsal program" in line for line in lines)


def test_engine_that_does_not_answer_fails_it_and_the_rest_is_still_looked_at(shell):
    said = shell.forge("doctor", "--json", **NO_ENGINE)
    assert said.code == 3
    assert levels(said)["engine"] == "fail"
    assert levels(said)["model rehearsal/weak"] == "ok"


@pytest.mark.parametrize(
    ("model", "said"),
    [("nonsense/x", "nonsense/x"), ("rehearsal/nobody", "no such program"), ("openai/gpt-4o", "OPENAI_API_KEY")],
)
def test_model_that_cannot_be_called_fails_it(shell, monkeypatch, model, said):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    got = shell.forge("doctor", "--set", f"author.model={model}", **NO_ENGINE)
    assert got.code == 3
    assert said in got.out


def test_unknown_price_and_missing_certificates_are_said(shell):
    shell.write(
        "forge.toml",
        '[author]\nmodel = "openai/mine"\n[models."openai/mine"]\napi_base = "http://127.0.0.1:9/v1"\n'
        '[sandbox]\nca_bundle = "nowhere.pem"\n',
    )
    said = shell.forge("doctor", "--json", **NO_ENGINE)
    assert levels(said)["model openai/mine"] == "warn"
    assert levels(said)["ca_bundle"] == "fail"


def test_endpoint_that_does_not_answer_fails_when_it_is_asked(shell):
    shell.write(
        "forge.toml",
        '[author]\nmodel = "openai/mine"\n[models."openai/mine"]\napi_base = "http://127.0.0.1:9/v1"\nretries = 0\n',
    )
    said = shell.forge("doctor", "--ask", "--json", **NO_ENGINE)
    assert levels(said)["model openai/mine"] == "fail"


@pytest.mark.docker
def test_clean_removes_what_a_dead_process_left_and_nothing_else(shell, stand_in, engine_run):
    """The owner label names a process by host, id and start: one that has ended is dead, this one is not."""
    gone = subprocess.run(
        [sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, text=True, check=True
    )
    start = ["docker", "create", "--label", f"forge.run={engine_run}", "--network", "none"]
    host = os.uname().nodename
    dead = made([*start, "--label", f"forge.owner={host}:{gone.stdout.strip()}:1", stand_in, "true"])
    alive = made([*start, "--label", f"forge.owner={host}:{os.getpid()}:{ticks()}", stand_in, "true"])
    try:
        said = shell.forge("clean", "--json")
        assert said.code == 0
        assert json.loads(said.out)["containers"] >= 1
        listed = made(["docker", "ps", "--all", "--quiet", "--no-trunc", "--filter", f"label=forge.run={engine_run}"])
        assert listed == alive
    finally:
        subprocess.run(["docker", "rm", "--force", alive, dead], capture_output=True, check=False)


def made(command):
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout.strip()


def ticks():
    with open(f"/proc/{os.getpid()}/stat") as stat:
        return stat.read().rpartition(")")[2].split()[19]


def test_clean_without_an_engine(shell):
    assert shell.forge("clean", **NO_ENGINE).code == 3
