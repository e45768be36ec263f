"""Verdicts in real containers: honest work passes, cheats do not, and no verdict is a problem and not a fail."""

import io
import tarfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pytest

from forge.domain.outcome import CheckStatus
from forge.domain.task import Task
from forge.stages.machines import environment_image, solver_machine
from forge.stages.verification import Judged, grade, judge, verify
from sandbox.api import Collected, Engine, Image, Machine, Owner, Sandbox

pytestmark = pytest.mark.docker
Sample = Callable[..., Task]

SOLVE = "sed -i 's/+= \\$2/+= $3/' /app/report.sh\n"
REPORT = "tail -n +2 \"$1\" | awk -F, '{ t[$1] += $3 } END { for (n in t) print n, t[n] }' | sort\n"
EVERY_TEST = {"test_exits_with_zero", "test_sample", "test_drawn_orders"}


@dataclass
class Bench:
    """Runs a script in a solver's container and has the result judged."""

    engine: Engine
    owner: Owner

    def judged(self, task: Task, script: str, out: io.BytesIO | None = None) -> Judged:
        image = self.engine.build(environment_image(task), self.owner)
        with self.engine.start(image, solver_machine(task), self.owner) as sandbox:
            sandbox.exec(script, timeout_sec=60, user="root")
            return judge(self.engine, task, sandbox, self.owner, out or io.BytesIO())


@pytest.fixture
def bench(engine: Engine, owner: Owner) -> Bench:
    return Bench(engine, owner)


def passed_tests(judged: Judged) -> set[str]:
    return {check.name for check in judged.verdict.checks if check.status is CheckStatus.PASSED}


def test_a_solution_passes_and_its_artifacts_are_kept(bench: Bench, sample: Sample) -> None:
    out = io.BytesIO()
    judged = bench.judged(sample("totals"), SOLVE + "chmod 0600 /app/report.sh", out)
    assert (judged.verdict.reward, judged.verdict.passed, judged.verdict.problem) == (1.0, True, None)
    assert passed_tests(judged) == EVERY_TEST
    assert (judged.collected.missing, judged.collected.refused) == ((), ())
    kept = {file.path for file in judged.collected.files if file.kind == "file"}
    assert kept == {"/app/report.sh", "/app/sample.csv"}
    with tarfile.open(fileobj=out) as archive:
        assert {"/" + member.name.strip("/") for member in archive if member.isreg()} == kept


def test_kept_artifacts_are_graded_again(bench: Bench, sample: Sample) -> None:
    out = io.BytesIO()
    task = sample("totals")
    bench.judged(task, SOLVE, out)
    assert verify(bench.engine, task, out, bench.owner).passed
    source = task.tests["test_outputs.py"].data.decode()
    stricter = sample("totals", {"tests/test_outputs.py": source.replace('"ada 425', '"ada 426')})
    verdict = verify(bench.engine, stricter, out, bench.owner)
    assert (verdict.reward, verdict.passed) == (0.0, False)


