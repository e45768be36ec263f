"""The door with programs alone: no socket. test_door_http.py has the same through real endpoints."""

import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from solvers import errors
from solvers.config import DoorConfig, ModelConfig, Price
from solvers.door import ModelDoor
from solvers.model import Message, Reply, Request
from solvers.scripted import Scripted, echoing

MODEL = "rehearsal/one"


def asking(*texts: str, model: str = MODEL, seed: int | None = None) -> Request:
    return Request(model, tuple(Message("user", text) for text in texts), seed=seed)


def test_a_program_answers_with_estimated_tokens_and_no_cost():
    with ModelDoor(DoorConfig(), None, {MODEL: echoing(lambda text: f"heard {text}")}) as door:
        reply = door.bind("unit")(asking("hällo"), deadline_sec=30)
    assert (reply.text, reply.finish_reason, reply.replayed) == ("heard hällo", "stop", False)
    assert (reply.prompt_tokens, reply.completion_tokens, reply.cost_usd) == (2, 3, 0.0)
    assert reply.latency_sec >= 0


def test_messages_and_seed_arrive_as_they_were_sent():
    seen: list[tuple[tuple[Message, ...], int | None]] = []

    def program(messages: Sequence[Message], seed: int | None) -> str:
        seen.append((tuple(messages), seed))
        return "ok"

    messages = (Message("system", "s\n"), Message("user", ""), Message("assistant", "a\0b"), Message("user", "```\n"))
    with ModelDoor(DoorConfig(), None, {MODEL: program}) as door:
        door.bind("unit")(Request(MODEL, messages, seed=11), deadline_sec=30)
    assert seen == [(messages, 11)]


def test_every_call_is_recorded_before_it_returns(call_log):
    with ModelDoor(DoorConfig(), call_log, {MODEL: Scripted(["yes"])}) as door:
        ask = door.bind("unit")
        first, second = ask(asking("a"), deadline_sec=30), ask(asking("a"), deadline_sec=30)
        other = ask(asking("b"), deadline_sec=30)
    digest = asking("a").digest()
    assert call_log.rows == [
        ("unit", digest, 0, asking("a"), first),
        ("unit", digest, 1, asking("a"), second),
        ("unit", asking("b").digest(), 0, asking("b"), other),
    ]


def test_a_recorded_unit_replays_without_any_program(call_log):
    with ModelDoor(DoorConfig(), call_log, {MODEL: Scripted(["yes"])}) as door:
        paid = [door.bind("unit")(asking(text), deadline_sec=30) for text in ("a", "b")]
    with ModelDoor(DoorConfig(), call_log, {}) as door:
        ask = door.bind("unit")
        replayed = [ask(asking(text), deadline_sec=30) for text in ("a", "b")]
        assert replayed == [replace(reply, replayed=True) for reply in paid]
        with pytest.raises(errors.ModelUnknown):
            ask(asking("a"), deadline_sec=30)
        with pytest.raises(errors.ModelUnknown):
            door.bind("another unit")(asking("a"), deadline_sec=30)
    assert len(call_log.rows) == 2


def test_a_failed_call_leaves_its_number_to_the_next(call_log):
    fail = [True]

    def program(messages: Sequence[Message], seed: int | None) -> str:
        if fail[0]:
            raise LookupError("not yet")
        return "now"

    with ModelDoor(DoorConfig(), call_log, {MODEL: program}) as door:
        ask = door.bind("unit")
        with pytest.raises(errors.ProgramError):
            ask(asking("a"), deadline_sec=30)
        fail[0] = False
        ask(asking("a"), deadline_sec=30)
    assert [row[2] for row in call_log.rows] == [0]


def test_configured_defaults_are_part_of_the_recorded_request(call_log):
    config = DoorConfig(models={MODEL: ModelConfig(temperature=0.3, max_tokens=50)})
    with ModelDoor(config, call_log, {MODEL: Scripted(["yes"])}) as door:
        ask = door.bind("unit")
        ask(asking("a"), deadline_sec=30)
        ask(replace(asking("a"), temperature=1.0), deadline_sec=30)
    assert [(row[3].temperature, row[3].max_tokens) for row in call_log.rows] == [(0.3, 50), (1.0, 50)]


def test_a_bug_in_a_program_is_told_apart_and_not_retried():
    calls: list[int] = []

    def program(messages: Sequence[Message], seed: int | None) -> str:
        calls.append(1)
        raise KeyError("oops")

    with (
        ModelDoor(DoorConfig(), None, {MODEL: program}) as door,
        pytest.raises(errors.ProgramError, match="KeyError: 'oops'") as caught,
    ):
        door.bind("unit")(asking("a"), deadline_sec=30)
    assert isinstance(caught.value.__cause__, KeyError)
    assert len(calls) == 1


