"""Declared artifacts: out of the solver's container, as one tar."""

import tarfile
import tempfile
from dataclasses import replace
from typing import BinaryIO

from forge.domain.artifacts import CONVENTIONAL, crossing, excluded
from forge.domain.task import Task
from forge.domain.taskconfig import Artifact
from sandbox.api import Collected, CopyLimits, Sandbox
from sandbox.errors import SandboxGone

ARTIFACT_LIMITS = CopyLimits()
_HOOK_BYTES = 2_000


def run_collect_hooks(sandbox: Sandbox, task: Task) -> str:
    """Run [verifier].collect in the solver's container, which still runs. What failed, as text for the log."""
    notes: list[str] = []
    for hook in task.config.verifier.collect:
        try:
            user = None if hook.user is None else str(hook.user)
            result = sandbox.exec(hook.command, timeout_sec=hook.timeout_sec, user=user)
        except SandboxGone as gone:
            return "\n".join([*notes, f"collect: the container had ended ({gone.reason})", ""])
        if result.exit_code != 0:
            said = result.stderr[-_HOOK_BYTES:].decode(errors="replace")
            notes.append(f"collect: {hook.command!r} exited {result.exit_code}: {said}")
    return "\n".join([*notes, ""]) if notes else ""


def collect_artifacts(sandbox: Sandbox, task: Task, out: BinaryIO, limits: CopyLimits = ARTIFACT_LIMITS) -> Collected:
    """Write the declared artifacts, and /logs/artifacts where it exists, to `out` as a tar.

    A path that is missing, hostile or may not cross is left out and listed. `out` is left at its start.
    Raises EngineUnavailable."""
    artifacts = task.config.artifacts
    paths, refused = crossing(artifacts)
    if any(artifact.exclude for artifact in artifacts):
        with tempfile.TemporaryFile() as raw:
            collected = sandbox.collect(paths, raw, limits)
            raw.seek(0)
            _copy_without_excluded(raw, out, artifacts)
        kept = tuple(file for file in collected.files if not excluded(artifacts, file.path))
        collected = replace(collected, files=kept)
    else:
        collected = sandbox.collect(paths, out, limits)
    out.seek(0)
    declared = {artifact.source.rstrip("/") for artifact in artifacts}
    missing = tuple(path for path in collected.missing if path != CONVENTIONAL or path in declared)
    return replace(collected, missing=missing, refused=(*collected.refused, *refused))


def _copy_without_excluded(raw: BinaryIO, out: BinaryIO, artifacts: tuple[Artifact, ...]) -> None:
    with tarfile.open(fileobj=raw, mode="r:") as source, tarfile.open(fileobj=out, mode="w:") as target:
        for member in source:
            if not excluded(artifacts, "/" + member.name.strip("/")):
                target.addfile(member, source.extractfile(member) if member.isreg() else None)
