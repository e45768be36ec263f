"""The course of a verdict on the engine in memory: which operations, in which order, and whose errors count."""

import io
from collections.abc import Callable

import pytest

from forge.domain.task import Task
from forge.stages.machines import environment_image, solver_machine
from forge.stages.validation import validate_structure, validate_task
from forge.stages.verification import Judged, judge
from sandbox.api import Owner
from sandbox.errors import EngineUnavailable, SandboxGone
from sandbox.fake import FakeEngine
from sandbox.fake_process import Program

OWNER = Owner(run="test-course")
Sample = Callable[..., Task]


def judged(engine: FakeEngine, task: Task, script: str) -> Judged:
    image = engine.build(environment_image(task), OWNER)
    with engine.start(image, solver_machine(task), OWNER) as sandbox:
        sandbox.exec(script, timeout_sec=5, user="root")
        return judge(engine, task, sandbox, OWNER, io.BytesIO())


def test_the_solvers_container_is_stopped_and_one_verifier_is_used(sample: Sample) -> None:
    events: list[str] = []
    task = sample("flag", {"tests/Dockerfile": "FROM debian:bookworm-slim\nCOPY . /tests\n"})
    verdict = judged(FakeEngine(on_event=events.append), task, "echo raised > /srv/flag").verdict
    assert verdict.passed
    assert events[:3] == ["build", "start", "exec"]
    assert events[3:] == ["stop", "collect", "build", "start", "put", "exec", "stop", "get", "close", "close"]


def test_a_shared_verdict_comes_before_the_stop(sample: Sample) -> None:
    events: list[str] = []
    verdict = judged(FakeEngine(on_event=events.append), sample("greeting"), "echo hello > /app/greeting.txt").verdict
    assert verdict.passed
    assert events[3:] == ["exec", "put", "exec", "get", "stop", "collect", "close"]


@pytest.mark.parametrize("broken", ["build", "start", "put", "exec", "get", "collect"])
def test_errors_of_the_engine_are_no_verdicts(sample: Sample, broken: str) -> None:
    seen: list[str] = []

    def fail(event: str) -> None:
        seen.append(event)
        if event == broken and "stop" in seen:
            raise EngineUnavailable("it is gone")

    with pytest.raises(EngineUnavailable, match="it is gone"):
        judged(FakeEngine(on_event=fail), sample("flag"), "echo raised > /srv/flag")


@pytest.mark.parametrize("name", ["greeting", "flag"])
@pytest.mark.parametrize("reason", ["exited", "unknown", "closed"])
def test_a_container_whose_end_is_not_its_own_doing_gives_no_verdict(sample: Sample, name: str, reason: str) -> None:
    with pytest.raises(SandboxGone):
        judged(FakeEngine(on_event=_ending(reason, 2)), sample(name), "true")


@pytest.mark.parametrize("reason", ["disk", "memory", "unresponsive"])
def test_a_container_that_the_solver_brought_down_is_not_passed(sample: Sample, reason: str) -> None:
    verdict = judged(FakeEngine(on_event=_ending(reason, 2)), sample("greeting"), "true").verdict
    assert (verdict.passed, verdict.problem) == (False, None)


def _ending(reason: str, exec_number: int) -> Callable[[str], None]:
    """From its n-th command on, a container is no longer running."""
    seen: list[str] = []

    def end(event: str) -> None:
        seen.append(event)
        if event == "exec" and seen.count("exec") >= exec_number:
            raise SandboxGone("gone", reason)

    return end


def test_a_sound_task_in_memory(sample: Sample, programs: dict[str, Program]) -> None:
    report = validate_task(FakeEngine(programs=programs), sample("flag"), OWNER, times=2)
    assert report.findings == ()
    assert report.ok


def test_leaks_are_found_in_memory(sample: Sample, programs: dict[str, Program]) -> None:
    hidden = "# the way to do it, word for word\necho raised > /srv/flag\n"
    changes = {
        "solution/solve.sh": hidden,
        "environment/Dockerfile": "FROM debian:bookworm-slim\nCOPY notes.txt test_outputs.py /opt/\n",
        "environment/notes.txt": hidden,
        "environment/test_outputs.py": "",
    }
    findings = validate_structure(FakeEngine(programs=programs), sample("flag", changes), OWNER)
    assert [finding.message for finding in findings] == [
        "the image holds /opt/test_outputs.py",
        "/opt/notes.txt in the image is the same file as solution/solve.sh",
    ]


def test_a_search_that_cannot_be_made_is_found(sample: Sample, programs: dict[str, Program]) -> None:
    without = {name: program for name, program in programs.items() if name != "sha256sum"}
    changes = {"solution/solve.sh": "# a long enough solution to be looked for\necho raised > /srv/flag\n"}
    findings = validate_structure(FakeEngine(programs=without), sample("flag", changes), OWNER)
    assert [finding.code for finding in findings] == ["scan_failed"]


def test_a_container_that_a_solver_brought_down_is_not_passed(sample: Sample, programs: dict[str, Program]) -> None:
    config = sample("greeting").config_text.replace('"1G"', '"1M"')
    task = sample("greeting", {"task.toml": config})
    verdict = judged(FakeEngine(programs=programs), task, "echo hello > /app/greeting.txt; fill").verdict
    assert (verdict.reward, verdict.passed, verdict.problem) == (None, False, None)
    assert verdict.log == "the container had ended: disk"


def test_what_a_container_held_when_it_ended_is_judged_elsewhere(sample: Sample, programs: dict[str, Program]) -> None:
    config = sample("flag").config_text + "storage_mb = 1\n"
    verdict = judged(
        FakeEngine(programs=programs), sample("flag", {"task.toml": config}), "echo raised > /srv/flag; fill"
    )
    assert verdict.verdict.passed
