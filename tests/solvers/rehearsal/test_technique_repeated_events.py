"""Events that come twice: found in the data, and counted as the documents say."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from solvers.rehearsal.repeated_events import RepeatedEvents
from tests.solvers.rehearsal.places import work

WHOLE = """\
import json, sys

def read(path):
    for line in open(path):
        yield json.loads(line)

def all_of(paths):
    for path in paths:
        yield from read(path)

print(sum(event["kg"] for event in all_of(sys.argv[1:])))
"""
RECORDS = """\
import json, sys
from collections import namedtuple
Event = namedtuple("Event", "msg kg")

def read(path):
    for line in open(path):
        yield Event(**json.loads(line))

print(sum(event.kg for event in read(sys.argv[1])))
"""
ONCE = ["A parcel that is sent again counts only once.", "Repeats are ignored.", "It must not be counted twice.", ""]
EACH = ["Each line counts on its own.", "A scan counts each time.", "It is counted as often as it arrives."]


def total(tmp_path: Path, source: str, sentence: str, files: dict[str, list[dict[str, object]]]) -> float:
    (tmp_path / "count.py").write_text(source)
    (tmp_path / "README.md").write_text(f"# Scans\n\n{sentence}\n")
    for name, events in files.items():
        (tmp_path / name).write_text("".join(json.dumps(event) + "\n" for event in events))
    work(RepeatedEvents(), tmp_path, "Count them.")
    argv = [sys.executable, str(tmp_path / "count.py"), *(str(tmp_path / name) for name in files)]
    return float(subprocess.run(argv, capture_output=True, text=True, check=True).stdout)


A, B, C = ({"msg": name, "kg": kg} for name, kg in (("a", 1), ("b", 10), ("c", 100)))


@pytest.mark.parametrize("sentence", ONCE)
def test_once_across_files(sentence: str, tmp_path: Path) -> None:
    assert total(tmp_path, WHOLE, sentence, {"x.jsonl": [A, B, B], "y.jsonl": [A, C]}) == 111


@pytest.mark.parametrize("sentence", EACH)
def test_each_time_where_it_is_stated(sentence: str, tmp_path: Path) -> None:
    assert total(tmp_path, WHOLE, sentence, {"x.jsonl": [A, B, B], "y.jsonl": [A, C]}) == 122


def test_events_that_are_records(tmp_path: Path) -> None:
    assert total(tmp_path, RECORDS, ONCE[0], {"x.jsonl": [A, B, B, C]}) == 111


def test_without_repeats_the_source_stays_as_it_is(tmp_path: Path) -> None:
    assert total(tmp_path, WHOLE, ONCE[0], {"x.jsonl": [A, B, C]}) == 111
    assert (tmp_path / "count.py").read_text() == WHOLE
