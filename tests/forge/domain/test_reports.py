"""Rewards and per-test reports, which are hostile input."""

import json
import math
from xml.sax.saxutils import quoteattr

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forge.domain.outcome import CheckStatus
from forge.domain.reports import (
    MAX_CHECKS,
    MESSAGE_CHARS,
    NAME_CHARS,
    ReportUnreadable,
    parse_ctrf,
    parse_junit,
    read_results,
    read_reward,
    same_test,
)

PASSED, FAILED, SKIPPED = CheckStatus.PASSED, CheckStatus.FAILED, CheckStatus.SKIPPED
BOMB = b"""<?xml version="1.0"?><!DOCTYPE t [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>
<testsuites><testcase name="&b;"/></testsuites>"""
OUTSIDE = b"""<!DOCTYPE t [<!ENTITY a SYSTEM "file:///etc/passwd">]><testsuites><testcase name="&a;"/></testsuites>"""


def ctrf(*tests: dict[str, object]) -> bytes:
    return json.dumps({"results": {"tool": {"name": "x"}, "tests": list(tests)}}).encode()


@pytest.mark.parametrize(
    ("reward_json", "reward_txt", "reward"),
    [
        (None, b"1\n", 1.0),
        (None, b" 0.25 ", 0.25),
        (None, b"-1e0", -1.0),
        (b"1", b"0", 1.0),
        (b'{"reward": 0.5, "speed": 12}', b"1", 0.5),
        (b'{"accuracy": 0.75}', None, 0.75),
        (b'{"reward": 0}', b"1", 0.0),
    ],
)
def test_rewards(reward_json: bytes | None, reward_txt: bytes | None, reward: float) -> None:
    assert read_reward(reward_json, reward_txt) == reward


@pytest.mark.parametrize(
    ("reward_json", "reward_txt"),
    [
        (None, None),
        (None, b""),
        (None, b"nan"),
        (None, b"inf"),
        (None, b"1e999"),
        (None, b"1_0"),
        (None, "١".encode()),
        (None, b"passed"),
        (None, b"1 1"),
        (b"", b"1"),
        (b"NaN", b"1"),
        (b'{"reward": Infinity}', b"1"),
        (b'{"reward": true}', b"1"),
        (b'{"reward": "1"}', b"1"),
        (b'{"reward": 1, "other": NaN}', None),
        (b'{"a": 1, "b": 1}', b"1"),
        (b"{}", b"1"),
        (b"[1]", b"1"),
        (b'{"reward": 1' + b"0" * 400 + b"}", None),
        (b"[" * 100_000, None),
        (b"\xff\xfe1", None),
    ],
)
def test_what_is_no_reward_is_a_problem_and_never_a_zero(reward_json: bytes | None, reward_txt: bytes | None) -> None:
    with pytest.raises(ReportUnreadable):
        read_reward(reward_json, reward_txt)
    files = {"reward.json": reward_json, "reward.txt": reward_txt}
    found = read_results({name: data for name, data in files.items() if data is not None})
    assert (found.reward, found.passed) == (None, False)
    assert found.problem


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_finite_float_is_read_back(value: float) -> None:
    assert read_reward(None, repr(value).encode()) == value
    assert read_reward(json.dumps({"reward": value}).encode(), None) == value


@given(st.binary(max_size=80))
def test_any_bytes_are_a_finite_reward_or_a_problem(data: bytes) -> None:
    for files in ({"reward.txt": data}, {"reward.json": data}):
        found = read_results(files)
        assert (found.reward is None) is (found.problem is not None)
        assert found.reward is None or math.isfinite(found.reward)


@pytest.mark.parametrize(
    ("statuses", "passed"),
    [
        (["passed", "passed"], True),
        (["passed", "failed"], False),
        (["passed", "skipped"], False),
        (["passed", "pending"], False),
        (["other"], False),
        (["PASSED"], False),
        ([], True),
    ],
)
def test_reward_one_counts_only_when_every_test_passed(statuses: list[str], passed: bool) -> None:
    report = ctrf(*({"name": f"t{i}", "status": s} for i, s in enumerate(statuses)))
    assert read_results({"reward.txt": b"1", "ctrf.json": report}).passed is passed
    assert read_results({"reward.txt": b"0.99", "ctrf.json": report}).passed is False


checks = st.lists(
    st.tuples(st.text(max_size=NAME_CHARS + 5), st.sampled_from([PASSED, FAILED, SKIPPED]), st.text(max_size=30)),
    max_size=6,
)


