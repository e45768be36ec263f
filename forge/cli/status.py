"""forge status: a run's candidates, funnel and spend."""

import argparse
from collections.abc import Iterator
from typing import Any

from forge.cli.output import count, print_json, print_table, usd
from forge.cli.run_dirs import add_run_argument, find_run
from forge.cli.run_view import JSON, run_view
from forge.storage.ledger_reader import LedgerReader

HEADER = ("candidate", "rounds", "what each round found", "state", "last round", "spend", "why")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_run_argument(parser, optional=True)
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout")


def main(args: argparse.Namespace) -> int:
    """Reading needs no lock: a run that is at work can be looked at."""
    with LedgerReader(find_run(args)) as reader:
        view = run_view(reader)
    if args.json:
        print_json(view)
    else:
        print_run(view)
    return 0


def print_run(view: JSON) -> None:
    """The table, the funnel and the spend of a run on stdout."""
    rehearsal = ", rehearsal: the models are programs" if view["rehearsal"] else ""
    print(f"run {view['run']}: {view['strategy']}, seed {view['seed']}{rehearsal}\n")
    print_table(HEADER, [_row(candidate) for candidate in view["candidates"]])
    print()
    for line in (*_funnel(view["funnel"]), *_spend(view["spend"])):
        print(line)
    for asked, used in view["substitutes"]:
        print(f"images    {asked} was not to be had; {used} stood in for it")
    if view["funnel"]["by_state"].get("retained"):
        print(f"kept      in {view['out']}/")


def _row(candidate: JSON) -> tuple[str, ...]:
    last = ", ".join(f"{solver} {outcome}" for solver, outcome in candidate["last_outcomes"].items())
    reason = candidate["reason"].replace("_", " ")
    why = "" if candidate["state"] == "retained" else ": ".join(filter(None, (reason, candidate["detail"])))
    return (
        candidate["id"],
        str(candidate["rounds"]),
        _path(candidate["path"]),
        candidate["state"],
        last,
        _paid(candidate["spend"]),
        " ".join(why.split()),
    )


def _path(words: list[str]) -> str:
    """Rounds in order; equal ones in a row are counted."""
    parts: list[list[Any]] = []
    for word in words:
        if parts and parts[-1][0] == word:
            parts[-1][1] += 1
        else:
            parts.append([word, 1])
    return " > ".join(f"{word.replace('_', ' ')}{f' x{times}' if times > 1 else ''}" for word, times in parts)


def _funnel(funnel: JSON) -> Iterator[str]:
    states = ", ".join(f"{number} {state}" for state, number in funnel["by_state"].items())
    waiting = funnel["clues"] - sum(funnel["by_state"].values())
    states += f"{', ' if states else ''}{waiting} waiting" if waiting else ""
    yield f"funnel    {count(funnel['clues'], 'clue')}: {states}"
    if funnel["first_decision"]:
        words = {"retain": "on target"}
        first = ", ".join(
            f"{number} {words.get(word, word.replace('_', ' '))}" for word, number in funnel["first_decision"].items()
        )
        yield f"          at first {first}"
    within = funnel["retained_within_rounds"]
    retained = funnel["by_state"].get("retained", 0)
    if retained:
        enough = next((limit for limit, number in within.items() if number == retained), None)
        told = [limit for limit in within if enough is None or int(limit) <= int(enough)]
        yield f"          retained {', '.join(f'{within[limit]} within {limit}' for limit in told)} rounds"


def _spend(spend: JSON) -> Iterator[str]:
    yield f"spend     {_paid(spend['total'])} for {count(spend['total']['calls'], 'model call')}"
    if spend["lost"]["calls"]:
        yield f"          {_paid(spend['lost'])} of it lost ({count(spend['lost']['calls'], 'call')})"


def _paid(spend: JSON) -> str:
    if spend["usd"] is None:
        return f"{usd(spend['known_usd'])} + {count(spend['calls_of_unknown_price'], 'call')} of unknown price"
    return usd(spend["usd"])
