"""Verdicts.

    judge(engine, task, sandbox, owner, out)    a solver's container -> Judged; the artifacts are left in `out`
    ├── separate: stop the container, collect, `grade`
    └── shared: `verify_in_place`, then stop and collect
    grade(engine, task, artifacts, owner)       verify, and on a problem once more in a fresh container
    verify(engine, task, artifacts, owner)      one verifier container, one verdict

A Verdict whose `problem` is set is no verdict on the solver: what becomes of it is the caller's decision. Errors of the
engine are no verdicts either and propagate (sandbox/errors.py).
"""

import shlex
from dataclasses import dataclass
from typing import BinaryIO

from forge.domain.outcome import Verdict
from forge.domain.reports import read_results
from forge.domain.task import Task
from forge.stages.artifacts import collect_artifacts, run_collect_hooks
from forge.stages.machines import verifier_image, verifier_machine, wait_healthy
from sandbox.api import OWN_ENDS, Collected, CopyLimits, Engine, ExecResult, Owner, Sandbox
from sandbox.errors import CopyRefused, PathMissing, SandboxGone
from sandbox.tree import Tree

RESULTS = "/logs/verifier"
RESULT_LIMITS = CopyLimits(max_bytes=64 << 20, max_files=5_000)
SINGLE_RESULT_LIMITS = CopyLimits(max_bytes=16 << 20, max_files=1)
LOG_BYTES = 20_000

_SINGLE_RESULTS = ("reward.json", "reward.txt", "ctrf.json", "junit.xml")
_PREPARE_SEC = 60.0
_OWN_FOLDERS = f"mkdir -p {RESULTS} /logs/artifacts && chown {{owner}} /tests {RESULTS} && chmod 0700 /tests {RESULTS}"
_RUN = "bash /tests/test.sh 2>&1"
_FRESH_FOLDERS = f"rm -rf /tests {RESULTS} && mkdir -p /tests {RESULTS} && chmod {{mode}} {RESULTS}"


@dataclass(frozen=True)
class Judged:
    """A verdict, and the manifest of what was collected from the solver's container."""

    verdict: Verdict
    collected: Collected


def judge(engine: Engine, task: Task, sandbox: Sandbox, owner: Owner, out: BinaryIO) -> Judged:
    """Judge the state of a solver's container, which is stopped by it. `out`, a seekable file, gets the artifacts' tar.

    Raises SandboxError."""
    if not task.config.separate:
        verdict = verify_in_place(sandbox, task)
        sandbox.stop()
        return Judged(verdict, collect_artifacts(sandbox, task, out))
    notes = run_collect_hooks(sandbox, task)
    sandbox.stop()
    collected = collect_artifacts(sandbox, task, out)
    verdict = grade(engine, task, out, owner)
    out.seek(0)
    return Judged(verdict.model_copy(update={"log": notes + verdict.log}), collected)


def grade(engine: Engine, task: Task, artifacts: BinaryIO, owner: Owner) -> Verdict:
    """A verdict on collected artifacts. A verifier that timed out or wrote no reward gets one more try.

    Raises SandboxError."""
    verdict = verify(engine, task, artifacts, owner)
    return verdict if verdict.problem is None else verify(engine, task, artifacts, owner)


def verify(engine: Engine, task: Task, artifacts: BinaryIO, owner: Owner) -> Verdict:
    """Run the verifier in a container of its own on a tar that `Sandbox.collect` made. Raises SandboxError."""
    image = engine.build(verifier_image(task), owner)
    with engine.start(image, verifier_machine(task), owner) as sandbox:
        try:
            if "Dockerfile" not in task.tests:
                sandbox.put(task.tests, "/tests")
            own = task.config.verifier.environment
            unready = wait_healthy(sandbox, own.healthcheck if own else None)
            if unready is not None:
                return _no_verdict(unready)
            artifacts.seek(0)
            sandbox.put_archive(artifacts)
            result = _run_alone(sandbox, task)
            sandbox.stop()
            return _verdict(sandbox, result)
        except SandboxGone as gone:
            return _after_the_end(gone, problem=True)


def verify_in_place(sandbox: Sandbox, task: Task) -> Verdict:
    """Run the verifier in the solver's own container while it runs, as the format's shared mode does.

    A container that the solver itself brought down leaves nothing to judge: not passed, and no problem of the verifier.
    Raises SandboxError."""
    config = task.config
    user = None if config.verifier.user is None else str(config.verifier.user)
    mode = "0700" if user in ("root", "0") else "0777"
    try:
        made = sandbox.exec(_FRESH_FOLDERS.format(mode=mode), timeout_sec=_PREPARE_SEC, user="root", workdir="/")
        if made.exit_code != 0:
            return _no_verdict("no clean folders could be made for the verifier", _log(made))
        sandbox.put(task.tests, "/tests")
        result = sandbox.exec(_RUN, timeout_sec=config.verifier.timeout_sec, user=user, env=config.verifier.env)
        return _verdict(sandbox, result)
    except SandboxGone as gone:
        return _after_the_end(gone, problem=False)


def _run_alone(sandbox: Sandbox, task: Task) -> ExecResult:
    config = task.config.verifier
    user = "root" if config.user is None else str(config.user)
    prepare = _OWN_FOLDERS.format(owner=shlex.quote(user))
    if user in ("root", "0"):
        return sandbox.exec(f"{prepare} && {_RUN}", timeout_sec=config.timeout_sec, user=user, env=config.env)
    made = sandbox.exec(prepare, timeout_sec=_PREPARE_SEC, user="root", workdir="/")
    if made.exit_code != 0:
        return made
    return sandbox.exec(_RUN, timeout_sec=config.timeout_sec, user=user, env=config.env)


def _verdict(sandbox: Sandbox, result: ExecResult) -> Verdict:
    log = _log(result)
    if result.timed_out:
        return _no_verdict("the verifier timed out", log, result.duration_sec)
    if result.output_limit:
        return _no_verdict("the verifier printed more than is read", log, result.duration_sec)
    found = read_results({path: file.data for path, file in _results(sandbox).items()})
    problem = found.problem
    if problem is not None and result.oom_killed:
        problem = f"{problem}; a process of it was killed for memory"
    return Verdict(
        reward=found.reward,
        passed=found.passed,
        checks=found.checks,
        log=log,
        problem=problem,
        duration_sec=result.duration_sec,
    )


def _log(result: ExecResult) -> str:
    return (result.stdout + result.stderr)[-LOG_BYTES:].decode(errors="replace")


def _results(sandbox: Sandbox) -> Tree:
    """The verifier's folder; where it is too large or hostile as a whole, those of its files that count."""
    try:
        return sandbox.get(RESULTS, RESULT_LIMITS)
    except PathMissing:
        return Tree()
    except CopyRefused:
        kept = Tree()
        for name in _SINGLE_RESULTS:
            try:
                kept = kept.merged(sandbox.get(f"{RESULTS}/{name}", SINGLE_RESULT_LIMITS))
            except (PathMissing, CopyRefused):
                continue
        return kept


def _after_the_end(gone: SandboxGone, *, problem: bool) -> Verdict:
    """A container that ended under what ran in it; any other end is the engine's, and an error."""
    if gone.reason not in OWN_ENDS:
        raise gone
    why = f"the container had ended: {gone.reason}"
    return _no_verdict(why) if problem else Verdict(reward=None, passed=False, log=why)


def _no_verdict(problem: str, log: str = "", duration_sec: float = 0.0) -> Verdict:
    return Verdict(reward=None, passed=False, problem=problem, log=log, duration_sec=duration_sec)