def test_a_program_that_does_not_end_meets_the_callers_deadline():
    release = threading.Event()

    def program(messages: Sequence[Message], seed: int | None) -> str:
        release.wait(60)
        return "late"

    with ModelDoor(DoorConfig(), None, {MODEL: program, "rehearsal/two": Scripted(["fine"])}) as door:
        ask = door.bind("unit")
        with pytest.raises(errors.DeadlinePassed):
            ask(asking("a"), deadline_sec=0.05)
        assert ask(asking("a", model="rehearsal/two"), deadline_sec=30).text == "fine"
        release.set()


def test_the_models_own_deadline_is_retried():
    release, waits = threading.Event(), list[float]()
    calls: list[int] = []

    def program(messages: Sequence[Message], seed: int | None) -> str:
        calls.append(1)
        if len(calls) < 3:
            release.wait(60)
        return "at last"

    config = DoorConfig(models={MODEL: ModelConfig(deadline_sec=0.2)})
    with ModelDoor(config, None, {MODEL: program}, sleep=waits.append) as door:
        assert door.bind("unit")(asking("a"), deadline_sec=30).text == "at last"
        release.set()
    assert len(waits) == 2


def test_closing_ends_the_calls_that_wait():
    started, release = threading.Event(), threading.Event()

    def program(messages: Sequence[Message], seed: int | None) -> str:
        started.set()
        release.wait(60)
        return "late"

    door = ModelDoor(DoorConfig(), None, {MODEL: program})
    with ThreadPoolExecutor(1) as threads, door:
        call = threads.submit(door.bind("unit"), asking("a"), deadline_sec=60)
        assert started.wait(60)
        door.close()
        assert isinstance(call.exception(60), errors.ModelUnavailable)
        release.set()
    with pytest.raises(errors.ModelUnavailable, match="closed"):
        door.bind("unit")(asking("a"), deadline_sec=30)


def test_calls_of_one_model_queue_and_none_is_refused():
    lock, inside, most = threading.Lock(), [0], [0]
    pair = threading.Barrier(2)

    def program(messages: Sequence[Message], seed: int | None) -> str:
        with lock:
            inside[0] += 1
            most[0] = max(most[0], inside[0])
        pair.wait(60)
        with lock:
            inside[0] -= 1
        return messages[-1].content

    config = DoorConfig(models={MODEL: ModelConfig(concurrency=2)})
    with ModelDoor(config, None, {MODEL: program}) as door, ThreadPoolExecutor(8) as threads:
        replies = list(threads.map(lambda text: door.bind(text)(asking(text), deadline_sec=60), map(str, range(8))))
    assert [reply.text for reply in replies] == [str(number) for number in range(8)]
    assert most == [2]


def test_two_doors_with_the_same_names_do_not_mix():
    doors = [ModelDoor(DoorConfig(), None, {MODEL: Scripted([name])}) for name in ("left", "right")]
    with doors[0] as left, doors[1] as right, ThreadPoolExecutor(8) as threads:
        asked = [(left, "left"), (right, "right")] * 20
        replies = threads.map(lambda pair: pair[0].bind("u")(asking("a"), deadline_sec=60).text, asked)
        assert list(replies) == [name for _, name in asked]


