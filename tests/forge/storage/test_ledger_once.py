"""once: finished units are never repeated, interrupted ones find what they had paid for."""

import math
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from pydantic import BaseModel

from forge.storage.errors import UnitBusy, UnitNotOpen, UnitValueRefused
from forge.storage.ledger import Ledger
from solvers.model import Message, Reply, Request


class Value(BaseModel):
    number: int
    text: str = ""


class Wider(Value):
    more: int


class Interrupted(Exception):
    pass


def request(text: str = "hello") -> Request:
    return Request("some/model", (Message("system", "be brief"), Message("user", text)), seed=7)


def ask(ledger: Ledger, unit: str, text: str, sample: int = 0, cost: float | None = 1.0) -> Reply:
    """What the model door does: take the recorded reply, or pay and record."""
    asked = request(text)
    found = ledger.calls.find(unit, asked.digest(), sample)
    if found is not None:
        return found
    reply = Reply(f"answer to {text}", prompt_tokens=3, completion_tokens=4, cost_usd=cost)
    ledger.calls.record(unit, asked.digest(), sample, asked, reply)
    return reply


def interrupt(work: Callable[[], object]) -> Callable[[], Value]:
    def run() -> Value:
        work()
        raise Interrupted

    return run


def test_a_finished_unit_is_not_repeated_after_reopening(tmp_path: Path) -> None:
    runs = []

    def work() -> Value:
        runs.append(1)
        return Value(number=5, text="é\n")

    for _ in range(3):
        with Ledger.open(tmp_path) as ledger:
            assert ledger.once("c", "draft", work, Value) == Value(number=5, text="é\n")
    assert runs == [1]


def test_the_fresh_value_is_what_a_resumed_run_sees(tmp_path: Path) -> None:
    with Ledger.open(tmp_path) as ledger:
        fresh = ledger.once("c", "u", lambda: Wider(number=1, more=2), Value)
    with Ledger.open(tmp_path) as ledger:
        assert ledger.once("c", "u", lambda: Value(number=9), Value) == fresh
    assert type(fresh) is Value


def test_not_a_number_survives(tmp_path: Path) -> None:
    with Ledger.open(tmp_path) as ledger:
        ledger.once("c", "u", lambda: float("nan"), float)
        again = ledger.once("c", "u", lambda: 0.0, float)
    assert math.isnan(again)


def test_a_value_of_another_kind_is_refused_and_the_unit_stays_open(tmp_path: Path) -> None:
    with Ledger.open(tmp_path) as ledger:
        with pytest.raises(UnitValueRefused, match="c/u"):
            ledger.once("c", "u", lambda: "no model", Value)  # type: ignore[arg-type, return-value]
        assert ledger.once("c", "u", lambda: Value(number=1), Value).number == 1
        with pytest.raises(UnitValueRefused, match="c/u"):
            ledger.once("c", "u", lambda: 0, int)


def test_an_interrupted_unit_replays_its_calls_and_pays_from_there(tmp_path: Path) -> None:
    with Ledger.open(tmp_path) as ledger, pytest.raises(Interrupted):
        ledger.once("c", "u", interrupt(lambda: [ask(ledger, "c/u", "one"), ask(ledger, "c/u", "two")]), Value)
    with Ledger.open(tmp_path) as ledger:
        replies: list[Reply] = []

        def work() -> Value:
            replies.extend(ask(ledger, "c/u", text) for text in ("one", "two", "three"))
            return Value(number=len(replies))

        ledger.once("c", "u", work, Value)
    assert [reply.replayed for reply in replies] == [True, True, False]
    assert [reply.text for reply in replies] == ["answer to one", "answer to two", "answer to three"]


def test_an_attempt_does_not_find_its_own_calls(tmp_path: Path) -> None:
    with Ledger.open(tmp_path) as ledger:

        def work() -> bool:
            ask(ledger, "c/u", "one")
            return ledger.calls.find("c/u", request("one").digest(), 0) is None

        assert ledger.once("c", "u", work, bool)


def test_another_unit_sample_or_request_is_not_found(tmp_path: Path) -> None:
    digest = request("one").digest()
    with Ledger.open(tmp_path) as ledger:
        with pytest.raises(Interrupted):
            ledger.once("c", "u", interrupt(lambda: ask(ledger, "c/u", "one")), Value)
        with pytest.raises(Interrupted):
            ledger.once("c", "v", interrupt(lambda: None), Value)

        def work() -> list[bool]:
            return [
                ledger.calls.find("c/v", digest, 0) is None,
                ledger.calls.find("c/u", digest, 1) is None,
                ledger.calls.find("c/u", request("two").digest(), 0) is None,
                ledger.calls.find("c/u", digest, 0) is not None,
            ]

        assert all(ledger.once("c", "u", lambda: ledger.once("c", "v", work, list[bool]), list[bool]))


def test_a_call_outside_of_a_unit_is_refused(tmp_path: Path) -> None:
    with Ledger.open(tmp_path) as ledger:
        with pytest.raises(UnitNotOpen):
            ask(ledger, "c/u", "one")
        ledger.once("c", "u", lambda: 1, int)
        with pytest.raises(UnitNotOpen):
            ask(ledger, "c/u", "one")


def test_units_nest(tmp_path: Path) -> None:
    runs: list[str] = []

    def inner(number: int) -> int:
        runs.append(f"inner/{number}")
        return number

    def outer(ledger: Ledger, broken: bool) -> int:
        total = sum(ledger.once("c", f"u/{n}", lambda n=n: inner(n), int) for n in range(3))  # type: ignore[misc]
        if broken:
            raise Interrupted
        return total

    with Ledger.open(tmp_path) as ledger:
        with pytest.raises(Interrupted):
            ledger.once("c", "u", lambda: outer(ledger, True), int)
        assert ledger.once("c", "u", lambda: outer(ledger, False), int) == 3
    assert runs == ["inner/0", "inner/1", "inner/2"]


def test_a_unit_cannot_be_started_while_it_runs(tmp_path: Path) -> None:
    with Ledger.open(tmp_path) as ledger:
        with pytest.raises(UnitBusy):
            ledger.once("c", "u", lambda: ledger.once("c", "u", lambda: 1, int), int)
        assert ledger.once("c", "u", lambda: 2, int) == 2


@pytest.mark.parametrize(("candidate", "unit"), [("", "u"), ("a/b", "u"), ("a", "")])
def test_names_that_cannot_be_told_apart_are_refused(tmp_path: Path, candidate: str, unit: str) -> None:
    with Ledger.open(tmp_path) as ledger, pytest.raises(ValueError, match="names"):
        ledger.once(candidate, unit, lambda: 1, int)


def test_sixteen_threads(tmp_path: Path) -> None:
    failures: list[BaseException] = []

    def candidate(name: str, ledger: Ledger) -> None:
        try:
            for number in range(20):
                unit = f"u/{number}"
                got = ledger.once(name, unit, lambda unit=unit: ask(ledger, f"{name}/{unit}", name).text, str)  # type: ignore[misc]
                assert got == f"answer to {name}"
        except BaseException as error:
            failures.append(error)
            raise

    with Ledger.open(tmp_path) as ledger:
        threads = [threading.Thread(target=candidate, args=(f"c{number}", ledger)) for number in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not failures
        assert ledger.read.rows("SELECT count(*), sum(attempt) FROM units WHERE state = 'finished'")[0][:] == (320, 320)
        assert ledger.read.rows("SELECT count(*) FROM calls")[0][0] == 320
