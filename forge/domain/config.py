"""What a run is made with: one TOML file, one class a table. docs/config.md is generated from the docstrings.

config.py           the whole file; run, author, solvers, calibration, budget
config_sandbox.py   containers and images
config_models.py    models
config_reading.py   from text to a Config
"""

from enum import StrEnum
from typing import Annotated, Self

from pydantic import Field, StringConstraints, model_validator

from forge.domain.config_models import ModelSection
from forge.domain.config_sandbox import SandboxSection
from forge.domain.config_section import ModelName, Section
from solvers.config import DoorConfig
from solvers.limits import AgentLimits
from solvers.policies import Policy, Solver

RunName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9_-]{0,62}$")]
SolverName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9_-]{0,62}$")]


class Strategy(StrEnum):
    CONTRASTIVE = "contrastive"
    MULTI_SOLVER = "multi-solver"


class RunSection(Section):
    """The batch: its name, its seed, where it writes, how much happens at once."""

    name: RunName = "run"
    """Names the run: its folder under `runs_dir` and under `out`, and the label of all that it starts."""

    seed: int = Field(default=1, ge=0, lt=2**63)
    """Every draw follows from it: same seed and same answers of the models, same output."""

    runs_dir: str = "runs"
    """Folder of the ledgers: one folder a run. Relative paths start at the current folder."""

    out: str = "output_tasks"
    """Folder of the kept tasks: `OUT/NAME/ID/` is one Harbor task directory."""

    candidates_at_once: int = Field(default=2, ge=1, le=1024)
    """Candidates that are worked on at the same time."""

    trials_at_once: int = Field(default=2, ge=1, le=1024)
    """Solver attempts that run at the same time, over all candidates."""


class LimitsSection(Section):
    """What one attempt of an agent may use. It is judged on what stands when a limit is hit."""

    steps: int = Field(default=100, ge=1)
    """Model turns."""

    minutes: float = Field(default=30.0, gt=0)
    """Time of the model and of the commands; queueing and back-off are not counted."""

    command_sec: float = Field(default=120.0, gt=0)
    """Seconds that one command may take."""

    tokens: int | None = Field(default=None, ge=1)
    """Prompt and completion tokens of all calls together. Not set: no limit."""

    cost_usd: float | None = Field(default=None, gt=0)
    """US dollars of all calls together. Not set: no limit."""

    def agent_limits(self) -> AgentLimits:
        return AgentLimits(
            steps=self.steps,
            time_sec=self.minutes * 60,
            command_sec=self.command_sec,
            tokens=self.tokens,
            cost_usd=self.cost_usd,
        )


class AuthorSection(LimitsSection):
    """The agent that drafts, proves and revises tasks. The limits hold for each of its duties."""

    model: ModelName = "rehearsal/author"
    """A model as litellm names it, or one of the rehearsal programs."""

    temperature: float | None = Field(default=None, ge=0, le=2)
    """Sampling temperature. Not set: that of the model's own table, else the endpoint's default."""


class SolverSection(LimitsSection):
    """One solver of the pool."""

    name: SolverName
    """Names the solver in tables, the ledger and `[calibration]`."""

    model: ModelName | None = None
    """A model as litellm names it, or one of the rehearsal programs. Required where the policy asks a model."""

    policy: Policy = Policy.PLAIN
    """How it goes about a task: `plain` asks the model; `oracle` runs the reference solution; `nop` does nothing."""

    temperature: float | None = Field(default=None, ge=0, le=2)
    """Sampling temperature. Not set: that of the model's own table, else the endpoint's default."""

    @model_validator(mode="after")
    def _model_fits_policy(self) -> Self:
        if self.policy is Policy.PLAIN and self.model is None:
            raise ValueError("model is required by the policy plain")
        if self.policy is not Policy.PLAIN and self.model is not None:
            raise ValueError(f"the policy {self.policy.value} asks no model; take model out, or set policy to plain")
        return self

    def solver(self) -> Solver:
        return Solver(self.name, self.model, self.policy, self.agent_limits(), self.temperature)


