"""What the author gets to know of a round."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forge.domain.feedback import (
    LONGEST_CHECK,
    LONGEST_MESSAGE,
    MOST_CHECKS,
    MOVES,
    SENTENCES,
    Feedback,
    Move,
    failure_diagnosis,
    make_feedback,
)
from forge.domain.outcome import Check, CheckStatus, Decision, DecisionKind, Diagnosis, Outcome, Round, Trial, Verdict
from forge.domain.transcript import TranscriptStep, elide_middle, share_out, transcript_text

PASSED, FAILED = CheckStatus.PASSED, CheckStatus.FAILED


def check(name: str, status: CheckStatus = PASSED, message: str = "") -> Check:
    return Check(name=name, status=status, message=message)


def trial(solver: str, outcome: Outcome, *checks: Check, **more: object) -> Trial:
    passed = outcome is Outcome.PASSED
    verdict = Verdict(reward=float(passed), passed=passed, checks=checks) if checks else None
    made = {"solver": solver, "solver_digest": "d", "revision": 3, "outcome": outcome, "verdict": verdict}
    return Trial.model_validate(made | more)


def feedback(*trials: Trial, budget: int = 10_000, **transcripts: list[TranscriptStep]) -> Feedback:
    decision = Decision(kind=DecisionKind.REVISE, diagnosis=Diagnosis.INVERTED, reason="strong failed, weak passed")
    return make_feedback(Round(number=3, task_digest="t", trials=trials, decision=decision), transcripts, budget)


STEPS = [
    TranscriptStep("I look around.", "ls /app", "data.csv\nrun.py\n", 0),
    TranscriptStep("I run it.", "python3 run.py", "Traceback (most recent call last):\nValueError: bad date\n", 1),
    TranscriptStep("All is well now."),
]


def test_a_round_with_all_that_is_known() -> None:
    strong = trial(
        "strong",
        Outcome.FAILED,
        check("test_a"),
        check("test_b", FAILED, "expected 3\n got  4"),
        stop="done",
        steps=3,
        last_message="All is well now.",
    )
    weak = trial("weak", Outcome.PASSED, check("test_a"), stop="steps", steps=100)
    made = feedback(strong, weak, strong=STEPS)
    assert (made.round, made.diagnosis, made.reason) == (3, Diagnosis.INVERTED, "strong failed, weak passed")
    assert made.sentence == SENTENCES[Diagnosis.INVERTED]
    assert made.moves == (Move.VERIFY_PROPERTY, Move.MAKE_DETERMINISTIC)
    first, second = made.solvers
    assert (first.name, first.outcome, first.steps, first.finished) == ("strong", Outcome.FAILED, 3, True)
    assert first.ending == "ended by itself"
    assert [c.name for c in first.checks] == ["test_b", "test_a"]
    assert first.self_assessment == "All is well now."
    assert "1 of 2 checks did not pass" in first.failure
    assert "test_b: expected 3 got 4" in first.failure
    assert "exit 1: python3 run.py" in first.failure
    assert "ValueError: bad date" in first.failure
    assert first.trajectory == transcript_text(STEPS)
    assert (second.finished, second.ending, second.failure) == (False, "ended by its limit: steps", "")
    assert second.trajectory == ""


def test_an_errored_and_a_cancelled_trial_are_no_failures() -> None:
    gone = trial("strong", Outcome.ERRORED, error="no engine\nanswers", stop="done")
    made = feedback(gone, trial("weak", Outcome.CANCELLED))
    assert [s.finished for s in made.solvers] == [False, False]
    assert [s.failure for s in made.solvers] == ["", ""]
    assert made.solvers[0].ending == "no outcome, since something else failed: no engine answers"
    assert made.solvers[1].ending.startswith("cancelled")


def test_a_decision_without_a_diagnosis_has_no_moves() -> None:
    decision = Decision(kind=DecisionKind.UNDECIDED)
    made = make_feedback(Round(number=1, task_digest="t", trials=(), decision=decision), {}, 100)
    assert (made.diagnosis, made.sentence, made.moves) == (None, "", ())


def test_every_diagnosis_has_moves_and_words() -> None:
    assert set(MOVES) == set(SENTENCES) == set(Diagnosis)
    assert all(MOVES.values())


def test_hostile_lengths_are_bounded() -> None:
    long = "x" * 10_000_000
    checks = [check(long[:100_000], FAILED, long) for _ in range(2 * MOST_CHECKS)]
    steps = [TranscriptStep(long, long, "error " + long, 1)] * 3
    made = feedback(trial("s", Outcome.FAILED, *checks, last_message=long), budget=50_000, s=steps)
    solver = made.solvers[0]
    assert len(solver.checks) == MOST_CHECKS
    assert all(len(c.message) <= LONGEST_CHECK and len(c.name) <= LONGEST_CHECK for c in solver.checks)
    assert len(solver.self_assessment) <= LONGEST_MESSAGE
    assert len(solver.failure) < 12_000
    assert len(solver.trajectory) <= 50_000


def test_a_command_given_again_and_again_is_told() -> None:
    steps = [TranscriptStep("again", "make test", "", 2)] * 5 + [TranscriptStep("once", "ls", "", 0)]
    lines = failure_diagnosis(trial("s", Outcome.FAILED, check("a", FAILED)), steps)
    assert "ran 5 times: make test" in lines
    assert not any("ran" in line and "ls" in line for line in lines)
    assert lines[-1] == "near its end, exit 0: ls"


def test_a_command_that_was_ended_is_told() -> None:
    lines = failure_diagnosis(trial("s", Outcome.FAILED), [TranscriptStep("", "sleep 999", "", None)])
    assert lines == ("the verifier reported no checks", "near its end, did not end: sleep 999")


def test_who_did_nothing_is_told_so() -> None:
    assert failure_diagnosis(trial("s", Outcome.FAILED), [TranscriptStep("I give up.")])[-1] == "it ran no command"


def test_a_problem_of_the_verifier_is_told() -> None:
    verdict = Verdict(reward=None, passed=False, problem="wrote no reward")
    lines = failure_diagnosis(trial("s", Outcome.FAILED, verdict=verdict), [])
    assert "the verifier had a problem: wrote no reward" in lines


@given(st.text(max_size=400), st.integers(0, 450))
def test_elision_keeps_the_end(text: str, limit: int) -> None:
    short = elide_middle(text, limit)
    assert len(short) <= limit
    if len(text) <= limit:
        assert short == text
    else:
        kept = limit // 3
        assert short.endswith(text[len(text) - kept :] if kept else "")


@given(st.integers(500, 5000), st.integers(100, 400))
def test_elision_tells_how_much_is_missing(length: int, limit: int) -> None:
    head, mark, tail = elide_middle("a" * length, limit).split("\n")
    assert mark == f"[... {length - len(head) - len(tail)} characters left out ...]"
    assert len(tail) > len(head) > 0


@given(st.lists(st.integers(0, 1000), max_size=8), st.integers(-5, 3000))
def test_shares_are_fair(wanted: list[int], budget: int) -> None:
    shares = share_out(wanted, budget)
    assert all(0 <= share <= want for share, want in zip(shares, wanted, strict=True))
    assert sum(shares) <= max(budget, 0)
    cut = [share for share, want in zip(shares, wanted, strict=True) if share < want]
    if cut:
        assert max(shares) - min(cut) <= 1, "nobody gets more than one who was cut, but for rounding"
        assert sum(shares) == max(budget, 0)
    else:
        assert shares == wanted


@pytest.mark.parametrize("budget", [0, 1, 60, 200, 1000])
def test_all_trajectories_together_keep_to_the_budget(budget: int) -> None:
    long = [TranscriptStep("m" * 50, "c" * 50, "o" * 50, 0)] * 20
    made = feedback(*(trial(name, Outcome.FAILED) for name in ("a", "b", "c")), budget=budget, a=long, b=STEPS, c=long)
    assert sum(len(solver.trajectory) for solver in made.solvers) <= budget
    assert all(transcript_text(long).endswith(solver.trajectory[-10:]) for solver in made.solvers[::2])
