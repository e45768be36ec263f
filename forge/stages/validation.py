"""Structural validation and the replay of solutions.

    validate_structure(engine, task, owner)     -> findings; none: both images build, the container becomes healthy,
                                                   every test but the declared guards fails untouched, nothing leaks
    replay_solution(engine, task, owner, times) -> a verdict for each clean container that solve.sh was run in
    validate_task(engine, task, owner, times)   -> both, with durations: what `forge validate` shows

Only what the task is to blame for becomes a finding; errors of the engine propagate (sandbox/errors.py).
"""

import tempfile
import time
from dataclasses import dataclass

from forge.domain.outcome import Verdict
from forge.domain.structure import Finding, context_findings, untouched_findings
from forge.domain.task import Task
from forge.stages.leaks import leak_findings
from forge.stages.machines import environment_image, solver_machine, verifier_image, wait_healthy
from forge.stages.verification import LOG_BYTES, judge
from sandbox.api import OWN_ENDS, Engine, ExecResult, Image, Owner
from sandbox.errors import BuildFailed, ContextRefused, ImageMissing, SandboxGone

SOLUTION_SEC = 1800.0
"""The most that solve.sh may take where [agent] sets no limit."""

_LOG_LINES = 20


@dataclass(frozen=True)
class Structure:
    """findings: empty is fine. untouched: the verdict on a container that nobody touched, None for none."""

    findings: tuple[Finding, ...]
    untouched: Verdict | None = None


@dataclass(frozen=True)
class ValidationReport:
    """What was found of a task. Durations in seconds, of structure and of each replay."""

    findings: tuple[Finding, ...]
    untouched: Verdict | None
    replays: tuple[Verdict, ...]
    structure_sec: float
    replay_sec: tuple[float, ...]

    @property
    def ok(self) -> bool:
        return not self.findings and bool(self.replays) and all(verdict.passed for verdict in self.replays)


def validate_structure(engine: Engine, task: Task, owner: Owner, *, require_checks: bool = True) -> list[Finding]:
    """What is wrong with a task, empty when nothing is.

    require_checks: per-test outcomes are expected, as of every task that we author; else only the reward is looked at.
    Raises SandboxError."""
    return list(examine(engine, task, owner, require_checks=require_checks).findings)


def validate_task(
    engine: Engine, task: Task, owner: Owner, times: int = 3, *, require_checks: bool | None = None
) -> ValidationReport:
    """Structure, and where it stands, the solution in `times` clean containers.

    require_checks None: of tasks with a [metadata.forge], which are ours. Raises SandboxError."""
    if require_checks is None:
        require_checks = "forge" in task.config.metadata.model_fields_set
    began = time.monotonic()
    structure = examine(engine, task, owner, require_checks=require_checks)
    structure_sec = time.monotonic() - began
    findings = list(structure.findings)
    replays: list[Verdict] = []
    durations: list[float] = []
    if "solve.sh" not in task.solution:
        findings.append(Finding("no_solution", "solution/solve.sh: missing: nothing shows that the task can be solved"))
    elif structure.untouched is not None:
        for number in range(1, times + 1):
            began = time.monotonic()
            verdict = replay_once(engine, task, owner)
            durations.append(time.monotonic() - began)
            replays.append(verdict)
            if not verdict.passed:
                findings.append(_replay_finding(number, times, verdict))
    return ValidationReport(tuple(findings), structure.untouched, tuple(replays), structure_sec, tuple(durations))


def replay_solution(engine: Engine, task: Task, owner: Owner, times: int = 3) -> list[Verdict]:
    """Run solve.sh in clean containers, one after the other, and judge each. All must pass. Raises SandboxError."""
    return [replay_once(engine, task, owner) for _ in range(times)]


