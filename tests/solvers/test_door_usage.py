"""What endpoints say about tokens, believed as far as it can be true, and what calls then cost."""

import pytest

from solvers.config import DoorConfig, ModelConfig, Price
from solvers.door import ModelDoor
from solvers.model import Ask, Message, Reply, Request
from solvers.scripted import Scripted
from solvers.serve import Change, ProgramServer

SERVED = "openai/one"


def ask_once(ask: Ask) -> Reply:
    return ask(Request(SERVED, (Message("user", "hello"),)), deadline_sec=30.0)


def test_no_usage_is_unknown_and_never_nought():
    prices = {SERVED: Price(1.0, 1.0)}
    with ProgramServer({"one": Scripted(["fine"])}, [Change({"usage": None})]) as server:
        config = DoorConfig(models={SERVED: ModelConfig(api_base=server.api_base)}, prices=prices)
        with ModelDoor(config, None, {}) as door:
            reply = ask_once(door.bind("unit"))
            assert (reply.prompt_tokens, reply.completion_tokens, reply.cost_usd) == (None, None, None)
            assert ask_once(door.bind("unit")).cost_usd is not None


@pytest.mark.parametrize("told", [-1_000_000, 10**30])
@pytest.mark.parametrize("key", ["prompt_tokens", "completion_tokens"])
def test_usage_that_cannot_be_is_unknown_and_never_makes_spend_smaller(key: str, told: int):
    usage = {"prompt_tokens": 10, "completion_tokens": 10, "total_tokens": 20, key: told}
    with ProgramServer({"one": Scripted(["fine"])}, [Change({"usage": usage})]) as server:
        config = DoorConfig(models={SERVED: ModelConfig(api_base=server.api_base)}, prices={SERVED: Price(1.0, 1.0)})
        with ModelDoor(config, None, {}) as door:
            reply = ask_once(door.bind("unit"))
    assert getattr(reply, key) is None
    assert reply.cost_usd is None


@pytest.mark.parametrize("cached", [-5, 11])
def test_more_cached_tokens_than_there_are_make_nothing_cheaper(cached: int):
    details = {"prompt_tokens_details": {"cached_tokens": cached}}
    usage = {"prompt_tokens": 10, "completion_tokens": 0, "total_tokens": 10, **details}
    with ProgramServer({"one": Scripted(["fine"])}, [Change({"usage": usage})]) as server:
        models = {SERVED: ModelConfig(api_base=server.api_base)}
        with ModelDoor(DoorConfig(models, {SERVED: Price(1e6, 1e6, cached=0.0)}), None, {}) as door:
            assert ask_once(door.bind("unit")).cost_usd == pytest.approx(10.0)


USAGE = {
    "prompt_tokens": 1000,
    "completion_tokens": 10,
    "total_tokens": 1010,
    "prompt_tokens_details": {"cached_tokens": 600},
}


def test_configured_price_with_cached_tokens():
    with ProgramServer({"one": Scripted(["fine"])}, [Change({"usage": USAGE})]) as server:
        prices = {SERVED: Price(input=2.0, output=8.0, cached=0.5)}
        models = {SERVED: ModelConfig(api_base=server.api_base)}
        with ModelDoor(DoorConfig(models, prices), None, {}) as door:
            reply = ask_once(door.bind("unit"))
    assert reply.cached_tokens == 600
    assert reply.cost_usd == pytest.approx((400 * 2.0 + 600 * 0.5 + 10 * 8.0) / 1e6)
