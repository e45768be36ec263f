"""Sources that lose the UTC offset, in many ways, and what the technique makes of them."""

from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from solvers.rehearsal.utc_offsets import UtcOffsets, repair
from tests.solvers.rehearsal.places import work

FROM = "from datetime import datetime"
LOSING = {
    "cut": (FROM, "datetime.fromisoformat(text[:19])"),
    "cut from the end": (FROM, "datetime.fromisoformat(text[:-6])"),
    "strptime of a cut": (FROM, 'datetime.strptime(text[:19], "%Y-%m-%dT%H:%M:%S")'),
    "split": (FROM, 'datetime.fromisoformat(text.split("+")[0])'),
    "dropped": (FROM, "datetime.fromisoformat(text).replace(tzinfo=None)"),
    "labelled": (f"{FROM}, timezone", "datetime.fromisoformat(text).replace(tzinfo=timezone.utc)"),
    "cut and labelled": (f"{FROM}, timezone", "datetime.fromisoformat(text[:19]).replace(tzinfo=timezone.utc)"),
    "by a pattern": (f"import re\n{FROM}", r'datetime.fromisoformat(re.sub(r"[+-]\d\d:\d\d$", "", text))'),
    "whole module": ("import datetime", "datetime.datetime.fromisoformat(text[:19])"),
    "other name": ("import datetime as dt", "dt.datetime.fromisoformat(text[:19])"),
}
KEEPING = {
    "converted": "datetime.fromisoformat(text).astimezone(timezone.utc)",
    "converted, then naive": "datetime.fromisoformat(text).astimezone(timezone.utc).replace(tzinfo=None)",
    "a day": "date.fromisoformat(text[:10])",
    "aware": "datetime.fromisoformat(text)",
}


def parse_with(source: str) -> Any:
    names: dict[str, Any] = {}
    exec(compile(source, "clock.py", "exec"), names)
    return names["parse"]


@pytest.mark.parametrize("way", LOSING)
def test_a_repaired_source_gives_utc(way: str, tmp_path: Path) -> None:
    imports, expression = LOSING[way]
    clock = tmp_path / "clock.py"
    clock.write_text(f'{imports}\n\n\ndef parse(text):\n    """A time."""\n    return {expression}\n')
    (tmp_path / "visits.log").write_text("2024-05-01T01:30:00+02:00 in\n")
    before = parse_with(clock.read_text())("2024-05-01T01:30:00+02:00")
    assert before.replace(tzinfo=None) == datetime(2024, 5, 1, 1, 30)
    assert work(UtcOffsets(), tmp_path, "The hours are wrong.")
    for text in ("2024-05-01T01:30:00+02:00", "2024-04-30T18:30:00-05:00"):
        after = parse_with(clock.read_text())(text)
        assert after.replace(tzinfo=None) == datetime(2024, 4, 30, 23, 30)
        assert (after.tzinfo is None) == (before.tzinfo is None)


def test_a_cut_that_is_given_a_name_first(tmp_path: Path) -> None:
    clock = tmp_path / "clock.py"
    clock.write_text(
        f'{FROM}\n\ndef parse(text):\n    short = text[:19]\n    return datetime.strptime(short, "%Y-%m-%dT%H:%M:%S")\n'
    )
    (tmp_path / "a.csv").write_text("at,n\n2024-05-01T01:30:00+02:00,1\n")
    assert work(UtcOffsets(), tmp_path, "")
    assert parse_with(clock.read_text())("2024-05-01T01:30:00+02:00") == datetime(2024, 4, 30, 23, 30)


@pytest.mark.parametrize("way", KEEPING)
def test_a_source_that_keeps_it_is_left_alone(way: str) -> None:
    assert (
        repair("a.py", f"from datetime import date, datetime, timezone\n\ndef f(text):\n    return {KEEPING[way]}\n")
        == []
    )


def test_without_an_offset_in_the_data_nothing_is_done(tmp_path: Path) -> None:
    (tmp_path / "clock.py").write_text(f"{FROM}\n\ndef parse(text):\n    return datetime.fromisoformat(text[:19])\n")
    (tmp_path / "visits.log").write_text("2024-05-01T01:30:00 in\n")
    assert work(UtcOffsets(), tmp_path, "") == []
