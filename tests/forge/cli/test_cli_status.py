"""forge status and forge show: on a real ledger, with every kind of candidate in it."""

import json

import pytest

from forge.domain.candidate import CandidateState, Reason
from forge.domain.clue import Clue
from forge.domain.config import Config
from forge.domain.outcome import Check, CheckStatus, Decision, DecisionKind, Diagnosis, Outcome, Round, Trial, Verdict
from forge.storage.ledger import Ledger
from forge.storage.ledger_file import LEDGER_NAME
from forge.storage.ledger_values import RevisionRow, RunRow, ValidationRow
from solvers.model import Message, Reply, Request
from solvers.trajectory import Agent, Step, Trajectory

KEPT, DROPPED, WAITS = (
    Clue(text="A log pipeline is off by hours", id="logs"),
    Clue(text="Git", id="git"),
    Clue(text="C", id="c"),
)

RETAIN = Decision(kind=DecisionKind.RETAIN, reason="strong passes, weak fails")


def revise(diagnosis):
    return Decision(kind=DecisionKind.REVISE, diagnosis=diagnosis, reason=f"found {diagnosis.value}")


def trial(solver, outcome, number, failing=()):
    checks = tuple(
        Check(name=name, status=CheckStatus.FAILED if name in failing else CheckStatus.PASSED)
        for name in ("one", "two")
    )
    verdict = Verdict(reward=float(not failing), passed=not failing, checks=checks)
    facts = {"steps": 3, "stop": "done", "verdict": None if outcome is Outcome.ERRORED else verdict}
    return Trial(solver=solver, solver_digest="d", revision=number, outcome=outcome, **facts)


def passed(solver, number):
    return trial(solver, Outcome.PASSED, number)


def failed(solver, number):
    return trial(solver, Outcome.FAILED, number, failing=("two",))


def put_round(ledger, candidate, number, decision, *trials):
    ledger.rows.put_round(candidate, Round(number=number, task_digest="t", trials=trials, decision=decision))


def put_revision(ledger, number, environment, diff, reason):
    parts = {"instruction": "i", "environment": environment, "verifier": "v", "solution": "s", "metadata": "m"}
    blob = ledger.blobs.put(diff) if diff else ""
    row = RevisionRow(
        candidate="logs", number=number, task_digest="t", tree_blob="", diff_blob=blob, reason=reason, **parts
    )
    ledger.rows.put_revision(row)


@pytest.fixture
def runs(shell):
    """A folder with one run: one candidate kept after three rounds, one discarded, one that waits."""
    with Ledger.open(shell.folder / "runs/demo") as ledger:
        pairs = (("debian:bookworm-slim", "stand-in:1"),)
        config = Config.model_validate({"run": {"name": "demo"}}).model_dump_json()
        ledger.rows.put_run(RunRow(name="demo", config=config, seed=1, substitutes=pairs))
        ledger.rows.put_clues([KEPT, DROPPED, WAITS])
        for number, diagnosis in ((1, Diagnosis.TOO_EASY), (2, Diagnosis.INVERTED)):
            put_round(ledger, "logs", number, revise(diagnosis), passed("strong", number), passed("weak", number))
        put_round(ledger, "logs", 3, RETAIN, passed("strong", 3), failed("weak", 3))
        put_revision(ledger, 1, "e1", b"", "draft")
        put_revision(ledger, 2, "e2", b"--- a/environment/x\n+++ b/environment/x\n", "too_easy")
        finding = {"code": "leaked", "message": "the image holds /tests/x", "detail": ""}
        ledger.rows.put_validation(
            ValidationRow(candidate="logs", revision=2, number=0, stage="structure", ok=False, findings=(finding,))
        )
        ledger.rows.put_candidate("logs", CandidateState.RETAINED, reason=Reason.CRITERION_HELD, rounds=3)
        put_round(ledger, "git", 1, revise(Diagnosis.TOO_HARD), trial("strong", Outcome.ERRORED, 1), failed("weak", 1))
        ledger.rows.put_candidate(
            "git", CandidateState.DISCARDED, reason=Reason.NO_REVISION, detail="no further\nmove", rounds=1
        )
        pay(ledger, "logs", 0.5)
        pay(ledger, "git", None)
    return shell


def pay(ledger, candidate, cost):
    request = Request("m/x", (Message("user", candidate),))

    def work():
        ledger.calls.record(f"{candidate}/draft", request.digest(), 0, request, Reply("a", cost_usd=cost))
        return "done"

    ledger.once(candidate, "draft", work, str)


def test_table_shows_each_candidates_way(runs):
    said = runs.forge("status", "demo")
    assert (said.code, said.err) == (0, "")
    lines = {line.split()[0]: line for line in said.out.splitlines() if line.strip()}
    assert "too easy > inverted > retained" in lines["logs"]
    assert "strong passed, weak failed" in lines["logs"]
    assert "$0.50" in lines["logs"]
    assert "too hard" in lines["git"]
    assert "strong errored, weak failed" in lines["git"]
    assert "no revision: no further move" in lines["git"]
    assert "waiting" in lines["c"]


