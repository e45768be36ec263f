"""report.py of the verifier skeleton: from pytest's report to reward and ctrf.json."""

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from forge.domain.reports import read_results
from sandbox.tree import Tree

PASSED = '<testcase name="{}" time="0.25"/>'
FAILED = '<testcase name="{}"><failure message="1 &lt; 2"/></testcase>'
SKIPPED = '<testcase name="{}"><skipped message="no"/></testcase>'
NAMES = ["test_a", "test_b[x-'y\"]"]


def report(folder: Path, tree: Tree, status: int, *cases: str) -> dict[str, bytes]:
    tree.write(folder / "tests")
    (folder / "junit.xml").write_text(f"<testsuites><testsuite>{''.join(cases)}</testsuite></testsuites>")
    command = [sys.executable, "-I", "-B", str(folder / "tests" / "report.py"), str(status), "1000", str(folder)]
    subprocess.run(command, check=True, capture_output=True)
    return {name: (folder / name).read_bytes() for name in ("reward.txt", "ctrf.json")}


def quoted(name: str) -> str:
    return name.replace('"', "&quot;")


@pytest.mark.parametrize(
    ("status", "cases", "reward", "statuses"),
    [
        (0, [PASSED, PASSED], 1, "passed passed"),
        (1, [PASSED, PASSED], 0, "passed passed"),
        (1, [PASSED, FAILED], 0, "passed failed"),
        (0, [PASSED, SKIPPED], 0, "passed skipped"),
        (0, [PASSED], 0, "passed failed"),
        (0, [], 0, "failed failed"),
        (0, [PASSED, PASSED, PASSED.format("test_c")], 0, "passed passed passed"),
        (0, [PASSED, PASSED, PASSED.format("test_a")], 0, "passed passed passed"),
    ],
)
def test_reward_one_only_when_exactly_the_expected_passed(
    tmp_path: Path,
    skeleton: Callable[[Sequence[str]], Tree],
    status: int,
    cases: list[str],
    reward: int,
    statuses: str,
) -> None:
    names = [*map(quoted, NAMES), ""]
    made = [case.format(name) for case, name in zip(cases, names, strict=False)]
    files = report(tmp_path, skeleton(NAMES), status, *made)
    found = read_results(files)
    assert (found.reward, found.passed) == (reward, reward == 1)
    assert [check.status.value for check in found.checks] == statuses.split()
    assert {check.name for check in found.checks} >= set(NAMES)
    assert json.loads(files["ctrf.json"])["results"]["summary"]["tests"] == len(found.checks)


def test_no_expected_test_is_no_reward(tmp_path: Path, skeleton: Callable[[Sequence[str]], Tree]) -> None:
    assert read_results(report(tmp_path, skeleton([]), 0)).reward == 0


def test_every_verifier_shares_its_first_layers(skeleton: Callable[[Sequence[str]], Tree]) -> None:
    one, two = skeleton(["test_a"]), skeleton(["test_b"])
    assert one["Dockerfile"] == two["Dockerfile"]
    assert one["Dockerfile"].data.startswith(b"FROM debian:bookworm-slim\n")
    assert one["report.py"] != two["report.py"]
