"""The virtual environment: made when something changed, silent when nothing did. On a bare machine in a folder."""

import pytest


def test_it_is_made_once(machine):
    machine.has("python3")
    said = machine.setup("ensure_venv")
    assert said.code == 0
    assert said.text == "setup: installing the Python packages into .venv (about two minutes)\n"
    assert (machine.project / ".venv/bin/python").exists()
    again = machine.setup("ensure_venv")
    assert (again.code, again.text) == (0, "")


def change_requirements(project):
    (project / "pyproject.toml").write_text("[project]\nname = 'x'\n")


def remove_it(project):
    (project / ".venv/bin/python").unlink()


def break_it(project):
    (project / ".venv/bin/python").write_text("#!/bin/sh\nexit 1\n")


@pytest.mark.parametrize("change", [change_requirements, remove_it, break_it])
def test_it_is_made_anew_after_a_change(machine, change):
    machine.has("python3")
    machine.setup("ensure_venv")
    change(machine.project)
    assert "installing the Python packages" in machine.setup("ensure_venv").text
    assert machine.setup("ensure_venv").text == ""


def test_half_an_installation_is_never_taken_for_whole(machine):
    machine.has("python3")
    machine.write("index-breaks")
    said = machine.setup("ensure_venv")
    assert said.code == 3
    assert "no matching distribution" in said.text
    assert "PIP_CERT" in said.text
    (machine.state / "index-breaks").unlink()
    assert "installing" in machine.setup("ensure_venv").text


def test_python_is_installed_where_that_is_allowed(machine):
    said = machine.setup("ensure_venv")
    assert said.code == 0
    assert "apt-get install -y --no-install-recommends python3 python3-venv" in machine.calls


def test_missing_python_is_explained_where_nothing_may_be_installed(machine):
    machine.write("uid", "1000")
    said = machine.setup("ensure_venv")
    assert said.code == 3
    assert "no Python 3.11 or newer" in said.text
    assert "PYTHON=/path/to/python3" in said.text


def test_python_that_is_too_old_is_passed_over(machine):
    machine.has("python3")
    newer = machine.bin / "python3.12"
    (machine.bin / "python3").rename(newer)
    (machine.bin / "python3").write_text("#!/bin/sh\nexit 1\n")
    (machine.bin / "python3").chmod(0o755)
    assert machine.setup("find_python").text == f"{newer}\n"


def test_named_python_comes_first(machine):
    machine.has("python3")
    named = machine.bin / "my-python"
    named.write_text((machine.bin / "python3").read_text())
    named.chmod(0o755)
    assert machine.setup("find_python", PYTHON=str(named)).text == f"{named}\n"
