"""The one door to all models: litellm's, and programs that stand in for models as a litellm provider of their own.

    bind(unit) -> Ask      replayed from the call log, else guarded, queued, called with a deadline, retried, recorded

This file alone imports litellm, at the first use: the import takes seconds.
"""

import contextvars
import importlib
import logging
import os
import random
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import CancelledError
from dataclasses import replace
from types import TracebackType
from typing import Any, Self

from solvers import errors
from solvers.config import DoorConfig, ModelConfig
from solvers.faults import Fault, classify, redacted, secrets_of
from solvers.gate import Gate
from solvers.loop import LoopThread
from solvers.model import PROVIDER, Ask, CallLog, Message, Program, Reply, Request, is_rehearsal
from solvers.programs import ProgramCall, Programs
from solvers.recorded import RecordedAsk
from solvers.retry import BackOff
from solvers.tokens import counted, estimated_tokens

NO_KEY = "none"
"""What an endpoint of one's own gets as its key where none is configured."""

LATER_SEC = 10.0
"""By how much the SDK's own timeouts come after our deadline, so that ours is the one that is met."""

DEFAULT_BACK_OFF = BackOff()


def no_guard() -> None:
    """Lets every call pass."""


class ModelDoor:
    """Use it in a `with` block; safe to use from many threads.

    programs: full model name -> its reply function. spend_guard raises BudgetSpent before a call that would be paid
    for. sleep waits for back-off and rate limits (seconds)."""

    def __init__(
        self,
        config: DoorConfig,
        log: CallLog | None,
        programs: Mapping[str, Program],
        *,
        spend_guard: Callable[[], None] = no_guard,
        back_off: BackOff = DEFAULT_BACK_OFF,
        sleep: Callable[[float], object] | None = None,
    ) -> None:
        self._config, self._log, self._programs = config, log, Programs(programs)
        self._spend_guard, self._back_off = spend_guard, back_off
        self._closing = threading.Event()
        self._sleep = sleep or self._closing.wait
        self._loop = LoopThread()
        self._gates: dict[str, Gate] = {}
        self._checked: set[str] = set()
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End every call; who waits for one gets ModelUnavailable. Idempotent, and safe from another thread."""
        self._closing.set()
        self._loop.close()
        self._programs.close()

    def bind(self, unit: str) -> Ask:
        """How the work named `unit` asks."""
        return RecordedAsk(unit, self._log, self._prepared, self._call)

    def check(self, model: str) -> None:
        """Say whether a name can be called, without calling it. Raises ModelUnknown, ModelKeyMissing."""
        if model in self._programs or model in self._checked:
            return
        if is_rehearsal(model):
            known = ", ".join(self._programs.names()) or "none here"
            raise errors.ModelUnknown(f"{model}: no such program (there are: {known})")
        _check_provider(model, self._config.of(model))
        self._checked.add(model)

    def price_known(self, model: str) -> bool:
        """Whether the cost of this model's calls will be known, so that limits in money can hold."""
        if model in self._programs or model in self._config.prices:
            return True
        if self._config.of(model).api_base is not None:
            return False
        listed = _litellm().model_cost
        return model in listed or model.partition("/")[2] in listed

    def _prepared(self, request: Request) -> Request:
        config = self._config.of(request.model)
        return replace(
            request,
            temperature=config.temperature if request.temperature is None else request.temperature,
            max_tokens=config.max_tokens if request.max_tokens is None else request.max_tokens,
        )

    def _call(self, request: Request, name: str, deadline_sec: float) -> Reply:
        """Call until there is an answer or no hope of one."""
        self.check(request.model)
        config = self._config.of(request.model)
        rng = random.Random(f"{self._config.seed}/{name}")
        retry = 0
        while True:
            outcome = self._guarded(request, config, deadline_sec)
            if isinstance(outcome, Reply):
                return outcome
            if not outcome.retry or retry >= config.retries:
                break
            self._sleep(self._back_off.delay(retry, outcome.asked_sec, rng))
            retry += 1
        tried = f", called {retry + 1} times" if retry else ""
        secrets = secrets_of(os.environ, config.api_key_env)
        raise outcome.kind(redacted(f"{request.model}{tried}: {outcome.reason}", secrets)) from outcome.cause

    def _guarded(self, request: Request, config: ModelConfig, deadline_sec: float) -> Reply | Fault:
        with self._gate(request.model, config).entered():
            if self._closing.is_set():
                return Fault(errors.ModelUnavailable, "the model door is closed")
            if request.model not in self._programs:
                self._spend_guard()
            return self._once(request, config, deadline_sec)

    def _once(self, request: Request, config: ModelConfig, deadline_sec: float) -> Reply | Fault:
        """One call. A failure is a value, so that nothing of the SDK's exception, which may hold a key, is chained."""
        litellm, call = _litellm(), self._programs.call(request)
        limit_sec = min(deadline_sec, config.deadline_sec)
        started = time.monotonic()
        try:
            response = self._loop.run(_complete(litellm, call, _arguments(request, config, limit_sec)), limit_sec)
        except TimeoutError:
            return _late(deadline_sec, config.deadline_sec)
        except CancelledError:
            return Fault(errors.ModelUnavailable, "the model door was closed during the call")
        except litellm.exceptions.openai.OpenAIError as error:
            return classify(error, time.time())
        latency_sec = time.monotonic() - started
        if call is not None and call.error is not None:
            return Fault(errors.ProgramError, f"{type(call.error).__name__}: {call.error}", cause=call.error)
        reply = _read(response, latency_sec)
        return (
            reply if isinstance(reply, Fault) else replace(reply, cost_usd=self._cost(request.model, reply, response))
        )

    def _cost(self, model: str, reply: Reply, response: Any) -> float | None:
        """US dollars. Programs are known to be free; what an endpoint of one's own costs is configured or unknown."""
        if model in self._programs:
            return 0.0
        if reply.prompt_tokens is None or reply.completion_tokens is None:
            return None
        price = self._config.prices.get(model)
        if price is not None:
            return price.cost(reply.prompt_tokens, reply.completion_tokens, reply.cached_tokens or 0)
        if self._config.of(model).api_base is not None:
            return None
        listed = getattr(response, "_hidden_params", {}).get("response_cost")
        return None if listed is None else float(listed)

    def _gate(self, model: str, config: ModelConfig) -> Gate:
        with self._lock:
            if model not in self._gates:
                self._gates[model] = Gate(config.concurrency, config.requests_per_minute, time.monotonic, self._sleep)
            return self._gates[model]


