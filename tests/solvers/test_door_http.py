"""The door through real sockets. The first part is one contract, held by a program inside the door and by the same
program behind an HTTP endpoint; the second is what real endpoints do."""

import threading
import traceback
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from itertools import islice

import pytest

from solvers import errors
from solvers.agent import AgentTask, run_agent
from solvers.config import DoorConfig, ModelConfig
from solvers.door import NO_KEY, ModelDoor
from solvers.limits import AgentLimits
from solvers.model import Ask, Message, Program, Reply, Request
from solvers.scripted import Scripted, echoing
from solvers.serve import Change, Drip, Drop, Fault, Garble, Hold, ProgramServer, Refuse

SERVED = "openai/one"
KEY = "sk-very-secret-0123456789"

Connect = Callable[[Program], AbstractContextManager[tuple[str, ModelDoor]]]


@contextmanager
def inside(program: Program) -> Iterator[tuple[str, ModelDoor]]:
    with ModelDoor(DoorConfig(), None, {"rehearsal/one": program}) as door:
        yield "rehearsal/one", door


@contextmanager
def behind_http(program: Program) -> Iterator[tuple[str, ModelDoor]]:
    with ProgramServer({"one": program}) as server, door_to(server) as door:
        yield SERVED, door


def door_to(server: ProgramServer, model: str = SERVED, **config: object) -> ModelDoor:
    models = {model: replace(ModelConfig(api_base=server.api_base), **config)}  # type: ignore[arg-type]
    return ModelDoor(DoorConfig(models=models), None, {}, sleep=lambda _: None)


def ask_once(ask: Ask, model: str = SERVED, text: str = "hello", deadline_sec: float = 30.0) -> Reply:
    return ask(Request(model, (Message("user", text),)), deadline_sec=deadline_sec)


both = pytest.mark.parametrize("connect", [inside, behind_http])


@both
def test_text_tokens_and_finish_reason(connect: Connect):
    with connect(echoing(lambda text: f"heard: {text} ✓\n```bash\nls\n```\n")) as (model, door):
        reply = ask_once(door.bind("unit"), model, "grüße\n\t😀")
    assert reply.text == "heard: grüße\n\t😀 ✓\n```bash\nls\n```\n"
    assert (reply.prompt_tokens, reply.completion_tokens, reply.finish_reason) == (4, 10, "stop")
    assert (reply.reasoning, reply.cached_tokens, reply.replayed) == (None, None, False)


@both
def test_conversation_and_seed_arrive(connect: Connect):
    seen: list[tuple[tuple[Message, ...], int | None]] = []

    def program(messages: Sequence[Message], seed: int | None) -> str:
        seen.append((tuple(messages), seed))
        return "ok"

    messages = (Message("system", "be brief"), Message("user", "a"), Message("assistant", "b"), Message("user", "c"))
    with connect(program) as (model, door):
        door.bind("unit")(Request(model, messages, seed=5), deadline_sec=30)
        door.bind("unit")(Request(model, messages), deadline_sec=30)
    assert seen == [(messages, 5), (messages, None)]


@both
def test_empty_and_long_answers(connect: Connect):
    with connect(echoing(lambda text: "" if text == "nothing" else text * 3)) as (model, door):
        ask = door.bind("unit")
        assert ask_once(ask, model, "nothing").text == ""
        assert ask_once(ask, model, "x" * 300_000).text == "x" * 900_000


@both
def test_many_threads_get_their_own_answers(connect: Connect):
    with connect(echoing(str.upper)) as (model, door), ThreadPoolExecutor(16) as threads:
        replies = threads.map(lambda text: ask_once(door.bind(text), model, text), [f"q{n}" for n in range(80)])
        assert [reply.text for reply in replies] == [f"Q{n}" for n in range(80)]


