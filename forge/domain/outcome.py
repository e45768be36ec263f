"""Verdict, Trial, Round, Decision: the facts that calibration decides on. Pure values, JSON-serialisable."""

from enum import StrEnum

from pydantic import BaseModel, ConfigDict


class Outcome(StrEnum):
    PASSED = "passed"
    FAILED = "failed"
    ERRORED = "errored"
    CANCELLED = "cancelled"


class CheckStatus(StrEnum):
    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"


class Diagnosis(StrEnum):
    TOO_EASY = "too_easy"
    TOO_HARD = "too_hard"
    INVERTED = "inverted"
    OVER_STRICT = "over_strict"


class DecisionKind(StrEnum):
    RETAIN = "retain"
    REVISE = "revise"
    SAMPLE_MORE = "sample_more"
    UNDECIDED = "undecided"


class Value(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Check(Value):
    """One test of the verifier."""

    name: str
    status: CheckStatus
    message: str = ""
    duration_ms: float = 0.0


class Verdict(Value):
    """What the verifier said. reward is what it wrote; passed follows the rules of docs/design.md: reward 1 and no test
    failed or skipped. log is the end of the verifier's output. problem: it wrote no reward, timed out ... (then reward
    is None and this is no verdict on the solver)."""

    reward: float | None
    passed: bool
    checks: tuple[Check, ...] = ()
    log: str = ""
    problem: str | None = None
    duration_sec: float = 0.0


class Trial(Value):
    """One attempt of one solver on one revision. Blobs are sha256 names in the run's blob store.

    steps in model turns; tokens prompt and completion together; cost in US dollars, None when a price is unknown;
    time_sec of model and commands, without queueing. stop is a solvers.agent.StopReason's value. error is the one line
    that says why it errored."""

    solver: str
    solver_digest: str
    revision: int
    sample: int = 0
    outcome: Outcome
    verdict: Verdict | None = None
    stop: str = ""
    steps: int = 0
    tokens: int = 0
    cost_usd: float | None = None
    time_sec: float = 0.0
    last_message: str = ""
    error: str = ""
    trajectory_blob: str = ""
    artifacts_blob: str = ""
    manifest_blob: str = ""
    regraded_from: int | None = None


class Decision(Value):
    """What a criterion says of a round. diagnosis where kind is revise; solver where it is sample_more."""

    kind: DecisionKind
    diagnosis: Diagnosis | None = None
    solver: str | None = None
    reason: str = ""


class Round(Value):
    """One revision, its trials (the last attempt of each solver and sample), the decision."""

    number: int
    task_digest: str
    trials: tuple[Trial, ...]
    decision: Decision