def _default_solvers() -> tuple[SolverSection, ...]:
    return tuple(SolverSection(name=name, model=f"rehearsal/{name}") for name in ("strong", "medium", "weak"))


class CalibrationSection(Section):
    """When a candidate is kept, and how long it is worked on."""

    strategy: Strategy = Strategy.CONTRASTIVE
    """`contrastive`: kept when the strong solver passes and the weak one fails. `multi-solver`: kept when some of all
    solvers pass and some fail."""

    strong: SolverName | None = "strong"
    """The solver that has to pass (contrastive)."""

    weak: SolverName | None = "weak"
    """The solver that has to fail (contrastive)."""

    max_rounds: int = Field(default=50, ge=1)
    """Rounds after which a candidate is discarded."""

    max_repairs: int = Field(default=5, ge=0)
    """Repairs of one revision that does not pass validation."""

    error_retries: int = Field(default=3, ge=0)
    """Times that an attempt is made again after an error that is not the solver's (engine, endpoint, our own)."""

    self_solve_replays: int = Field(default=3, ge=1)
    """Clean containers in which the author's solution has to score 1, every time."""


class BudgetSection(Section):
    """What may be spent. What has been spent is never lost: a run that stops here can be resumed with more."""

    run_usd: float | None = Field(default=None, gt=0)
    """US dollars of the whole run. Not set: no limit."""

    candidate_usd: float | None = Field(default=None, gt=0)
    """US dollars of one candidate; it is discarded beyond. Not set: no limit."""

    candidate_hours: float | None = Field(default=72.0, gt=0, allow_inf_nan=True)
    """Hours of one candidate; it is discarded beyond. Nothing else ends rounds that stay undecided. `inf`: no limit."""


class Config(Section):
    """The whole file. Every table may be left out."""

    run: RunSection = RunSection()
    author: AuthorSection = AuthorSection()
    solvers: tuple[SolverSection, ...] = Field(default_factory=_default_solvers)
    calibration: CalibrationSection = CalibrationSection()
    budget: BudgetSection = BudgetSection()
    sandbox: SandboxSection = SandboxSection()
    models: dict[ModelName, ModelSection] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _solvers_fit(self) -> Self:
        names = [solver.name for solver in self.solvers]
        if not names:
            raise ValueError("solvers: name at least one [[solvers]]")
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"solvers: two solvers are named {name!r}; give each a name of its own")
        if self.calibration.strategy is Strategy.CONTRASTIVE:
            self._check_contrast(names)
        elif len(names) < 2:
            raise ValueError("calibration.strategy: multi-solver needs two or more [[solvers]]")
        return self

    def _check_contrast(self, names: list[str]) -> None:
        for key, name in (("strong", self.calibration.strong), ("weak", self.calibration.weak)):
            if name is None:
                raise ValueError(f"calibration.{key}: contrastive needs the name of a solver here")
            if name not in names:
                raise ValueError(f"calibration.{key}: no solver is named {name!r}; there are {', '.join(names)}")
        if self.calibration.strong == self.calibration.weak:
            raise ValueError("calibration.weak: is the same solver as calibration.strong")

    def for_the_record(self) -> str:
        """As JSON, without what may hold a secret: a proxy's password, an endpoint's own keys."""
        return self.model_dump_json(exclude={"sandbox": {"proxy"}, "models": {"__all__": {"api_base", "extra_body"}}})

    def models_used(self) -> tuple[str, ...]:
        """The models that the author and the solvers name, each once, in the file's order."""
        named = [self.author.model, *(solver.model for solver in self.solvers if solver.model is not None)]
        return tuple(dict.fromkeys(named))

    def door(self) -> DoorConfig:
        """How models are called."""
        return DoorConfig(
            models={name: model.call_settings() for name, model in self.models.items()},
            prices={name: price for name, model in self.models.items() if (price := model.price()) is not None},
            seed=self.run.seed,
        )
