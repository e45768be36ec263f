"""Structural validation and replays in real containers."""

from collections.abc import Callable

import pytest

from forge.domain.task import Task
from forge.stages.validation import replay_solution, validate_structure, validate_task
from sandbox.api import Engine, Owner

pytestmark = pytest.mark.docker
Sample = Callable[..., Task]

DOCKERFILE = "FROM debian:bookworm-slim\nCOPY app /app\nWORKDIR /app\n"
HIDDEN = "# the way to do it, word for word, that no solver should be shown\ntrue\n"
TESTS = "def test_exits_with_zero():\n    pass\n"


def test_a_sound_task_has_no_findings(engine: Engine, owner: Owner, sample: Sample) -> None:
    report = validate_task(engine, sample("totals"), owner, times=2)
    assert report.findings == ()
    assert report.ok
    assert report.untouched is not None
    assert report.untouched.reward == 0
    assert [verdict.passed for verdict in report.replays] == [True, True]
    assert len(report.replay_sec) == 2


def test_a_sound_task_of_the_old_kind(engine: Engine, owner: Owner, sample: Sample) -> None:
    report = validate_task(engine, sample("greeting"), owner, times=1)
    assert (report.findings, report.ok) == ((), True)


Changes = dict[str, str | None]
BAD: dict[str, tuple[str, Changes, set[str]]] = {
    "does not build": ("totals", {"environment/Dockerfile": DOCKERFILE + "RUN exit 3\n"}, {"build_failed"}),
    "verifier does not build": (
        "totals",
        {"tests/Dockerfile": "FROM debian:bookworm-slim\nRUN exit 3\n"},
        {"build_failed"},
    ),
    "base that is nowhere": ("totals", {"environment/Dockerfile": "FROM no.example/such:1\n"}, {"build_refused"}),
    "user that is not there": ("totals", {"environment/Dockerfile": DOCKERFILE + "USER nosuch\n"}, {"start_refused"}),
    "copies what is not there": (
        "totals",
        {"environment/Dockerfile": DOCKERFILE + "COPY data /data\n"},
        {"context_incomplete"},
    ),
    "solution in a folder": ("totals", {"environment/app/notes.txt": HIDDEN, "solution/solve.sh": HIDDEN}, {"leaked"}),
    "test in a lower layer": (
        "totals",
        {"environment/Dockerfile": DOCKERFILE + "RUN echo 1 > /opt/test_outputs.py\nRUN rm /opt/test_outputs.py\n"},
        {"leaked"},
    ),
    "no report": ("flag", {"tests/test.sh": "echo 0 > /logs/verifier/reward.txt"}, {"no_report"}),
    "no reward": ("flag", {"tests/test.sh": "true"}, {"verifier_problem"}),
    "reward for nothing": (
        "flag",
        {"tests/test.sh": "echo 1 > /logs/verifier/reward.txt"},
        {"untouched_reward", "no_report"},
    ),
}


@pytest.mark.parametrize(("name", "changes", "codes"), BAD.values(), ids=BAD.keys())
def test_what_is_wrong_is_found(
    engine: Engine, owner: Owner, sample: Sample, name: str, changes: Changes, codes: set[str]
) -> None:
    findings = validate_structure(engine, sample(name, changes), owner)
    assert {finding.code for finding in findings} == codes


def test_a_failed_build_shows_the_end_of_its_log(engine: Engine, owner: Owner, sample: Sample) -> None:
    changes = {"environment/Dockerfile": DOCKERFILE + "RUN echo about to fail; exit 3\n"}
    (finding,) = validate_structure(engine, sample("totals", changes), owner)
    assert "about to fail" in finding.detail


def test_tests_that_pass_untouched(engine: Engine, owner: Owner, sample: Sample) -> None:
    config = sample("totals").config_text.replace('guards = ["test_exits_with_zero"]', 'guards = ["test_gone"]')
    findings = validate_structure(engine, sample("totals", {"task.toml": config}), owner)
    assert {finding.code for finding in findings} == {"passes_untouched", "unknown_guard"}


def test_nothing_but_guards(engine: Engine, owner: Owner, sample: Sample) -> None:
    findings = validate_structure(engine, sample("totals", {"tests/test_outputs.py": TESTS}), owner)
    assert {finding.code for finding in findings} == {"untouched_reward", "guards_only"}


@pytest.mark.parametrize(("command", "codes"), [("test -e /app/report.sh", set()), ("exit 4", {"unhealthy"})])
def test_health(engine: Engine, owner: Owner, sample: Sample, command: str, codes: set[str]) -> None:
    table = f'\n[environment.healthcheck]\ncommand = "{command}"\nretries = 2\ninterval_sec = 0.01\n'
    task = sample("totals", {"task.toml": sample("totals").config_text + table})
    assert {finding.code for finding in validate_structure(engine, task, owner)} == codes


def test_a_solution_that_fails(engine: Engine, owner: Owner, sample: Sample) -> None:
    task = sample("totals", {"solution/solve.sh": "echo trying; exit 9\n"})
    report = validate_task(engine, task, owner, times=1)
    assert [finding.code for finding in report.findings] == ["solution_failed"]
    assert not report.ok
    assert report.replays[0].log.startswith("solve.sh exited 9\ntrying\n")


def test_a_solution_that_takes_too_long_is_judged_on_what_stands(engine: Engine, owner: Owner, sample: Sample) -> None:
    config = sample("totals").config_text.replace("[agent]\ntimeout_sec = 120", "[agent]\ntimeout_sec = 2")
    solve = sample("totals").solution["solve.sh"].data.decode() + "sleep 100\n"
    (verdict,) = replay_solution(
        engine, sample("totals", {"task.toml": config, "solution/solve.sh": solve}), owner, times=1
    )
    assert verdict.passed
    assert verdict.log.startswith("solve.sh ran out of time")


def test_without_a_solution(engine: Engine, owner: Owner, sample: Sample) -> None:
    report = validate_task(engine, sample("totals", {"solution/solve.sh": None}), owner)
    assert [finding.code for finding in report.findings] == ["no_solution"]
    assert not report.ok
