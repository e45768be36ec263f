"""forge validate: task directories, checked by running them."""

import argparse
import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tqdm import tqdm

from forge.cli.config_options import add_config_arguments, load_config
from forge.cli.engines import open_engine
from forge.cli.interrupt import end_on_signals
from forge.cli.output import count, note, print_json, print_text
from forge.cli.usage import UsageError
from forge.domain.task import TaskRefused
from forge.stages.validation import validate_task
from forge.storage.taskdir import read_task
from sandbox.api import Engine, Owner


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("dirs", nargs="+", metavar="DIR", help="a task directory, or a folder of them")
    parser.add_argument("--times", type=int, default=3, metavar="N", help="runs of the solution (default: 3)")
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout")
    add_config_arguments(parser, flags=False)


def main(args: argparse.Namespace) -> int:
    """Exit code 1 when anything is found."""
    config = load_config(args)
    if args.times < 1:
        raise UsageError(f"--times {args.times}: one run of the solution is the least")
    folders = [folder for name in args.dirs for folder in _task_dirs(Path(name))]
    owner = Owner(f"validate-{os.getpid()}")
    results = []
    with end_on_signals(), open_engine(config) as engine:
        try:
            for folder in tqdm(folders, desc="validate", unit="task", disable=None):
                results.append(_result(engine, folder, owner, args.times))
                if not args.json:
                    _print(results[-1])
        finally:
            engine.sweep(owner.run)
    if args.json:
        print_json(results)
    return 0 if all(result["ok"] for result in results) else 1


def _task_dirs(folder: Path) -> Sequence[Path]:
    """The folder itself, or the task directories right below it. Raises UsageError."""
    if not folder.is_dir():
        what = "is a file; name the task's folder" if folder.exists() else "no such directory"
        raise UsageError(f"{folder}: {what}")
    below = sorted(path.parent for path in folder.glob("*/task.toml"))
    return [folder] if (folder / "task.toml").exists() or not below else below


def _result(engine: Engine, folder: Path, owner: Owner, times: int) -> dict[str, Any]:
    try:
        read = read_task(folder)
    except TaskRefused as refused:
        finding = {"code": "refused", "message": str(refused), "detail": ""}
        return {"path": str(folder), "ok": False, "findings": [finding], "warnings": []}
    report = validate_task(engine, read.task, owner, times)
    return {
        "path": str(folder),
        "ok": report.ok,
        "digest": read.task.digest(),
        "findings": [asdict(finding) for finding in report.findings],
        "warnings": list(read.warnings),
        "tests": len(report.untouched.checks) if report.untouched else 0,
        "untouched_reward": report.untouched.reward if report.untouched else None,
        "solution_rewards": [verdict.reward for verdict in report.replays],
        "structure_sec": round(report.structure_sec, 2),
        "replay_sec": [round(seconds, 2) for seconds in report.replay_sec],
    }


def _print(result: dict[str, Any]) -> None:
    with tqdm.external_write_mode():
        print_text("\n".join(_lines(result)))
    for warning in result["warnings"]:
        note(f"{result['path']}: {warning}")


def _lines(result: dict[str, Any]) -> Iterator[str]:
    facts = ""
    if result.get("solution_rewards"):
        rewards = " ".join(_reward(reward) for reward in result["solution_rewards"])
        tests = count(result["tests"], "test") if result["tests"] else "no report per test"
        facts = f"  ({tests}; untouched {_reward(result['untouched_reward'])}; solution {rewards})"
    yield f"{'ok  ' if result['ok'] else 'FAIL'}  {result['path']}{facts}"
    for finding in result["findings"]:
        yield f"      {finding['code']}: {finding['message']}"
        yield from (f"        | {line}" for line in finding["detail"].rstrip().splitlines()[-20:])


def _reward(reward: float | None) -> str:
    return "none" if reward is None else f"{reward:g}"
