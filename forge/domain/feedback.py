"""What the author is told after a round: facts for each solver, the diagnosis, and the moves that fit it.

Values only; the words around them are in templates/."""

from collections import Counter
from collections.abc import Mapping, Sequence
from enum import StrEnum

from forge.domain.outcome import Check, CheckStatus, Diagnosis, Outcome, Round, Trial, Value
from forge.domain.transcript import TranscriptStep, elide_middle, share_out, transcript_text

LONGEST_MESSAGE = 4000
"""Characters of a self-assessment that are kept."""

LONGEST_CHECK = 600
"""Characters of one check's message that are kept."""

MOST_CHECKS = 60
LAST_COMMANDS = 3
ERROR_WORDS = ("error", "traceback", "no such file", "not found", "permission denied", "killed", "cannot ", "fatal")


class Move(StrEnum):
    """What an author can do about a diagnosis, in the words that it is told."""

    REMOVE_HINTS = "take procedural hints out of the instruction"
    REQUIRE_DIAGNOSIS = "require real diagnosis before anything can be fixed"
    ADD_CAUSE = "add a cause that interacts with the first one"
    CHECK_SOLVABILITY = "check that the task can be solved from its instruction alone"
    STATE_SEMANTICS = "state the semantics that can be read in two ways"
    CHECK_VERIFIER = "check that the verifier demands only what is stated"
    VERIFY_PROPERTY = "verify the property that matters, not one layout of it"
    MAKE_DETERMINISTIC = "make the task deterministic"


MOVES: Mapping[Diagnosis, tuple[Move, ...]] = {
    Diagnosis.TOO_EASY: (Move.REMOVE_HINTS, Move.REQUIRE_DIAGNOSIS, Move.ADD_CAUSE),
    Diagnosis.TOO_HARD: (Move.CHECK_SOLVABILITY, Move.STATE_SEMANTICS, Move.CHECK_VERIFIER),
    Diagnosis.INVERTED: (Move.VERIFY_PROPERTY, Move.MAKE_DETERMINISTIC),
    Diagnosis.OVER_STRICT: (Move.VERIFY_PROPERTY, Move.CHECK_VERIFIER, Move.STATE_SEMANTICS),
}
"""The moves in the order in which they are worth trying."""

SENTENCES: Mapping[Diagnosis, str] = {
    Diagnosis.TOO_EASY: "every solver passed: the task is too easy, or a shallow route leads around it",
    Diagnosis.TOO_HARD: "every solver failed: the task is too hard, says too little, or is broken",
    Diagnosis.INVERTED: "the strong solver failed and the weak one passed: an answer leaks, chance decides, the text"
    " misleads, or the verifier prescribes too much",
    Diagnosis.OVER_STRICT: "the verifier failed work that looks correct",
}


class SolverFeedback(Value):
    """One solver's attempt. finished: it ended its work itself; `ending` says how it ended in any case.
    self_assessment is its own last message, an opinion. failure: why it failed, "" where it did not. trajectory: what
    it did, the middle left out where it is long."""

    name: str
    outcome: Outcome
    checks: tuple[Check, ...]
    steps: int
    finished: bool
    ending: str
    self_assessment: str
    failure: str
    trajectory: str


class Feedback(Value):
    """A round as its author sees it. sentence: the diagnosis in words; reason: the criterion's own words."""

    round: int
    diagnosis: Diagnosis | None
    sentence: str
    reason: str
    moves: tuple[Move, ...]
    solvers: tuple[SolverFeedback, ...]


def make_feedback(
    round: Round, transcripts: Mapping[str, Sequence[TranscriptStep]], budget_chars: int, *, done: str = "done"
) -> Feedback:
    """transcripts: by solver, missing for those that did nothing. budget_chars bounds all trajectories together.

    `done` is the StopReason's value that means that the solver itself ended its work."""
    texts = [transcript_text(transcripts.get(trial.solver, ())) for trial in round.trials]
    shares = share_out([len(text) for text in texts], budget_chars)
    solvers = tuple(
        _solver(trial, transcripts.get(trial.solver, ()), elide_middle(text, share), done)
        for trial, text, share in zip(round.trials, texts, shares, strict=True)
    )
    diagnosis = round.decision.diagnosis
    return Feedback(
        round=round.number,
        diagnosis=diagnosis,
        sentence=SENTENCES[diagnosis] if diagnosis is not None else "",
        reason=round.decision.reason,
        moves=MOVES[diagnosis] if diagnosis is not None else (),
        solvers=solvers,
    )


