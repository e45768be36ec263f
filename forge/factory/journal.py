"""What status, show and export read of a candidate, written as it happens. Writing it again changes nothing."""

from dataclasses import asdict

from forge.domain.candidate import CandidateState, Reason
from forge.domain.diff import unified_diff
from forge.domain.outcome import Round
from forge.domain.structure import Finding
from forge.domain.task import Task
from forge.storage.ledger import Ledger
from forge.storage.ledger_values import RevisionRow, ValidationRow
from forge.storage.trees import put_tree


class Journal:
    """One candidate's rows in the ledger."""

    def __init__(self, ledger: Ledger, candidate: str) -> None:
        self._ledger = ledger
        self._candidate = candidate
        self._rounds = 0

    def state(self, state: CandidateState) -> None:
        self._ledger.rows.put_candidate(self._candidate, state, rounds=self._rounds)

    def end(self, state: CandidateState, reason: Reason, detail: str) -> None:
        self._ledger.rows.put_candidate(self._candidate, state, reason=reason, detail=detail, rounds=self._rounds)

    def validation(self, number: int, repairs: int, stage: str, findings: tuple[Finding, ...]) -> None:
        row = ValidationRow(
            candidate=self._candidate,
            revision=number,
            number=repairs,
            stage=stage,
            ok=not findings,
            findings=tuple(asdict(finding) for finding in findings),
        )
        self._ledger.rows.put_validation(row)

    def revision(self, number: int, task: Task, earlier: Task | None, reason: str) -> None:
        """A proved revision. reason: the diagnosis that asked for it, "draft" for the first."""
        diff = "" if earlier is None else unified_diff(earlier.to_tree(), task.to_tree())
        row = RevisionRow(
            candidate=self._candidate,
            number=number,
            task_digest=task.digest(),
            tree_blob=put_tree(self._ledger.blobs, task.to_tree()),
            reason=reason,
            diff_blob=self._ledger.blobs.put(diff.encode()) if diff else "",
            **asdict(task.parts()),
        )
        self._ledger.rows.put_revision(row)

    def round(self, round: Round) -> None:
        self._rounds = round.number
        self._ledger.rows.put_round(self._candidate, round)