@both
def test_the_agent_loop_gets_to_the_same_end(connect: Connect, echo_sandbox):
    program = Scripted(["Hm.", "```bash\nls\n```", "TASK COMPLETE: seen it"])
    with connect(program) as (model, door):
        task = AgentTask(model, (Message("system", "s"), Message("user", "do it")), seed=3)
        attempt = run_agent(task, door.bind("unit"), echo_sandbox, AgentLimits(), lambda _: None)
    assert (attempt.stop, attempt.steps, attempt.last_message) == ("done", 3, "seen it")
    assert [command[0] for command in echo_sandbox.commands] == ["ls"]
    assert program.seen[-1][-1].content == "exit code: 0\n<stdout>\nran ls\n</stdout>"


def outcome(faults: Sequence[Fault | None], **config: object) -> tuple[object, int]:
    """(the reply's text or the error's class, requests that were made)."""
    with ProgramServer({"one": Scripted(["fine"])}, faults) as server, door_to(server, **config) as door:
        try:
            return ask_once(door.bind("unit")).text, len(server.seen)
        except errors.ModelError as error:
            return type(error), len(server.seen)


@pytest.mark.parametrize(
    "fault",
    [
        Refuse(429, headers={"Retry-After": "1"}),
        Refuse(500),
        Refuse(503),
        Drop(),
        Garble(),
        Garble(b"null"),
        Garble(b"{}"),
        Garble(b""),
        Change({"choices": []}),
    ],
)
def test_what_may_pass_is_tried_again_and_given_up_after_the_retries(fault: Fault):
    assert outcome([fault, fault], retries=2) == ("fine", 3)
    assert outcome([fault] * 9, retries=2) == (errors.ModelUnavailable, 3)
    assert outcome([fault], retries=0) == (errors.ModelUnavailable, 1)


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (Refuse(400), errors.ModelRefused),
        (Refuse(401), errors.ModelForbidden),
        (Refuse(403), errors.ModelForbidden),
        (Refuse(404), errors.ModelUnknown),
        (Refuse(400, "This model's maximum context length is 8192 tokens"), errors.ContextOverflow),
        (Refuse(413, "the prompt is too long"), errors.ContextOverflow),
    ],
)
def test_what_will_not_pass_is_not_tried_again(fault: Fault, kind: type[errors.ModelError]):
    assert outcome([fault] * 9) == (kind, 1)


def test_retry_after_is_waited_for():
    waits: list[float] = []
    faults = [Refuse(429, headers={"Retry-After": "17"}), Refuse(500)]
    with ProgramServer({"one": Scripted(["fine"])}, faults) as server:
        config = DoorConfig(models={SERVED: ModelConfig(api_base=server.api_base)}, seed=1)
        with ModelDoor(config, None, {}, sleep=waits.append) as door:
            ask_once(door.bind("unit"))
    assert waits[0] == 17
    assert 1 <= waits[1] <= 2


def test_an_endpoint_that_is_not_there():
    config = DoorConfig(models={SERVED: ModelConfig(api_base="http://127.0.0.1:9/v1", retries=1)})
    with (
        ModelDoor(config, None, {}, sleep=lambda _: None) as door,
        pytest.raises(errors.ModelUnavailable, match="2 times"),
    ):
        ask_once(door.bind("unit"))


def test_a_dripping_answer_does_not_hold_the_callers_deadline():
    with ProgramServer({"one": Scripted(["x" * 10_000])}, [Drip(0.02)]) as server, door_to(server) as door:
        with pytest.raises(errors.DeadlinePassed):
            ask_once(door.bind("unit"), deadline_sec=0.3)
        assert len(server.seen) == 1


def test_a_dripping_answer_does_not_hold_the_models_deadline():
    with (
        ProgramServer({"one": Scripted(["x" * 10_000])}, [Drip(0.02)]) as server,
        door_to(server, deadline_sec=0.5) as door,
    ):
        assert ask_once(door.bind("unit")).text == "x" * 10_000
        assert len(server.seen) == 2


