"""What files, an image's listing and a verdict on an untouched container say of a task."""

import hashlib
from collections.abc import Callable

import pytest

from forge.domain.outcome import Check, CheckStatus, Verdict
from forge.domain.structure import context_findings, leaked_contents, leaked_names, untouched_findings
from forge.domain.task import Task

P, F, S = CheckStatus.PASSED, CheckStatus.FAILED, CheckStatus.SKIPPED
GUARD = "test_exits_with_zero"
Sample = Callable[..., Task]


def verdict(*checks: tuple[str, CheckStatus], reward: float | None = 0.0, problem: str | None = None) -> Verdict:
    made = tuple(Check(name=name, status=status) for name, status in checks)
    return Verdict(reward=reward, passed=False, checks=made, problem=problem)


@pytest.mark.parametrize(
    ("said", "codes"),
    [
        (verdict((GUARD, P), ("test_sample", F)), []),
        (verdict((f"test_outputs.py::{GUARD}", P), ("test_outputs.py::test_sample", F)), []),
        (verdict((GUARD, P), ("test_sample", P), ("test_b", F)), ["passes_untouched"]),
        (verdict((GUARD, F), ("test_sample", F)), ["guard_failed"]),
        (verdict((GUARD, P), ("test_sample", S), ("test_b", F)), ["skipped"]),
        (verdict((GUARD, P)), ["guards_only"]),
        (verdict(("test_sample", F)), ["unknown_guard"]),
        (verdict((GUARD, P), ("test_a", F), ("test_a", F)), ["ambiguous_test"]),
        (verdict(), ["no_report"]),
        (verdict((GUARD, P), ("test_sample", F), reward=1.0), ["untouched_reward"]),
        (verdict(reward=None, problem="the verifier timed out"), ["verifier_problem"]),
    ],
)
def test_untouched(sample: Sample, said: Verdict, codes: list[str]) -> None:
    assert [f.code for f in untouched_findings(sample("totals"), said, require_checks=True)] == codes


@pytest.mark.parametrize(
    ("said", "codes"),
    [
        (verdict(("test_sample", P)), []),
        (verdict(), []),
        (verdict(reward=1.0), ["untouched_reward"]),
        (verdict(reward=None, problem="the verifier wrote no reward"), ["verifier_problem"]),
    ],
)
def test_of_other_tasks_only_the_reward_counts(sample: Sample, said: Verdict, codes: list[str]) -> None:
    assert [f.code for f in untouched_findings(sample("greeting"), said, require_checks=False)] == codes


def test_context(sample: Sample) -> None:
    task = sample("totals", {"environment/Dockerfile": "FROM x\nCOPY app data /app\n"})
    assert [(f.code, f.message) for f in context_findings(task)] == [
        ("context_incomplete", "environment/Dockerfile copies data, which is not in environment/")
    ]
    config = task.config_text.replace('["/app"]', '["/app", "out", "/tests/x"]')
    findings = list(context_findings(sample("totals", {"task.toml": config})))
    assert [f.code for f in findings] == ["artifact_refused", "artifact_refused"]
    assert findings[0].message == "task.toml: artifacts[1]: out: not an absolute path"


@pytest.mark.parametrize(
    ("path", "leaks"),
    [
        ("/app/report.sh", False),
        ("/app/solve.sh", True),
        ("/root/.old/test_outputs.py", True),
        ("/tests/anything", True),
        ("/solution/x", True),
        ("/usr/lib/python3/test_outputs.py", False),
        ("/app/asuser.py", False),
    ],
)
def test_leaks_by_name(sample: Sample, path: str, leaks: bool) -> None:
    assert bool(list(leaked_names(sample("totals"), ["/bin/sh", path]))) is leaks


def test_leaks_by_content(sample: Sample) -> None:
    task = sample("totals", {"tests/short": "1\n"})
    secret = hashlib.sha256(task.solution["solve.sh"].data).hexdigest()
    short = hashlib.sha256(b"1\n").hexdigest()
    findings = list(leaked_contents(task, [(secret, "/opt/fix"), (short, "/opt/one"), ("0" * 64, "/opt/other")]))
    assert [f.message for f in findings] == ["/opt/fix in the image is the same file as solution/solve.sh"]