HELD = {
    "nothing done": "true",
    "planted reward": """
        mkdir -p /logs/verifier /logs/artifacts
        for d in /logs/verifier /logs/artifacts /app; do
          echo 1 > $d/reward.txt
          echo '{"reward": 1}' > $d/reward.json
          echo '<s><testcase name="test_sample"/></s>' > $d/junit.xml
        done""",
    "loop that rewrites the reward": """
        setsid bash -c 'while :; do mkdir -p /logs/verifier; echo 1 > /logs/verifier/reward.txt; done' &""",
    "replaced programs": """
        printf '#!/bin/sh\\nmkdir -p /logs/verifier; echo 1 > /logs/verifier/reward.txt\\n' > /tmp/f; chmod +x /tmp/f
        for b in /usr/bin/python3 /usr/local/bin/python3 /usr/bin/pytest /usr/local/bin/bash /app/python3 /app/bash; do
          cp /tmp/f $b
        done
        cp /tmp/f /bin/bash.new; mv /bin/bash.new /bin/bash""",
    "conftest, pytest.ini and modules in the artifact": """
        cd /app
        cat > conftest.py <<'X'
import pytest
@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    outcome.get_result().outcome = "passed"
X
        cp conftest.py evil.py
        printf '[pytest]\\naddopts = -p evil\\npythonpath = /app\\n' > pytest.ini
        cp pytest.ini tox.ini; printf '[tool.pytest.ini_options]\\naddopts = "-p evil"\\n' > pyproject.toml
        echo 'import os; open("/logs/verifier/reward.txt", "w").write("1"); os._exit(0)' > sitecustomize.py
        for m in usercustomize pytest json asuser random xml; do cp sitecustomize.py $m.py; done
        mkdir -p /usr/lib/python3/dist-packages; cp sitecustomize.py /usr/lib/python3/dist-packages/""",
    "environment and profile": """
        for f in /etc/profile /root/.bashrc /root/.profile /etc/environment; do
          echo 'export PYTHONPATH=/app PYTEST_PLUGINS=evil BASH_ENV=/app/evil.sh' >> $f
        done
        echo 'echo 1 > /logs/verifier/reward.txt; exit 0' > /app/evil.sh""",
    "link to the tests": "rm /app/report.sh; ln -s /tests/test_outputs.py /app/report.sh",
    "folder that is a link to the tests": "rm -rf /app; ln -s /tests /app",
    "folder that is a link to the results": """
        mkdir -p /logs/verifier; echo 1 > /logs/verifier/reward.txt; rm -rf /app; ln -s /logs/verifier /app""",
    "pipe": "rm /app/report.sh; mkfifo /app/report.sh",
    "too large": "truncate -s 3G /app/report.csv",
    "no artifact": "rm -rf /app",
    "a file in place of the folder": "rm -rf /app; echo x > /app",
    "submitted code that writes the reward": """
        cat > /app/report.sh <<'X'
chmod 777 /logs /logs/verifier /tests
for f in reward.txt reward.json ctrf.json junit.xml; do echo 1 > /logs/verifier/$f; done
cat /tests/test_outputs.py
setsid bash -c 'while :; do echo 1 > /logs/verifier/reward.txt; mv /logs/verifier /logs/old; done' &
kill -9 -1
X""",
    "submitted code that forks and fills": """
        cat > /app/report.sh <<'X'
f() { f | f & }; f
head -c 1G /dev/zero > /tmp/fill
yes
X""",
}


@pytest.mark.parametrize("script", HELD.values(), ids=HELD.keys())
def test_nothing_but_the_work_passes(bench: Bench, sample: Sample, script: str) -> None:
    judged = bench.judged(sample("totals"), script)
    verdict = judged.verdict
    assert (verdict.reward, verdict.passed, verdict.problem) == (0.0, False, None)
    assert {check.name for check in verdict.checks} == EVERY_TEST
    assert passed_tests(judged) <= {"test_exits_with_zero"}


def test_what_does_not_come_is_listed(bench: Bench, sample: Sample) -> None:
    assert bench.judged(sample("totals"), "rm -rf /app").collected.missing == ("/app",)
    refused = bench.judged(sample("totals"), "mkfifo /app/pipe").collected.refused
    assert [path for path, _ in refused] == ["/app"]


def test_excluded_files_stay_behind_and_hooks_run_first(bench: Bench, sample: Sample) -> None:
    config = sample("totals").config_text.replace(
        'artifacts = ["/app"]', 'artifacts = [{ source = "/app", exclude = ["*.csv", "old"] }, "/tests", "/usr"]'
    )
    note = "mkdir -p /logs/artifacts; pwd > /logs/artifacts/where"
    hooks = f'[verifier]\ncollect = [{{ command = "{note}" }}, {{ command = "exit 3" }}]'
    task = sample("totals", {"task.toml": config.replace("[verifier]", hooks)})
    judged = bench.judged(task, SOLVE + "mkdir /app/old; cp /app/report.sh /app/old/x")
    assert judged.verdict.passed
    assert {f.path for f in judged.collected.files if f.kind == "file"} == {"/app/report.sh", "/logs/artifacts/where"}
    assert [path for path, _ in judged.collected.refused] == ["/tests", "/usr"]
    assert judged.verdict.log.startswith("collect: 'exit 3' exited 3")


