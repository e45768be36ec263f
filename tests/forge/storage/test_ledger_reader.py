"""What is written as rows is read back as values, twice written is once there, and reading needs no lock."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from forge.domain.candidate import CandidateState, Reason
from forge.domain.clue import Clue
from forge.domain.outcome import (
    Check,
    CheckStatus,
    Decision,
    DecisionKind,
    Diagnosis,
    Outcome,
    Round,
    Trial,
    Verdict,
)
from forge.storage.errors import LedgerClosed, LedgerDamaged, LedgerMissing
from forge.storage.ledger import Ledger
from forge.storage.ledger_file import LEDGER_NAME
from forge.storage.ledger_reader import LedgerReader
from forge.storage.ledger_values import RevisionRow, RunRow, ValidationRow

VERDICT = Verdict(
    reward=0.5,
    passed=False,
    checks=(Check(name="test_a", status=CheckStatus.FAILED, message="expected 3 ≠ 4", duration_ms=1.5),),
    log="…end",
    duration_sec=2.5,
)
REVISION = RevisionRow(
    candidate="a",
    number=1,
    task_digest="t",
    instruction="i",
    environment="e",
    verifier="v",
    solution="s",
    metadata="m",
    tree_blob="b",
    reason="because",
    diff_blob="d",
)


def trial(solver: str, outcome: Outcome, **more: object) -> Trial:
    return Trial.model_validate({"solver": solver, "solver_digest": "x", "revision": 1, "outcome": outcome} | more)


def decided(number: int, kind: DecisionKind, *trials: Trial, diagnosis: Diagnosis | None = None) -> Round:
    decision = Decision(kind=kind, diagnosis=diagnosis, reason="said")
    return Round(number=number, task_digest=f"t{number}", trials=trials, decision=decision)


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with Ledger.open(tmp_path / "run") as ledger:
        yield ledger


def test_run_row_keeps_its_start(ledger: Ledger) -> None:
    run = RunRow(
        name="r", config="x = 1\n", versions={"forge": "1"}, seed=2**62, substitutes=(("a", "b"),), started_at=5.5
    )
    ledger.rows.put_run(run)
    ledger.rows.put_run(run.model_copy(update={"started_at": 9.0, "config": "x = 2\n"}))
    assert ledger.read.run() == run.model_copy(update={"config": "x = 2\n"})


def test_a_folder_without_a_run_says_so(ledger: Ledger, tmp_path: Path) -> None:
    with pytest.raises(LedgerMissing, match="no run has been started"):
        ledger.read.run()
    with pytest.raises(LedgerMissing, match=r"ledger\.db"), LedgerReader(tmp_path / "nowhere"):
        pass


def test_clues_keep_their_order_and_their_first_content(ledger: Ledger) -> None:
    first, second, third = Clue(text="zebra"), Clue(text="apple", id="two", tags=("x",)), Clue(text="more")
    assert ledger.rows.put_clues([first, second]) == ()
    changed = second.model_copy(update={"text": "pear"})
    assert ledger.rows.put_clues([first, changed, third]) == ("two",)
    assert ledger.read.clues() == [first, second, third]


def test_candidates_are_in_the_order_of_their_clues(ledger: Ledger) -> None:
    ledger.rows.put_clues([Clue(text="t", id=name) for name in ("b", "a")])
    for name in ("a", "b"):
        ledger.rows.put_candidate(name, CandidateState.DRAFTING)
    assert [one.id for one in ledger.read.candidates()] == ["b", "a"]


def test_a_candidate_keeps_its_start_and_its_first_end(ledger: Ledger) -> None:
    ledger.rows.put_candidate("a", CandidateState.DRAFTING)
    started = ledger.read.candidate("a")
    ledger.rows.put_candidate("a", CandidateState.DISCARDED, reason=Reason.ROUNDS_SPENT, detail="50 \udcff", rounds=50)
    ended = ledger.read.candidate("a")
    ledger.rows.put_candidate("a", CandidateState.DISCARDED, reason=Reason.ROUNDS_SPENT, detail="50 \udcff", rounds=50)
    assert started is not None
    assert ended is not None
    assert (started.ended_at, ended.started_at) == (None, started.started_at)
    assert ended.ended_at is not None
    assert (ended.state, ended.reason, ended.detail, ended.rounds) == ("discarded", "rounds_spent", "50 \\udcff", 50)
    assert ledger.read.candidate("a") == ended
    assert ledger.read.candidate("b") is None


def test_a_resumed_candidate_has_not_ended(ledger: Ledger) -> None:
    ledger.rows.put_candidate("a", CandidateState.ERRORED, reason=Reason.ENGINE)
    ledger.rows.put_candidate("a", CandidateState.DRAFTING)
    row = ledger.read.candidate("a")
    assert row is not None
    assert (row.ended_at, row.reason) == (None, Reason.NONE)


def test_revisions_and_validations(ledger: Ledger) -> None:
    second = REVISION.model_copy(update={"number": 2})
    for revision in (second, REVISION, REVISION):
        ledger.rows.put_revision(revision)
    assert ledger.read.revisions("a") == [REVISION, second]
    structural = ValidationRow(
        candidate="a", revision=1, number=0, stage="structural", ok=False, findings=({"code": "c", "n": [1]},)
    )
    solved = structural.model_copy(update={"stage": "self_solve", "ok": True, "findings": ()})
    for validation in (structural, solved, structural):
        ledger.rows.put_validation(validation)
    assert ledger.read.validations("a") == [structural, solved]


def test_rounds_come_back_with_their_trials(ledger: Ledger) -> None:
    strong = trial("strong", Outcome.FAILED, verdict=VERDICT, stop="steps", steps=100, cost_usd=0.25, regraded_from=1)
    weak = trial("weak", Outcome.ERRORED, error="engine gone")
    first = decided(1, DecisionKind.UNDECIDED, strong, weak)
    second = decided(2, DecisionKind.REVISE, strong, trial("weak", Outcome.PASSED), diagnosis=Diagnosis.INVERTED)
    for one in (second, first, first):
        ledger.rows.put_round("a", one)
    assert ledger.read.rounds("a") == [first, second]
    assert ledger.read.trials("a", 1) == [strong, weak]
    assert len(ledger.read.trials("a")) == 4


def test_a_retried_trial_takes_the_place_of_the_errored_one(ledger: Ledger) -> None:
    ledger.rows.put_trial("a", 1, trial("weak", Outcome.ERRORED, error="engine gone"))
    passed = trial("weak", Outcome.PASSED)
    ledger.rows.put_trial("a", 1, passed)
    assert ledger.read.trials("a", 1) == [passed]
    assert ledger.read.rounds("a") == []


def test_events_in_order_once_a_key(ledger: Ledger) -> None:
    for _ in range(2):
        ledger.event("a", "revised", "round 2 \udc80", key="2")
        ledger.event("a", "retry", "again")
    ledger.event("", "halt", "disk")
    assert [(e.kind, e.text) for e in ledger.read.events("a")] == [
        ("revised", "round 2 \\udc80"),
        ("retry", "again"),
        ("retry", "again"),
    ]
    assert [e.kind for e in ledger.read.events("")] == ["halt"]
    assert len(ledger.read.events()) == 4


def test_funnel(ledger: Ledger) -> None:
    ledger.rows.put_clues([Clue(text="t", id=name) for name in "abcde"])
    retain, revise = DecisionKind.RETAIN, DecisionKind.REVISE
    ledger.rows.put_round("a", decided(1, DecisionKind.UNDECIDED))
    ledger.rows.put_round("a", decided(2, retain))
    ledger.rows.put_round("b", decided(1, revise, diagnosis=Diagnosis.TOO_EASY))
    ledger.rows.put_round("b", decided(2, retain))
    ledger.rows.put_round("c", decided(1, revise, diagnosis=Diagnosis.TOO_HARD))
    ledger.rows.put_candidate("a", CandidateState.RETAINED, reason=Reason.CRITERION_HELD, rounds=1)
    ledger.rows.put_candidate("b", CandidateState.RETAINED, reason=Reason.CRITERION_HELD, rounds=7)
    ledger.rows.put_candidate("c", CandidateState.DISCARDED, reason=Reason.ROUNDS_SPENT, rounds=50)
    ledger.rows.put_candidate("d", CandidateState.CALIBRATING)
    funnel = ledger.read.funnel()
    assert funnel.clues == 5
    assert funnel.by_state == {"retained": 2, "discarded": 1, "calibrating": 1}
    assert funnel.by_reason == {"criterion_held": 2, "rounds_spent": 1}
    assert funnel.first_decision == {"retain": 1, "too_easy": 1, "too_hard": 1}
    assert funnel.retained_within == {1: 1, 5: 1, 10: 2, 20: 2, 50: 2}


def test_a_reader_sees_each_write_while_the_run_goes_on(ledger: Ledger) -> None:
    with LedgerReader(ledger.run_dir) as reader:
        assert reader.candidates() == []
        ledger.rows.put_candidate("a", CandidateState.DRAFTING)
        assert [one.id for one in reader.candidates()] == ["a"]
    with pytest.raises(LedgerClosed):
        reader.candidates()


def test_the_record_is_readable_where_nothing_can_be_written(tmp_path: Path) -> None:
    run_dir = tmp_path / "a run with ?# in its name"
    with Ledger.open(run_dir) as ledger:
        ledger.rows.put_candidate("a", CandidateState.DRAFTING)
    run_dir.chmod(0o555)
    try:
        with LedgerReader(run_dir) as reader:
            assert [one.id for one in reader.candidates()] == ["a"]
    finally:
        run_dir.chmod(0o755)


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("UPDATE candidates SET state = 'weird'", "a CandidateRow that cannot be read: state: "),
        ("UPDATE run SET versions = '{'", "no JSON"),
    ],
)
def test_row_that_cannot_be_read_is_damage_and_says_which(tmp_path: Path, statement: str, said: str) -> None:
    run_dir = tmp_path / "run"
    with Ledger.open(run_dir) as ledger:
        ledger.rows.put_run(RunRow(name="n", config="{}", versions={}, seed=1))
        ledger.rows.put_candidate("a", CandidateState.RETAINED)
    with sqlite3.connect(run_dir / LEDGER_NAME) as connection:
        connection.execute(statement)
    connection.close()
    with LedgerReader(run_dir) as reader, pytest.raises(LedgerDamaged, match=said):
        _ = reader.run(), reader.candidates()


def test_ledger_that_cannot_be_opened_is_damage(tmp_path: Path) -> None:
    (tmp_path / LEDGER_NAME).mkdir()
    with pytest.raises(LedgerDamaged, match="unable to open"), Ledger.open(tmp_path):
        pass
