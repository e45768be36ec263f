"""The config's tables of models."""

from typing import Any, Self

from pydantic import Field, model_validator

from forge.domain.config_section import EnvName, Section
from solvers.config import ModelConfig, Price


class ModelSection(Section):
    """How one model is called; the table's name is the model as `[author]` and `[[solvers]]` name it. A model without a
    table is called with litellm's own settings."""

    api_base: str | None = Field(default=None, pattern=r"^https?://")
    """URL of an OpenAI-compatible endpoint (vLLM, SGLang, llama.cpp, Ollama ...)."""

    api_key_env: EnvName | None = None
    """Environment variable that holds the key. The key itself has no place in this file."""

    input_usd_per_million: float | None = Field(default=None, ge=0)
    """Price of a million prompt tokens. Not set: litellm's price list; unknown there: reported as unknown."""

    output_usd_per_million: float | None = Field(default=None, ge=0)
    """Price of a million completion tokens."""

    cached_usd_per_million: float | None = Field(default=None, ge=0)
    """Price of a million prompt tokens that the endpoint had cached. Not set: that of other prompt tokens."""

    concurrency: int = Field(default=8, ge=1)
    """Calls at the same time; further ones queue."""

    requests_per_minute: float | None = Field(default=None, gt=0)
    """Calls a minute; further ones queue. Not set: no limit."""

    deadline_sec: float = Field(default=300.0, gt=0)
    """Seconds after which one call is given up."""

    retries: int = Field(default=5, ge=0)
    """Times that a call is made again after a failure that may pass."""

    temperature: float | None = Field(default=None, ge=0, le=2)
    """Sampling temperature. Not set: the endpoint's default."""

    max_tokens: int | None = Field(default=None, ge=1)
    """Completion tokens of one answer. Not set: the endpoint's default."""

    extra_body: dict[str, Any] = Field(default_factory=dict)
    """Further keys of every request, for what only this endpoint knows."""

    @model_validator(mode="after")
    def _both_prices(self) -> Self:
        if (self.input_usd_per_million is None) != (self.output_usd_per_million is None):
            raise ValueError("input_usd_per_million and output_usd_per_million belong together: set both or none")
        if self.cached_usd_per_million is not None and self.input_usd_per_million is None:
            raise ValueError("cached_usd_per_million needs input_usd_per_million and output_usd_per_million beside it")
        return self

    def price(self) -> Price | None:
        """None where the file sets none."""
        if self.input_usd_per_million is None or self.output_usd_per_million is None:
            return None
        return Price(self.input_usd_per_million, self.output_usd_per_million, self.cached_usd_per_million)

    def call_settings(self) -> ModelConfig:
        return ModelConfig(
            api_base=self.api_base,
            api_key_env=self.api_key_env,
            temperature=self.temperature,
            max_tokens=self.max_tokens,
            extra_body=self.extra_body,
            concurrency=self.concurrency,
            requests_per_minute=self.requests_per_minute,
            deadline_sec=self.deadline_sec,
            retries=self.retries,
        )