@given(checks)
def test_ctrf_is_read_back(drawn: list[tuple[str, CheckStatus, str]]) -> None:
    tests = [{"name": n, "status": s.value, "message": m, "duration": 5, "extra": {}} for n, s, m in drawn]
    found = parse_ctrf(ctrf(*tests))
    assert [(c.name, c.status, c.message) for c in found] == [(n[:NAME_CHARS], s, m) for n, s, m in drawn]


xml_text = st.text(st.characters(min_codepoint=32, exclude_categories=["Cs", "Cn"]), max_size=20)


@given(st.lists(st.tuples(xml_text, st.sampled_from(["", "failure", "error", "skipped"]), xml_text), max_size=6))
def test_junit_is_read_back(drawn: list[tuple[str, str, str]]) -> None:
    cases = "".join(
        f"<testcase name={quoteattr(n)} time='0.5'>{f'<{tag} message={quoteattr(m)}/>' if tag else ''}</testcase>"
        for n, tag, m in drawn
    )
    found = parse_junit(f"<testsuites><testsuite>{cases}</testsuite></testsuites>".encode())
    status = {"": PASSED, "failure": FAILED, "error": FAILED, "skipped": SKIPPED}
    assert [(c.name, c.status, c.message) for c in found] == [(n, status[tag], m if tag else "") for n, tag, m in drawn]
    assert all(check.duration_ms == 500 for check in found)


@given(st.binary(max_size=200))
def test_any_bytes_are_a_report_or_refused(data: bytes) -> None:
    for files in ({"reward.txt": b"1", "ctrf.json": data}, {"reward.txt": b"1", "junit.xml": data}):
        found = read_results(files)
        assert (found.reward is None) is (found.problem is not None)


@pytest.mark.parametrize("data", [BOMB, OUTSIDE])
def test_entities_are_refused(data: bytes) -> None:
    with pytest.raises(ReportUnreadable, match="document type"):
        parse_junit(data)
    found = read_results({"reward.txt": b"1", "junit.xml": data})
    assert found.problem is not None
    assert found.problem.startswith("junit.xml: ")


def test_a_failure_is_not_hidden_by_a_later_skip() -> None:
    case = b"<testsuite><testcase name='a'><failure message='f'/><skipped message='s'/></testcase></testsuite>"
    assert [(c.status, c.message) for c in parse_junit(case)] == [(FAILED, "f")]


def test_ctrf_beats_junit_and_every_junit_file_counts() -> None:
    one, two = b"<s><testcase name='a'/></s>", b"<s><testcase name='b'><failure/></testcase></s>"
    files = {"reward.txt": b"1", "x/two.xml": two, "one.xml": one, "note.xml": b"<html/>"}
    assert [c.name for c in read_results(files).checks] == ["a", "b"]
    report = ctrf({"name": "c", "status": "passed"})
    assert [c.name for c in read_results({**files, "ctrf.json": report}).checks] == ["c"]


@pytest.mark.parametrize(
    "data",
    [b"{}", b"[]", b'{"results": 3}', b'{"results": {"tests": {}}}', ctrf({"name": "a"}), ctrf({"status": "passed"})],
)
def test_a_broken_ctrf_is_a_problem(data: bytes) -> None:
    assert read_results({"reward.txt": b"1", "ctrf.json": data}).problem is not None


def test_reports_are_bounded() -> None:
    many = [{"name": "a", "status": "passed"}] * (MAX_CHECKS + 1)
    with pytest.raises(ReportUnreadable):
        parse_ctrf(ctrf(*many))
    with pytest.raises(ReportUnreadable):
        parse_junit(b"<s>" + b"<testcase name='a'/>" * (MAX_CHECKS + 1) + b"</s>")
    long = parse_ctrf(ctrf({"name": "n" * 9999, "status": "failed", "message": "m" * 9999}))[0]
    assert (len(long.name), len(long.message)) == (NAME_CHARS, MESSAGE_CHARS)


def test_lone_surrogates_do_not_survive() -> None:
    check = parse_ctrf(b'{"results": {"tests": [{"name": "a\\ud800", "status": "passed"}]}}')[0]
    assert check.name == "a?"


@pytest.mark.parametrize(
    ("reported", "same"),
    [
        ("test_a", True),
        ("tests/test_outputs.py::test_a", True),
        ("test_outputs.py::test_ab", False),
        ("a_test_a", False),
    ],
)
def test_names_match_whole_or_after_their_file(reported: str, same: bool) -> None:
    assert same_test(reported, "test_a") is same