def test_one_call_that_hangs_holds_no_other():
    release = threading.Event()
    with (
        ProgramServer({"one": echoing(str.upper)}, [Hold(release)]) as server,
        door_to(server) as door,
        ThreadPoolExecutor(4) as threads,
    ):
        calls = [threads.submit(ask_once, door.bind(text), text=text) for text in ("a", "b", "c", "d")]
        answered = list(islice(as_completed(calls), 3))
        assert sum(call.done() for call in calls) == len(answered)
        release.set()
        assert [call.result().text for call in calls] == ["A", "B", "C", "D"]


def test_an_endpoint_of_ones_own_has_no_price_by_its_models_name():
    with ProgramServer({"gpt-4o": Scripted(["fine"])}) as server, door_to(server, "openai/gpt-4o") as door:
        assert ask_once(door.bind("unit"), "openai/gpt-4o").cost_usd is None


def test_listed_price_of_a_providers_model(monkeypatch: pytest.MonkeyPatch):
    usage = {"prompt_tokens": 1_000_000, "completion_tokens": 0, "total_tokens": 1_000_000}
    with ProgramServer({"gpt-4o": Scripted(["fine"])}, [Change({"usage": usage})], key=KEY) as server:
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        monkeypatch.setenv("OPENAI_BASE_URL", server.api_base)
        with ModelDoor(DoorConfig(), None, {}) as door:
            cost = ask_once(door.bind("unit"), "openai/gpt-4o").cost_usd
    assert cost is not None
    assert 0.1 < cost < 100


def test_the_key_goes_where_it_is_meant_to_and_nowhere_else(monkeypatch: pytest.MonkeyPatch, call_log):
    monkeypatch.setenv("MY_MODEL", KEY)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-somebody-else")
    with ProgramServer({"one": Scripted(["fine"])}) as server:
        models = {
            SERVED: ModelConfig(api_base=server.api_base, api_key_env="MY_MODEL"),
        }
        with ModelDoor(DoorConfig(models=models), call_log, {}) as door:
            ask_once(door.bind("unit"))
        with door_to(server) as keyless:
            ask_once(keyless.bind("unit"))
        sent = [seen.headers["authorization"] for seen in server.seen]
    assert sent == [f"Bearer {KEY}", f"Bearer {NO_KEY}"]
    assert KEY not in repr(models) + repr(call_log.rows) + repr(server.seen[0].body)


def test_an_error_that_repeats_the_key_does_not_show_it(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MY_MODEL", KEY)
    with (
        ProgramServer({"one": Scripted(["fine"])}, key="another") as server,
        door_to(server, api_key_env="MY_MODEL") as door,
        pytest.raises(errors.ModelForbidden, match=r"Incorrect API key provided: \[secret\]") as caught,
    ):
        ask_once(door.bind("unit"))
    assert KEY not in "".join(traceback.format_exception(caught.value))
    assert caught.value.__context__ is None


def test_body_and_sampling_settings_are_sent():
    with (
        ProgramServer({"one": Scripted(["fine"])}) as server,
        door_to(server, extra_body={"top_k": 7, "nested": {"a": [1]}}, temperature=0.25, max_tokens=99) as door,
    ):
        ask_once(door.bind("unit"))
        body = server.seen[0].body
    assert (body["top_k"], body["nested"], body["temperature"], body["max_tokens"]) == (7, {"a": [1]}, 0.25, 99)


def test_spent_money_stops_before_the_call():
    def spent() -> None:
        raise errors.BudgetSpent("the run's 5.00 US dollars are spent")

    with ProgramServer({"one": Scripted(["fine"])}) as server:
        config = DoorConfig(models={SERVED: ModelConfig(api_base=server.api_base)})
        with ModelDoor(config, None, {}, spend_guard=spent) as door, pytest.raises(errors.BudgetSpent):
            ask_once(door.bind("unit"))
        assert server.seen == []


def test_reasoning_and_a_cut_answer():
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": None, "reasoning_content": "hmm"},
        "finish_reason": "length",
    }
    with ProgramServer({"one": Scripted(["x"])}, [Change({"choices": [choice]})]) as server, door_to(server) as door:
        reply = ask_once(door.bind("unit"))
    assert (reply.text, reply.reasoning, reply.finish_reason) == ("", "hmm", "length")
