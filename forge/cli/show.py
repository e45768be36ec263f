"""forge show: one candidate, its rounds side by side, its diffs, its trials with their checks."""

import argparse
import shutil
from collections.abc import Iterator, Sequence

from forge.cli.candidate_view import PARTS, full_view
from forge.cli.output import count, print_json, print_table, print_text
from forge.cli.run_dirs import add_run_argument, find_run
from forge.cli.run_view import JSON
from forge.cli.usage import UsageError
from forge.domain.transcript import transcript_text
from forge.factory.transcripts import transcript_of
from forge.storage.ledger_reader import LedgerReader

COLUMN = 24
"""Width that a round takes, on average; how many stand side by side follows from the terminal's."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_run_argument(parser, optional=False)
    parser.add_argument("candidate", metavar="CANDIDATE", help="a candidate's id, as `forge status` prints it")
    parser.add_argument("--no-diffs", action="store_true", help="leave the diffs between revisions out")
    parser.add_argument("--trial", metavar="ROUND/SOLVER", help="what a solver did, turn by turn, as in 2/strong")
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout; of a trial, its ATIF")


def main(args: argparse.Namespace) -> int:
    """Raises UsageError."""
    with LedgerReader(find_run(args)) as reader:
        view = full_view(reader, args.candidate)
        if args.trial is not None:
            trajectory = _trajectory(reader, args.candidate, args.trial)
            print_text(trajectory.decode() if args.json else transcript_text(transcript_of(trajectory)))
            return 0
    if args.json:
        print_json(view)
    else:
        _print(view, diffs=not args.no_diffs)
    return 0


def _trajectory(reader: LedgerReader, candidate: str, place: str) -> bytes:
    """place: "ROUND/SOLVER". Raises UsageError."""
    trials = {f"{trial.revision}/{trial.solver}": trial for trial in reader.trials(candidate) if trial.trajectory_blob}
    if place not in trials:
        raise UsageError(f"--trial: {candidate} has no trajectory {place}; it has {', '.join(trials) or 'none'}")
    return reader.blobs.get(trials[place].trajectory_blob)


def _print(view: JSON, diffs: bool) -> None:
    why = ": ".join(filter(None, (view["reason"].replace("_", " "), view["detail"])))
    print_text(f"{view['id']}: {view['state']}{f' ({why})' if why else ''}\n{view['clue']}")
    rounds = view["round_list"]
    at_once = max(1, shutil.get_terminal_size((120, 24)).columns // COLUMN - 1)
    for start in range(0, len(rounds), at_once):
        print()
        _print_side_by_side(view["revisions"], rounds[start : start + at_once])
    for problem in _problems(view["validations"]):
        print_text(problem)
    if rounds:
        _print_checks(rounds[-1])
    if diffs:
        for revision in view["revisions"]:
            if revision["diff"]:
                print_text(
                    f"\nrevision {revision['number']} ({revision['reason'].replace('_', ' ')})\n{revision['diff']}",
                    end="",
                )


def _print_side_by_side(revisions: Sequence[JSON], rounds: Sequence[JSON]) -> None:
    by_number = {revision["number"]: revision for revision in revisions}
    rows: list[list[str]] = [["changed", *(_changed(by_number.get(round["number"])) for round in rounds)]]
    solvers = dict.fromkeys(trial["solver"] for round in rounds for trial in round["trials"])
    for solver in solvers:
        trials = [next((trial for trial in round["trials"] if trial["solver"] == solver), None) for round in rounds]
        rows.append([solver, *(_outcome(trial) for trial in trials)])
        rows.append(["", *(_effort(trial) for trial in trials)])
    rows.append(["decision", *(round["word"].replace("_", " ") for round in rounds)])
    print_table(["", *(f"round {round['number']}" for round in rounds)], rows)
    for round in rounds:
        if round["reason"]:
            print_text(f"  round {round['number']}: {round['reason']}")


def _changed(revision: JSON | None) -> str:
    if revision is None:
        return ""
    if revision["number"] == 1:
        return "draft"
    return ", ".join(part for part in PARTS if part in revision["changed"]) or "nothing"


def _outcome(trial: JSON | None) -> str:
    if trial is None:
        return "-"
    checks = f" {trial['checks_passed']}/{len(trial['checks'])}" if trial["checks"] else ""
    return f"{trial['outcome']}{checks}{' (regraded)' if trial['regraded_from'] is not None else ''}"


def _effort(trial: JSON | None) -> str:
    if trial is None:
        return ""
    return trial["error"][:COLUMN] if trial["error"] else f"{count(trial['steps'], 'step')}, {trial['stop']}"


def _problems(validations: Sequence[JSON]) -> Iterator[str]:
    for row in validations:
        for finding in row["findings"]:
            yield f"  revision {row['revision']}, {row['stage']}: {finding.get('code')}: {finding.get('message')}"


def _print_checks(round: JSON) -> None:
    """The last round's checks, one row each."""
    judged = [trial for trial in round["trials"] if trial["checks"]]
    names = dict.fromkeys(name for trial in judged for name in trial["checks"])
    if names:
        print()
        rows = [[name, *(trial["checks"].get(name, "-") for trial in judged)] for name in names]
        print_table([f"check (round {round['number']})", *(trial["solver"] for trial in judged)], rows)
