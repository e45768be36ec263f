"""What the rows of a ledger are read and written as, where the domain has no value of its own for it."""

from pydantic import Field

from forge.domain.candidate import CandidateState, Reason
from forge.domain.outcome import Value
from forge.domain.spend import Spend


class RunRow(Value):
    """A run. config: the text of its configuration. versions: name -> version of what it was made with. substitutes:
    (asked, used) base images. started_at in seconds since the epoch."""

    name: str
    config: str
    versions: dict[str, str] = Field(default_factory=dict)
    seed: int = 0
    substitutes: tuple[tuple[str, str], ...] = ()
    started_at: float = 0.0


class CandidateRow(Value):
    """A candidate as it stands. rounds: decided so far. Times in seconds since the epoch; ended_at None while it
    goes on."""

    id: str
    state: CandidateState
    reason: Reason = Reason.NONE
    detail: str = ""
    rounds: int = 0
    started_at: float = 0.0
    ended_at: float | None = None


class RevisionRow(Value):
    """A candidate's task at one round: its digest and those of its parts, tree and diff as blobs ("" for no diff)."""

    candidate: str
    number: int
    task_digest: str
    instruction: str
    environment: str
    verifier: str
    solution: str
    metadata: str
    tree_blob: str
    reason: str = ""
    diff_blob: str = ""


class ValidationRow(Value):
    """One run of one stage of validation on a revision; number counts the repairs before it. findings: JSON values."""

    candidate: str
    revision: int
    number: int
    stage: str
    ok: bool
    findings: tuple[dict[str, object], ...] = ()


class EventRow(Value):
    """Something that happened. at in seconds since the epoch; candidate "" is the run itself."""

    candidate: str
    kind: str
    text: str
    at: float


class UnitRow(Value):
    """A unit of work. attempt counts from 1. finished_at None: it runs, or was interrupted."""

    candidate: str
    unit: str
    attempt: int
    started_at: float
    finished_at: float | None


class Funnel(Value):
    """How far the candidates of a run came.

    first_decision: "retain" or a diagnosis -> candidates whose first decided round said so. retained_within: rounds ->
    candidates that were retained after at most that many."""

    clues: int
    by_state: dict[CandidateState, int]
    by_reason: dict[Reason, int]
    first_decision: dict[str, int]
    retained_within: dict[int, int]


class SpendReport(Value):
    """What a run paid. total and the three tables count every paid call, lost ones too; lost: the part of the total
    that served no finished unit. by_kind: what was paid for, such as "draft" or "trial"."""

    total: Spend
    lost: Spend
    by_model: dict[str, Spend]
    by_candidate: dict[str, Spend]
    by_kind: dict[str, Spend]