def test_unknown_names_and_missing_keys_are_found_without_a_call(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("DEEPSEEK_API_KEY", raising=False)
    monkeypatch.delenv("MY_ENDPOINT_KEY", raising=False)
    models = {
        "openai/own": ModelConfig(api_base="http://127.0.0.1:9/v1"),
        "openai/keyed": ModelConfig(api_base="http://127.0.0.1:9/v1", api_key_env="MY_ENDPOINT_KEY"),
    }
    with ModelDoor(DoorConfig(models=models), None, {MODEL: Scripted(["x"])}) as door:
        door.check(MODEL)
        door.check("openai/own")
        with pytest.raises(errors.ModelUnknown, match=r"there are: rehearsal/one"):
            door.check("rehearsal/onne")
        with pytest.raises(errors.ModelUnknown, match="nosuch/model"):
            door.check("nosuch/model")
        with pytest.raises(errors.ModelKeyMissing, match="DEEPSEEK_API_KEY"):
            door.check("deepseek/deepseek-chat")
        monkeypatch.setenv("DEEPSEEK_API_KEY", "")
        with pytest.raises(errors.ModelKeyMissing, match="DEEPSEEK_API_KEY"):
            door.check("deepseek/deepseek-chat")
        with pytest.raises(errors.ModelKeyMissing, match="MY_ENDPOINT_KEY"):
            door.check("openai/keyed")
        monkeypatch.setenv("DEEPSEEK_API_KEY", "sk-not-a-real-one")
        door.check("deepseek/deepseek-chat")


def test_which_prices_are_known():
    models = {"openai/gpt-4o": ModelConfig(api_base="http://127.0.0.1:9/v1")}
    with ModelDoor(DoorConfig(models, {"openai/priced": Price(1, 2)}), None, {MODEL: Scripted(["x"])}) as door:
        known = {name: door.price_known(name) for name in (MODEL, "openai/priced", "deepseek/deepseek-chat")}
        assert known == dict.fromkeys(known, True)
        assert not door.price_known("openai/gpt-4o")
        assert not door.price_known("hosted_vllm/anything")


def test_programs_and_replays_are_not_guarded(call_log):
    def spent() -> None:
        raise errors.BudgetSpent("all of it")

    call_log.record("unit", asking("a", model="openai/x").digest(), 0, asking("a", model="openai/x"), Reply("recorded"))
    with ModelDoor(DoorConfig(), call_log, {MODEL: Scripted(["free"])}, spend_guard=spent) as door:
        ask = door.bind("unit")
        assert ask(asking("a"), deadline_sec=30).text == "free"
        assert ask(asking("a", model="openai/x"), deadline_sec=30).text == "recorded"


def test_halves_of_surrogate_pairs_become_valid_text():
    with ModelDoor(DoorConfig(), None, {MODEL: Scripted(["a\ud800b"])}) as door:
        assert door.bind("unit")(asking("a"), deadline_sec=30).text == "a?b"


def test_prices_count_cached_tokens_apart():
    assert Price(2.0, 10.0, 0.5).cost(1_000_000, 100_000, 400_000) == pytest.approx(0.6 * 2 + 0.4 * 0.5 + 1.0)
    assert Price(2.0, 10.0).cost(1_000_000, 0, 400_000) == pytest.approx(2.0)


QUIET = """
import sys
from solvers.config import DoorConfig
from solvers.door import ModelDoor
from solvers.errors import ModelError
from solvers.model import Message, Request
print("litellm" in sys.modules, file=sys.stderr)
def bug(messages, seed):
    raise KeyError("oops")
with ModelDoor(DoorConfig(), None, {"rehearsal/a": lambda messages, seed: "fine", "rehearsal/bug": bug}) as door:
    for model in ("rehearsal/a", "rehearsal/bug", "nosuch/x"):
        try:
            door.bind("u")(Request(model, (Message("user", "x"),)), deadline_sec=60)
        except ModelError as error:
            print(type(error).__name__, file=sys.stderr)
"""


def test_litellm_comes_late_and_nothing_is_printed(request: pytest.FixtureRequest):
    root = request.config.rootpath
    done = subprocess.run(
        [sys.executable, "-c", QUIET], capture_output=True, text=True, timeout=120, cwd=root, check=True
    )
    assert done.stdout == ""
    assert done.stderr.split() == ["False", "ProgramError", "ModelUnknown"]


def test_an_answer_that_cannot_be_recorded_is_not_given():
    class BrokenLog:
        def find(self, unit: str, digest: str, sample: int) -> Reply | None:
            return None

        def record(self, unit: str, digest: str, sample: int, request: Request, reply: Reply) -> None:
            raise OSError("no space left")

    with (
        ModelDoor(DoorConfig(), BrokenLog(), {MODEL: Scripted(["yes"])}) as door,
        pytest.raises(OSError, match="space"),
    ):
        door.bind("unit")(asking("a"), deadline_sec=30)


def test_sixteen_threads_without_a_mix_up(call_log):
    def work(number: int) -> list[str]:
        with_unit: Callable[..., Reply] = door.bind(f"unit {number}")
        return [with_unit(asking(f"{number}-{turn}"), deadline_sec=60).text for turn in range(20)]

    with ModelDoor(DoorConfig(), call_log, {MODEL: echoing(str.upper)}) as door, ThreadPoolExecutor(16) as threads:
        assert list(threads.map(work, range(16))) == [[f"{n}-{turn}" for turn in range(20)] for n in range(16)]
    assert {row[0] for row in call_log.rows} == {f"unit {number}" for number in range(16)}
    assert len(call_log.rows) == 320
