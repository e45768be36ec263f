"""A candidate's states and the reasons for its end.

waiting -> drafting -> validating -> calibrating -> retained
                           ^              |
                           '-- revising <-'
any of them -> discarded(reason) | errored(reason) | interrupted; the last two -> drafting, when it is resumed
"""

from enum import StrEnum


class CandidateState(StrEnum):
    """WAITING: not started. INTERRUPTED: stopped by the user. ERRORED: infrastructure failed for good. Both of these
    are resumed by the next run; RETAINED and DISCARDED are final."""

    WAITING = "waiting"
    DRAFTING = "drafting"
    VALIDATING = "validating"
    CALIBRATING = "calibrating"
    REVISING = "revising"
    RETAINED = "retained"
    DISCARDED = "discarded"
    ERRORED = "errored"
    INTERRUPTED = "interrupted"

    @property
    def final(self) -> bool:
        return self in FINAL

    @property
    def ended(self) -> bool:
        """Nobody works on it any more in this run of the program."""
        return self in FINAL or self in RESUMABLE


class Reason(StrEnum):
    """Why a candidate ended. NONE while it goes on and for those interrupted."""

    NONE = ""
    CRITERION_HELD = "criterion_held"
    NO_DRAFT = "no_draft"
    INVALID = "invalid"
    NO_REVISION = "no_revision"
    ROUNDS_SPENT = "rounds_spent"
    MONEY_SPENT = "money_spent"
    TIME_SPENT = "time_spent"
    ENGINE = "engine"
    MODEL = "model"
    BUG = "bug"


FINAL = frozenset({CandidateState.RETAINED, CandidateState.DISCARDED})
RESUMABLE = frozenset({CandidateState.ERRORED, CandidateState.INTERRUPTED})
