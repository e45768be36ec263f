"""What a verifier leaves behind, as values: rewards and per-test reports. All of it is hostile input.

Pure functions from bytes. None raises anything but ReportUnreadable.
"""

import json
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from xml.parsers import expat

from forge.domain.outcome import Check, CheckStatus

MAX_CHECKS = 10_000
NAME_CHARS = 500
MESSAGE_CHARS = 2_000

_NUMBER = re.compile(rb"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
_CTRF = {"passed": CheckStatus.PASSED, "skipped": CheckStatus.SKIPPED, "pending": CheckStatus.SKIPPED}
_JUNIT = {"failure": CheckStatus.FAILED, "error": CheckStatus.FAILED, "skipped": CheckStatus.SKIPPED}


class ReportUnreadable(Exception):
    """A report that says nothing that can be relied on; the message names it and says why."""


@dataclass(frozen=True)
class Findings:
    """What the verifier's folder says. reward None: it says none, and `problem` says why."""

    reward: float | None
    checks: tuple[Check, ...] = ()
    problem: str | None = None

    @property
    def passed(self) -> bool:
        """Reward 1 and, where there are per-test outcomes, no test failed and none skipped."""
        every = all(check.status is CheckStatus.PASSED for check in self.checks)
        return self.problem is None and self.reward is not None and self.reward >= 1 and every


def read_results(files: Mapping[str, bytes]) -> Findings:
    """Reward and per-test outcomes from the files of /logs/verifier, by their relative paths."""
    try:
        reward = read_reward(files.get("reward.json"), files.get("reward.txt"))
        checks = read_checks(files)
    except ReportUnreadable as error:
        return Findings(None, problem=str(error))
    return Findings(reward, checks)


def read_reward(reward_json: bytes | None, reward_txt: bytes | None) -> float:
    """reward.json beats reward.txt; None is a file that is not there. Raises ReportUnreadable."""
    if reward_json is not None:
        return _json_reward(reward_json)
    if reward_txt is None:
        raise ReportUnreadable("the verifier wrote no reward")
    text = reward_txt.strip()
    if not _NUMBER.fullmatch(text) or not math.isfinite(float(text)):
        raise ReportUnreadable(f"reward.txt holds no finite number: {_shown(text)}")
    return float(text)


def read_checks(files: Mapping[str, bytes]) -> tuple[Check, ...]:
    """Per-test outcomes: of ctrf.json, else of all XML files that are JUnit reports. Raises ReportUnreadable."""
    if "ctrf.json" in files:
        return parse_ctrf(files["ctrf.json"])
    found: list[Check] = []
    for path in sorted(files):
        if path.endswith(".xml"):
            try:
                found += parse_junit(files[path])
            except ReportUnreadable as error:
                raise ReportUnreadable(f"{path}: {error}") from error
    return _bounded(found)


def parse_ctrf(data: bytes) -> tuple[Check, ...]:
    """The tests of a CTRF report. Raises ReportUnreadable."""
    document = _json("ctrf.json", data)
    results = document.get("results") if isinstance(document, dict) else None
    tests = results.get("tests") if isinstance(results, dict) else None
    if not isinstance(tests, list):
        raise ReportUnreadable("ctrf.json holds no results.tests")
    return _bounded(_ctrf_check(test) for test in tests[: MAX_CHECKS + 1])


def parse_junit(data: bytes) -> tuple[Check, ...]:
    """The test cases of a JUnit report, in document order; none where the XML is something else.

    A document type is refused, and with it every entity. Raises ReportUnreadable."""
    reader = _JUnitReader()
    parser = expat.ParserCreate()
    parser.StartElementHandler = reader.start
    parser.EndElementHandler = reader.end
    parser.StartDoctypeDeclHandler = _refuse_doctype
    try:
        parser.Parse(data, True)
    except (expat.ExpatError, ValueError, LookupError) as error:
        raise ReportUnreadable(f"not XML: {error}") from error
    return _bounded(reader.checks)


def same_test(reported: str, declared: str) -> bool:
    """Whether a reported name is the declared one: whole, or after the path of its file."""
    return reported == declared or reported.endswith(f"::{declared}")


class _JUnitReader:
    def __init__(self) -> None:
        self.checks: list[Check] = []
        self._case: tuple[str, float] | None = None
        self._status = CheckStatus.PASSED
        self._message = ""

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        if tag == "testcase":
            self._case = (attributes.get("name", ""), _milliseconds(attributes.get("time", "")))
            self._status, self._message = CheckStatus.PASSED, ""
        elif self._case is not None and tag in _JUNIT and self._status is not CheckStatus.FAILED:
            self._status, self._message = _JUNIT[tag], attributes.get("message", "")

    def end(self, tag: str) -> None:
        if tag == "testcase" and self._case is not None:
            if len(self.checks) > MAX_CHECKS:
                raise ReportUnreadable(f"more than {MAX_CHECKS} tests")
            name, duration = self._case
            self.checks.append(_check(name, self._status, self._message, duration))
            self._case = None


def _refuse_doctype(*_declaration: object) -> None:
    raise ReportUnreadable("a document type is not read")


def _ctrf_check(test: object) -> Check:
    if not isinstance(test, dict) or not isinstance(test.get("name"), str) or not isinstance(test.get("status"), str):
        raise ReportUnreadable("ctrf.json holds a test without name or status")
    message, duration = test.get("message"), test.get("duration")
    return _check(
        test["name"],
        _CTRF.get(test["status"], CheckStatus.FAILED),
        message if isinstance(message, str) else "",
        _finite(duration) or 0.0,
    )


def _check(name: str, status: CheckStatus, message: str, duration_ms: float) -> Check:
    return Check(
        name=_text(name, NAME_CHARS),
        status=status,
        message=_text(message, MESSAGE_CHARS),
        duration_ms=max(0.0, duration_ms),
    )


def _text(text: str, limit: int) -> str:
    # JSON may hold lone surrogates, which no database or file takes
    return text[:limit].encode("utf-8", "replace").decode()


def _bounded(checks: Iterable[Check]) -> tuple[Check, ...]:
    kept = tuple(checks)
    if len(kept) > MAX_CHECKS:
        raise ReportUnreadable(f"more than {MAX_CHECKS} tests")
    return kept


def _json_reward(data: bytes) -> float:
    document = _json("reward.json", data)
    if not isinstance(document, dict):
        document = {"reward": document}
    numbers = {key: _finite(value) for key, value in document.items()}
    wrong = [key for key, value in numbers.items() if value is None]
    if wrong:
        raise ReportUnreadable(f"reward.json: {_text(wrong[0], 80)!r} is not a finite number")
    reward = numbers.get("reward", next(iter(numbers.values())) if len(numbers) == 1 else None)
    if reward is None:
        raise ReportUnreadable("reward.json holds no number named reward")
    return reward


def _json(name: str, data: bytes) -> object:
    try:
        document: object = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise ReportUnreadable(f"{name} is not JSON: {error}") from error
    return document


def _finite(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def _milliseconds(seconds: str) -> float:
    try:
        return _finite(float(seconds) * 1000) or 0.0
    except ValueError:
        return 0.0


def _shown(data: bytes) -> str:
    return repr(data[:80].decode("utf-8", "replace"))