def _solver(trial: Trial, steps: Sequence[TranscriptStep], trajectory: str, done: str) -> SolverFeedback:
    judged = trial.outcome in (Outcome.PASSED, Outcome.FAILED)
    return SolverFeedback(
        name=trial.solver,
        outcome=trial.outcome,
        checks=tuple(_short(check) for check in _failed_first(trial)[:MOST_CHECKS]),
        steps=trial.steps,
        finished=judged and trial.stop == done,
        ending=_ending(trial, done),
        self_assessment=elide_middle(trial.last_message, LONGEST_MESSAGE),
        failure="; ".join(failure_diagnosis(trial, steps)) if trial.outcome is Outcome.FAILED else "",
        trajectory=trajectory,
    )


def _ending(trial: Trial, done: str) -> str:
    if trial.outcome is Outcome.ERRORED:
        return f"no outcome, since something else failed: {_line(trial.error)}"
    if trial.outcome is Outcome.CANCELLED:
        return "cancelled, since the decision was already made"
    if trial.stop == done:
        return "ended by itself"
    return f"ended by its limit: {trial.stop}" if trial.stop else "ended"


def failure_diagnosis(trial: Trial, steps: Sequence[TranscriptStep]) -> tuple[str, ...]:
    """Why an attempt failed, as far as its verdict and its commands tell: one line a fact."""
    checks = _failed_first(trial)
    failed = [check for check in checks if check.status is not CheckStatus.PASSED]
    lines = [f"{len(failed)} of {len(checks)} checks did not pass"] if checks else ["the verifier reported no checks"]
    lines += [f"{_line(check.name)}: {_line(check.message) or check.status.value}" for check in failed[:10]]
    if trial.verdict is not None and trial.verdict.problem:
        lines.append(f"the verifier had a problem: {_line(trial.verdict.problem)}")
    commands = [step for step in steps if step.command is not None]
    if not commands:
        return (*lines, "it ran no command")
    lines += [f"ran {count} times: {_line(command)}" for command, count in _repeated(commands)]
    lines += [f"near its end, {_exit(step)}: {_line(step.command or '')}" for step in commands[-LAST_COMMANDS:]]
    return (*lines, *_errors_at_end(commands))


def _failed_first(trial: Trial) -> tuple[Check, ...]:
    checks = trial.verdict.checks if trial.verdict is not None else ()
    return tuple(sorted(checks, key=lambda check: check.status is CheckStatus.PASSED))


def _short(check: Check) -> Check:
    name, message = elide_middle(check.name, LONGEST_CHECK), elide_middle(check.message, LONGEST_CHECK)
    return check.model_copy(update={"name": name, "message": message})


def _repeated(commands: Sequence[TranscriptStep]) -> list[tuple[str, int]]:
    """Commands that were given three times or more, the most frequent first."""
    counts = Counter((step.command or "").strip() for step in commands)
    return [(command, count) for command, count in counts.most_common(3) if count >= 3]


def _exit(step: TranscriptStep) -> str:
    return "did not end" if step.exit_code is None else f"exit {step.exit_code}"


def _errors_at_end(commands: Sequence[TranscriptStep]) -> list[str]:
    """The last lines of the last commands' output that look like errors."""
    lines = [line for step in commands[-LAST_COMMANDS:] for line in step.output[-20_000:].splitlines()]
    errors = [line for line in lines if any(word in line.lower() for word in ERROR_WORDS)]
    return [f"error near its end: {_line(line)}" for line in dict.fromkeys(errors[-3:])]


def _line(text: str) -> str:
    """A hostile text as one short line."""
    return " ".join(elide_middle(text, 300).split())