def test_funnel_and_spend_below_the_table(runs):
    out = runs.forge("status", "demo").out
    assert "3 clues: 1 retained, 1 discarded, 1 waiting" in out or "3 clues: 1 discarded, 1 retained, 1 waiting" in out
    assert "0 within 1, 1 within 5" in out
    assert "$0.50 + 1 call of unknown price for 2 model calls" in out
    assert "debian:bookworm-slim was not to be had; stand-in:1 stood in for it" in out
    assert "rehearsal: the models are programs" in out
    assert "output_tasks/demo/" in out


def test_json_has_the_same_and_an_unknown_price_is_no_number(runs):
    view = json.loads(runs.forge("status", "demo", "--json").out)
    assert [candidate["state"] for candidate in view["candidates"]] == ["retained", "discarded", "waiting"]
    assert view["candidates"][0]["path"] == ["too_easy", "inverted", "retained"]
    assert view["candidates"][0]["last_outcomes"] == {"strong": "passed", "weak": "failed"}
    assert view["spend"]["total"]["usd"] is None
    assert view["spend"]["total"]["known_usd"] == 0.5
    assert view["funnel"]["first_decision"] == {"too_easy": 1, "too_hard": 1}


def test_run_is_the_last_one_by_default_and_may_be_a_folder(runs):
    named = runs.forge("status", "demo").out
    assert runs.forge("status").out == named
    assert runs.forge("status", "runs/demo").out == named


def test_run_that_is_not_there_is_named_with_those_that_are(runs):
    said = runs.forge("status", "dmo")
    assert said.code == 2
    assert "dmo: no such run in runs (there are: demo)" in said.err


def test_no_run_at_all(shell):
    said = shell.forge("status")
    assert said.code == 2
    assert "`forge run` makes one" in said.err


def test_folder_with_a_file_that_is_no_ledger(runs):
    (runs.folder / "runs/demo" / LEDGER_NAME).write_bytes(b"not a database, not at all, by no means" * 100)
    said = runs.forge("status", "demo")
    assert said.code == 3
    assert "Traceback" not in said.err


def test_show_puts_rounds_side_by_side(runs):
    said = runs.forge("show", "demo", "logs")
    assert said.code == 0
    lines = {line.split("  ")[0]: line for line in said.out.splitlines()}
    assert said.out.startswith("logs: retained (criterion held)\nA log pipeline is off by hours\n")
    assert "draft" in lines["changed"]
    assert "environment" in lines["changed"]
    assert "passed 2/2" in lines["weak"]
    assert "failed 1/2" in lines["weak"]
    assert "retained" in said.out
    assert "+++ b/environment/x" in said.out
    assert "leaked: the image holds /tests/x" in said.out
    assert lines["two"].split() == ["two", "passed", "failed"]


def test_show_without_diffs_and_as_json(runs):
    assert "+++" not in runs.forge("show", "demo", "logs", "--no-diffs").out
    view = json.loads(runs.forge("show", "demo", "logs", "--json").out)
    assert view["round_list"][2]["trials"][1]["checks"] == {"one": "passed", "two": "failed"}
    assert view["revisions"][1]["changed"] == ["environment"]
    errored = json.loads(runs.forge("show", "demo", "git", "--json").out)["round_list"][0]["trials"][0]
    assert (errored["outcome"], errored["reward"]) == ("errored", None)


def test_many_rounds_are_wrapped(runs):
    narrow = runs.forge("show", "demo", "logs", "--no-diffs", COLUMNS="60").out
    assert max(len(line) for line in narrow.splitlines()) <= 80
    assert "round 3" in narrow


def test_candidate_that_is_not_there_is_named_with_those_that_are(runs):
    said = runs.forge("show", "demo", "lgs")
    assert said.code == 2
    assert "lgs: no such candidate in this run (there are: logs, git, c)" in said.err


def test_show_a_trial_turn_by_turn_and_as_atif(runs):
    step = Step(step_id=1, source="agent", message="I look.", llm_call_count=0)
    trajectory = Trajectory(agent=Agent(name="strong", version="1"), steps=(step,))
    with Ledger.open(runs.folder / "runs/demo") as ledger:
        blob = ledger.blobs.put(trajectory.to_json().encode())
        ledger.rows.put_trial("logs", 3, passed("strong", 3).model_copy(update={"trajectory_blob": blob}))
    said = runs.forge("show", "demo", "logs", "--trial", "3/strong")
    assert (said.code, said.err) == (0, "")
    assert "I look." in said.out
    assert (
        json.loads(runs.forge("show", "demo", "logs", "--trial", "3/strong", "--json").out)["agent"]["name"] == "strong"
    )
    missing = runs.forge("show", "demo", "logs", "--trial", "3/weak")
    assert missing.code == 2
    assert "it has 3/strong" in missing.err


def test_run_of_another_version_says_so(shell):
    with Ledger.open(shell.folder / "runs" / "old") as ledger:
        ledger.rows.put_run(RunRow(name="old", config='{"author": 3}', versions={"terminal-task-forge": "9.9"}, seed=1))
    got = shell.forge("status", "old")
    assert got.code == 2
    assert got.err.startswith("forge: run old: it was started by another version of this program (9.9)")