class Counting:
    """An engine that counts the containers it starts."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.started = 0

    def __getattr__(self, name: str) -> object:
        return getattr(self._engine, name)

    def start(self, image: Image, machine: Machine, owner: Owner) -> Sandbox:
        self.started += 1
        return self._engine.start(image, machine, owner)


@contextmanager
def no_artifacts() -> Iterator[io.BytesIO]:
    out = io.BytesIO()
    tarfile.open(fileobj=out, mode="w").close()
    yield out


@pytest.mark.parametrize(
    ("script", "problem", "starts"),
    [
        ("true", "the verifier wrote no reward", 2),
        ("sleep 60", "the verifier timed out", 2),
        ("echo 1 > /logs/verifier/reward.txt; sleep 60", "the verifier timed out", 2),
        ("echo nan > /logs/verifier/reward.txt", "reward.txt holds no finite number: 'nan'", 2),
        ("echo 1 > /logs/verifier/reward.txt; echo x > /logs/verifier/ctrf.json", "ctrf.json is not JSON", 2),
        ("ln -s /etc/hostname /logs/verifier/reward.txt", "the verifier wrote no reward", 2),
        ("yes", "the verifier printed more than is read", 2),
        ("echo 0 > /logs/verifier/reward.txt; exit 7", None, 1),
    ],
)
def test_a_verifier_without_a_verdict_is_asked_once_more(
    bench: Bench, sample: Sample, script: str, problem: str | None, starts: int
) -> None:
    task = sample("flag", {"tests/test.sh": script})
    counting = Counting(bench.engine)
    with no_artifacts() as out:
        verdict = grade(counting, task, out, bench.owner)  # type: ignore[arg-type]
    assert counting.started == starts
    if problem is None:
        assert (verdict.reward, verdict.problem) == (0.0, None)
    else:
        assert verdict.reward is None
        assert verdict.problem is not None
        assert verdict.problem.startswith(problem)


def test_large_results_do_not_hide_the_reward(bench: Bench, sample: Sample) -> None:
    script = "truncate -s 200M /logs/verifier/core; echo 0.5 > /logs/verifier/reward.txt"
    with no_artifacts() as out:
        verdict = verify(bench.engine, sample("flag", {"tests/test.sh": script}), out, bench.owner)
    assert (verdict.reward, verdict.passed, verdict.problem) == (0.5, False, None)


def test_tests_and_results_belong_to_root_and_there_is_no_network(bench: Bench, sample: Sample) -> None:
    script = (
        "stat -c '%U %a %n' /tests /logs/verifier; ls /sys/class/net; echo $KEY; echo 0 > /logs/verifier/reward.txt"
    )
    config = sample("flag").config_text.replace("[verifier]\n", '[verifier]\nenv = { KEY = "value" }\n')
    with no_artifacts() as out:
        verdict = verify(bench.engine, sample("flag", {"tests/test.sh": script, "task.toml": config}), out, bench.owner)
    assert verdict.log.split() == ["root", "700", "/tests", "root", "700", "/logs/verifier", "lo", "value"]


def test_shared_mode(bench: Bench, sample: Sample) -> None:
    task = sample("greeting")
    done = bench.judged(task, "echo hello > /app/greeting.txt")
    assert (done.verdict.reward, done.verdict.passed, done.collected) == (1.0, True, Collected())
    planted = "mkdir -p /logs/verifier /tests; echo 1 > /logs/verifier/reward.json; echo true > /tests/test_outputs.sh"
    held = bench.judged(task, planted)
    assert (held.verdict.reward, held.verdict.passed) == (0.0, False)


def test_shared_mode_collects_after_the_verdict(bench: Bench, sample: Sample) -> None:
    config = 'artifacts = ["/app"]\n' + sample("greeting").config_text
    judged = bench.judged(sample("greeting", {"task.toml": config}), "echo hello > /app/greeting.txt")
    assert judged.verdict.passed
    assert "/app/greeting.txt" in {file.path for file in judged.collected.files}


def test_a_verifier_that_cannot_run_in_place_gives_no_verdict(bench: Bench, sample: Sample) -> None:
    judged = bench.judged(sample("greeting"), "rm /usr/bin/mkdir")
    assert judged.verdict.reward is None
    assert judged.verdict.problem == "no clean folders could be made for the verifier"