_CALL: contextvars.ContextVar[ProgramCall] = contextvars.ContextVar("program_call")
"""The call on whose behalf litellm asks the provider of programs: one provider serves all doors of the process."""

_LOADING = threading.Lock()


def _litellm() -> Any:
    """The SDK, imported at the first use, quiet and without its fetch of a price list."""
    with _LOADING:
        os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
        litellm: Any = importlib.import_module("litellm")
        if not any(entry["provider"] == PROVIDER for entry in litellm.custom_provider_map):
            litellm.suppress_debug_info = True
            litellm.telemetry = False
            for name in ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy"):
                logging.getLogger(name).setLevel(logging.CRITICAL)
            provider = type("Programs", (litellm.CustomLLM,), {"acompletion": _answer_by_program})()
            ours = {"provider": PROVIDER, "custom_handler": provider}
            litellm.custom_provider_map = [*litellm.custom_provider_map, ours]
        return litellm


async def _complete(litellm: Any, call: ProgramCall | None, arguments: dict[str, Any]) -> Any:
    if call is not None:
        _CALL.set(call)
    return await litellm.acompletion(**arguments)


async def _answer_by_program(_provider: object, **asked: Any) -> Any:
    """What litellm calls for PROVIDER's models."""
    messages = tuple(Message(message["role"], message["content"]) for message in asked["messages"])
    text = await _CALL.get().answer(messages)
    prompt, completion = sum(estimated_tokens(message.content) for message in messages), estimated_tokens(text)
    response = asked["model_response"]
    response.choices[0].message.content = text
    response.choices[0].finish_reason = "stop"
    response.usage = _litellm().Usage(
        prompt_tokens=prompt, completion_tokens=completion, total_tokens=prompt + completion
    )
    return response


def _arguments(request: Request, config: ModelConfig, limit_sec: float) -> dict[str, Any]:
    key = NO_KEY if config.api_base is not None else None
    if config.api_key_env is not None:
        key = os.environ.get(config.api_key_env)
    optional = {
        "temperature": request.temperature,
        "max_tokens": request.max_tokens,
        "seed": request.seed,
        "api_base": config.api_base,
        "api_key": key,
        "extra_body": dict(config.extra_body) or None,
    }
    return {
        "model": request.model,
        "messages": [{"role": message.role, "content": message.content} for message in request.messages],
        "timeout": limit_sec + LATER_SEC,
        "max_retries": 0,
        "num_retries": 0,
        "drop_params": True,
        **{name: value for name, value in optional.items() if value is not None},
    }


def _late(callers_sec: float, models_sec: float) -> Fault:
    if callers_sec <= models_sec:
        return Fault(errors.DeadlinePassed, f"no answer within the {callers_sec:.1f} s that the caller has left")
    return Fault(errors.ModelUnavailable, f"no answer within {models_sec:.1f} s", retry=True)


def _read(response: Any, latency_sec: float) -> Reply | Fault:
    """What litellm's response says. Text is made valid Unicode: JSON can carry halves of surrogate pairs."""
    choices = getattr(response, "choices", None)
    if not choices:
        return Fault(errors.ModelUnavailable, "the answer holds no choice", retry=True)
    message, usage = choices[0].message, getattr(response, "usage", None)
    prompt = counted(getattr(usage, "prompt_tokens", None)) or None
    reasoning = getattr(message, "reasoning_content", None)
    return Reply(
        text=_unicode(message.content or ""),
        reasoning=_unicode(reasoning) if reasoning else None,
        prompt_tokens=prompt,
        completion_tokens=None if prompt is None else counted(getattr(usage, "completion_tokens", None)),
        cached_tokens=counted(
            getattr(getattr(usage, "prompt_tokens_details", None), "cached_tokens", None), most=prompt or 0
        ),
        latency_sec=latency_sec,
        finish_reason=choices[0].finish_reason,
    )


def _unicode(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


def _check_provider(model: str, config: ModelConfig) -> None:
    litellm = _litellm()
    try:
        provider = litellm.get_llm_provider(model, api_base=config.api_base)[1]
    except litellm.exceptions.BadRequestError:
        raise errors.ModelUnknown(f"{model}: litellm knows no such provider or model") from None
    if config.api_key_env is not None:
        if not os.environ.get(config.api_key_env):
            raise errors.ModelKeyMissing(f"{model}: the variable {config.api_key_env} is not set")
        return
    if config.api_base is not None:
        return
    missing = [name for name in litellm.validate_environment(model)["missing_keys"] if name.endswith("_API_KEY")]
    usual = f"{provider.upper()}_API_KEY"
    if os.environ.get(usual, "unset").strip() == "":  # litellm takes an empty variable for a key
        missing.append(usual)
    if missing:
        wanted = ", ".join(missing)
        raise errors.ModelKeyMissing(f"{model}: set {wanted}, or api_key_env to the variable that holds the key")
