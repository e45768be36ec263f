"""How models are called. Plain values: whoever reads a configuration file checks it and makes these of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Price:
    """US dollars a million tokens. cached None: cached prompt tokens cost what other prompt tokens cost."""

    input: float
    output: float
    cached: float | None = None

    def cost(self, prompt: int, completion: int, cached: int = 0) -> float:
        """US dollars of one call; `cached` tokens are a part of the `prompt` tokens."""
        cached_price = self.input if self.cached is None else self.cached
        return ((prompt - cached) * self.input + cached * cached_price + completion * self.output) / 1e6


@dataclass(frozen=True)
class ModelConfig:
    """One model. api_key_env is the name of the variable that holds the key, never the key.

    With an api_base of one's own, no key but that of api_key_env is ever sent there, and no price but a configured
    one is believed. extra_body is merged into the request's body as it is; it is no part of a request's digest.
    concurrency: calls at once; requests_per_minute: starts of calls; what is beyond either queues. deadline_sec: one
    call, at most. retries: further calls after one that failed for a reason that may pass."""

    api_base: str | None = None
    api_key_env: str | None = None
    temperature: float | None = None
    max_tokens: int | None = None
    extra_body: Mapping[str, object] = field(default_factory=dict)
    concurrency: int = 8
    requests_per_minute: float | None = None
    deadline_sec: float = 300.0
    retries: int = 5


@dataclass(frozen=True)
class DoorConfig:
    """models and prices go by the full model name; a model that is not listed is called with the defaults. seed: of the
    jitter in back-off."""

    models: Mapping[str, ModelConfig] = field(default_factory=dict)
    prices: Mapping[str, Price] = field(default_factory=dict)
    seed: int = 0

    def of(self, model: str) -> ModelConfig:
        return self.models.get(model, ModelConfig())
