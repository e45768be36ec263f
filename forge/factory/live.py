"""Trajectories while they happen: one file for each unit at work, rewritten after every step, gone when recorded."""

import os
from pathlib import Path

from solvers.trajectory import Trajectory


class LiveTrajectory:
    """Use it as `save`; `done` returns the last trajectory's JSON and removes the file."""

    def __init__(self, folder: Path, candidate: str, unit: str) -> None:
        self._path = folder / candidate / f"{unit.replace('/', '.')}.json"
        self._text = ""

    def __call__(self, trajectory: Trajectory) -> None:
        self._text = trajectory.to_json()
        self._path.parent.mkdir(parents=True, exist_ok=True)
        part = self._path.with_suffix(".part")
        part.write_text(self._text, encoding="utf-8")
        os.replace(part, self._path)

    def left(self) -> bytes:
        """What an attempt that did not come to its end left, b"" for nothing; the file goes."""
        if not self._path.exists():
            return b""
        self._text = self._path.read_text(encoding="utf-8")
        return self.done()

    def done(self) -> bytes:
        self._path.unlink(missing_ok=True)
        return self._text.encode()