def replay_once(engine: Engine, task: Task, owner: Owner) -> Verdict:
    """Run solve.sh as root in a clean container and judge it. A script that fails or runs out of time is judged on what
    stands; the verdict's log begins with what it did. Raises SandboxError."""
    image = engine.build(environment_image(task), owner)
    with engine.start(image, solver_machine(task), owner) as sandbox, tempfile.TemporaryFile() as out:
        try:
            unready = wait_healthy(sandbox, task.config.environment.healthcheck)
            if unready is not None:
                return Verdict(reward=None, passed=False, problem=unready)
            sandbox.put(task.solution, "/solution")
            result = sandbox.exec(
                "bash /solution/solve.sh 2>&1",
                timeout_sec=task.config.agent.timeout_sec or SOLUTION_SEC,
                user="root",
                env=task.config.solution.env,
            )
            did = _what_it_did(result)
        except SandboxGone as gone:
            if gone.reason not in OWN_ENDS:
                raise
            did = f"solve.sh: the container ended: {gone.reason}"
        verdict = judge(engine, task, sandbox, owner, out).verdict
    return verdict.model_copy(update={"log": f"{did}\n{verdict.log}"[-2 * LOG_BYTES :]})


def examine(engine: Engine, task: Task, owner: Owner, *, require_checks: bool) -> Structure:
    """`validate_structure`, with the verdict on the untouched container. Raises SandboxError."""
    findings = list(context_findings(task))
    if any(finding.code == "context_incomplete" for finding in findings):
        return Structure(tuple(findings))
    image = _built(engine, task, owner, findings)
    if image is None:
        return Structure(tuple(findings))
    try:
        untouched = _untouched(engine, task, owner, image, findings)
    except ContextRefused as error:
        findings.append(Finding("start_refused", str(error)))
        untouched = None
    if untouched is not None:
        findings += untouched_findings(task, untouched, require_checks=require_checks)
    return Structure(tuple(findings), untouched)


def _untouched(engine: Engine, task: Task, owner: Owner, image: Image, findings: list[Finding]) -> Verdict | None:
    """The verdict on the untouched container; None, and a finding, where it does not stay up to be judged.

    Raises ContextRefused where a container cannot be started as the task asks."""
    with engine.start(image, solver_machine(task), owner) as sandbox, tempfile.TemporaryFile() as out:
        try:
            unready = wait_healthy(sandbox, task.config.environment.healthcheck)
            if unready is not None:
                findings.append(Finding("unhealthy", "the container does not become healthy", unready))
                return None
            findings += leak_findings(engine, task, image, sandbox)
        except SandboxGone as gone:
            if gone.reason not in OWN_ENDS:
                raise
            findings.append(Finding("container_ended", f"the untouched container ended: {gone.reason}"))
            return None
        return judge(engine, task, sandbox, owner, out).verdict


def _built(engine: Engine, task: Task, owner: Owner, findings: list[Finding]) -> Image | None:
    """The solver's image, with the verifier's built as well; None, and findings, where either does not build."""
    specs = [("environment", environment_image(task))]
    if task.config.separate:
        specs.append(("tests", verifier_image(task)))
    images: list[Image] = []
    for folder, spec in specs:
        try:
            images.append(engine.build(spec, owner))
        except BuildFailed as error:
            findings.append(Finding("build_failed", f"{folder}: {error}", error.last_lines(_LOG_LINES)))
        except (ContextRefused, ImageMissing) as error:
            findings.append(Finding("build_refused", f"{folder}: {error}"))
    return images[0] if len(images) == len(specs) else None


def _what_it_did(result: ExecResult) -> str:
    how = "ran out of time" if result.timed_out else f"exited {result.exit_code}"
    tail = (result.stdout + result.stderr)[-LOG_BYTES:].decode(errors="replace")
    return f"solve.sh {how}\n{tail}"


def _replay_finding(number: int, times: int, verdict: Verdict) -> Finding:
    failed = ", ".join(check.name for check in verdict.checks if check.status != "passed")
    why = verdict.problem or (f"failed: {failed}" if failed else f"reward {verdict.reward}")
    return Finding("solution_failed", f"solution/solve.sh, replay {number} of {times}: {why}", verdict.log)
