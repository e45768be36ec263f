"""The command line as a user runs it: a process of its own, in a folder of its own."""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[3]


@dataclass(frozen=True)
class Said:
    code: int
    out: str
    err: str


class Shell:
    """`folder` is the current folder of every command."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def command(self, *args: str) -> list[str]:
        return [sys.executable, "-m", "terminal_task_forge", *args]

    def env(self, **env: str) -> dict[str, str]:
        return {**os.environ, "PYTHONPATH": str(PROJECT), "COLUMNS": "120", **env}

    def forge(self, *args: str, stdin: str = "", **env: str) -> Said:
        done = subprocess.run(
            self.command(*args),
            cwd=self.folder,
            env=self.env(**env),
            input=stdin.encode(),
            capture_output=True,
            timeout=300,
            check=False,
        )
        return Said(done.returncode, done.stdout.decode(), done.stderr.decode())

    def write(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)
