"""What is wrong with a task, as far as its files, its image and an untouched container tell. Pure decisions."""

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from forge.domain.artifacts import artifact_problem
from forge.domain.dockerfile import missing_sources
from forge.domain.outcome import CheckStatus, Verdict
from forge.domain.reports import same_test
from forge.domain.task import Task
from sandbox.tree import Tree

MIN_LEAK_BYTES = 32
"""Files shorter than this are alike by chance."""

_SYSTEM_FOLDERS = ("/usr/lib/", "/usr/share/", "/usr/include/", "/usr/src/", "/lib/", "/proc/", "/sys/", "/dev/")
_ALWAYS_HIDDEN = ("solve.sh", "test.sh", "test_outputs.py")


@dataclass(frozen=True)
class Finding:
    """Something to repair. code: one of a fixed set of words; message: one line; detail: logs, lists, "" for none."""

    code: str
    message: str
    detail: str = ""


def context_findings(task: Task) -> Iterator[Finding]:
    """What files and config say before anything is built."""
    for folder, tree in (("environment", task.environment), ("tests", task.tests)):
        if "Dockerfile" in tree:
            text = tree["Dockerfile"].data.decode("utf-8", "replace")
            for source in missing_sources(text, tree):
                yield Finding("context_incomplete", f"{folder}/Dockerfile copies {source}, which is not in {folder}/")
    for index, artifact in enumerate(task.config.artifacts):
        why = artifact_problem(artifact.source)
        if why is not None:
            yield Finding("artifact_refused", f"task.toml: artifacts[{index}]: {artifact.source}: {why}")


def untouched_findings(task: Task, verdict: Verdict, *, require_checks: bool) -> Iterator[Finding]:
    """What the verdict on an untouched container says. require_checks: per-test outcomes are expected of this task."""
    if verdict.problem is not None:
        yield Finding("verifier_problem", f"untouched container: {verdict.problem}", verdict.log)
        return
    if verdict.reward is not None and verdict.reward >= 1:
        yield Finding("untouched_reward", f"an untouched container gets the reward {verdict.reward:g}", verdict.log)
    if not verdict.checks:
        if require_checks:
            yield Finding(
                "no_report", "the verifier leaves no per-test report (ctrf.json) in /logs/verifier", verdict.log
            )
        return
    if require_checks:
        yield from _check_findings(task, verdict)


def _check_findings(task: Task, verdict: Verdict) -> Iterator[Finding]:
    guards = task.config.metadata.forge.guards
    declared = {check.name for check in verdict.checks if any(same_test(check.name, guard) for guard in guards)}
    names = [check.name for check in verdict.checks]
    for guard in guards:
        if not any(same_test(name, guard) for name in names):
            yield Finding("unknown_guard", f"task.toml: metadata.forge.guards: {guard} is no test of this task")
    for twice in sorted({name for name in names if names.count(name) > 1}):
        yield Finding("ambiguous_test", f"two tests are reported as {twice}")
    for check in verdict.checks:
        if check.status is CheckStatus.SKIPPED:
            yield Finding("skipped", f"{check.name} is skipped in an untouched container", check.message)
        elif check.name in declared and check.status is CheckStatus.FAILED:
            yield Finding("guard_failed", f"the guard {check.name} fails in an untouched container", check.message)
        elif check.name not in declared and check.status is CheckStatus.PASSED:
            yield Finding("passes_untouched", f"{check.name} passes in an untouched container and is not a guard")
    if len(declared) == len(set(names)):
        yield Finding("guards_only", "every test is a guard: nothing is asked of a solver")


def leaked_names(task: Task, image_files: Iterable[str]) -> Iterator[Finding]:
    """Tests and solutions that an image holds by name, in any layer."""
    hidden = set(_ALWAYS_HIDDEN) | {name for name in map(_base, task.tests) if _is_test(name)}
    for path in sorted(set(image_files)):
        inside = path.startswith(("/tests/", "/solution/"))
        if inside or (_base(path) in hidden and not path.startswith(_SYSTEM_FOLDERS)):
            yield Finding("leaked", f"the image holds {path}", "in its files or in a layer below")


def leaked_contents(task: Task, found: Iterable[tuple[str, str]]) -> Iterator[Finding]:
    """Files of the image that equal a hidden one; found: (sha256, path) of files in the running container."""
    hidden = {hashlib.sha256(file.data).hexdigest(): path for path, file in comparable_files(task).items()}
    for digest, path in found:
        if digest in hidden:
            yield Finding("leaked", f"{path} in the image is the same file as {hidden[digest]}")


def comparable_files(task: Task) -> Tree:
    """Files that no solver may find in its image, whatever their name there."""
    every = task.tests.at("tests").merged(task.solution.at("solution"))
    return Tree({path: file for path, file in every.items() if len(file.data) >= MIN_LEAK_BYTES})


def _base(path: str) -> str:
    return path.rsplit("/", 1)[-1]


def _is_test(name: str) -> bool:
    return name.startswith("test_") or name.partition(".")[0].endswith("_test")
