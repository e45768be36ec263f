"""A folder as a technique sees it, and the technique's commands run in it for real."""

import subprocess
from pathlib import Path

from solvers.rehearsal.technique import Output, Technique, View


def view_of_folder(root: Path, instruction: str) -> View:
    """Everything below `root`, texts read whole."""
    paths = sorted(path for path in root.rglob("*") if path.is_file())
    files = {}
    for path in paths:
        try:
            files[str(path)] = path.read_text()
        except UnicodeDecodeError:
            continue
    sizes = {str(path): path.stat().st_size for path in paths}
    return View(instruction, tuple(sizes), sizes, files)


def work(technique: Technique, root: Path, instruction: str) -> list[str]:
    """Let the technique probe and act until it is done; the commands that it acted with."""
    ran: list[tuple[str, Output]] = []
    acted: list[str] = []
    for _ in range(10):
        seen = view_of_folder(root, instruction)
        view = View(seen.instruction, seen.listing, seen.sizes, seen.files, {}, tuple(ran))
        done = {command for command, _ in ran}
        probe, act = technique.probe(view), technique.act(view)
        move = probe if probe is not None and probe.command not in done and not acted else act
        if move is None or move.command in done:
            return acted
        result = subprocess.run(["bash", "-c", move.command], capture_output=True, text=True, timeout=60, check=False)
        assert result.returncode == 0, result.stderr
        ran.append((move.command, Output(0, result.stdout, result.stderr)))
        acted += [move.command] if move is act else []
    raise AssertionError("the technique does not end")
