"""What a change of a task invalidates, from the digests of its parts.

changed             image    trials                   validation
nothing, metadata            refused
solution alone               refused: no solver sees it, so no outcome can turn
instruction         same     new                      one replay of the solution
verifier            same     regraded where the       initial state; three replays, solved anew where one fails
                             stored artifacts
                             suffice, else new
environment         built    new                      build, initial state; three replays, as above
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import PurePosixPath

from forge.domain.task import Parts


class TrialsPlan(StrEnum):
    REGRADE = "regrade"
    NEW = "new"


class Step(StrEnum):
    """Steps of validation, in the order in which they run."""

    BUILD = "build"
    INITIAL_STATE = "initial_state"
    REPLAY_ONCE = "replay_once"
    REPLAY_THRICE = "replay_thrice"


@dataclass(frozen=True)
class StoredArtifacts:
    """The paths that an earlier revision declared and whose content was collected or is known to be missing, and those
    that were refused. Absolute POSIX paths; a folder stands for all below it, so one that was collected without what an
    `exclude` names belongs to `declared` only where the new verifier excludes the same."""

    declared: tuple[str, ...]
    refused: tuple[str, ...] = ()

    def cover(self, declared: Sequence[str]) -> bool:
        """Whether the content of all these paths is known from what is stored."""
        return all(self._covers(PurePosixPath(path)) for path in declared)

    def _covers(self, path: PurePosixPath) -> bool:
        within = any(path.is_relative_to(known) for known in self.declared)
        inside_refused = any(path != PurePosixPath(bad) and path.is_relative_to(bad) for bad in self.refused)
        return within and not inside_refused


@dataclass(frozen=True)
class RevisionPlan:
    """What follows from a change. changed: names of parts. refused: why it is no revision at all, "" for one."""

    changed: tuple[str, ...]
    refused: str = ""
    trials: TrialsPlan = TrialsPlan.NEW
    steps: tuple[Step, ...] = ()


def plan_revision(before: Parts, after: Parts, *, artifacts_suffice: bool) -> RevisionPlan:
    """What has to be done after a revision.

    artifacts_suffice: every trial's stored artifacts cover what the new verifier declares, and it judges files only."""
    changed = before.changed(after)
    seen_or_judged = {"instruction", "environment", "verifier"} & set(changed)
    if not seen_or_judged:
        return RevisionPlan(changed, refused=_refusal(changed))
    if seen_or_judged == {"instruction"}:
        # A solution that came with the revision is new, and one replay proves only one that was proved before.
        replay = Step.REPLAY_THRICE if "solution" in changed else Step.REPLAY_ONCE
        return RevisionPlan(changed, trials=TrialsPlan.NEW, steps=(replay,))
    regrade = seen_or_judged == {"verifier"} and artifacts_suffice
    steps = (Step.INITIAL_STATE, Step.REPLAY_THRICE)
    return RevisionPlan(
        changed,
        trials=TrialsPlan.REGRADE if regrade else TrialsPlan.NEW,
        steps=(Step.BUILD, *steps) if "environment" in changed else steps,
    )


def _refusal(changed: tuple[str, ...]) -> str:
    if "solution" in changed:
        return "only the solution was changed: no solver sees it, so no outcome can change"
    if changed:
        return "only metadata was changed: no outcome can change"
    return "nothing was changed"
