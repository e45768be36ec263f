"""Queries of several kinds repaired for real: what they say afterwards is what the rows come to."""

import sqlite3
from pathlib import Path

import pytest

from solvers.rehearsal import sqltext
from solvers.rehearsal.fan_out import FanOut
from tests.solvers.rehearsal.places import work

SCHEMA = """
CREATE TABLE farms (id INTEGER, name TEXT);
CREATE TABLE visits (id INTEGER, farm_id INTEGER, fee INTEGER, kind TEXT);
CREATE TABLE samples (visit_id INTEGER, grams INTEGER, kind TEXT);
CREATE TABLE bills (visit INTEGER, cents INTEGER);
INSERT INTO farms VALUES (1, 'North'), (2, 'South');
INSERT INTO visits VALUES (1, 1, 10, 'a'), (2, 1, 20, 'a'), (3, 2, 40, 'b'), (4, 2, 80, 'a');
INSERT INTO samples VALUES (1, 5, 'soil'), (1, 5, 'soil'),
  (2, 7, 'soil'), (3, 1, 'leaf'), (3, 2, 'soil'), (4, 9, 'soil');
INSERT INTO bills VALUES (1, 100), (1, 100), (2, 50), (3, 30), (3, 3);
"""
TWO_SIDES = """-- by farm
select f.name, count(*) as visits, sum(s.grams) as grams, Sum(b.cents) as cents
from visits v join farms f on f.id = v.farm_id
inner join samples s on v.id = s.visit_id join bills as b on b.visit = v.id
{where} group by f.name order by f.name
"""
ONE_SIDE = "SELECT f.name, SUM(v.fee), COUNT(s.grams), MAX(s.grams) FROM visits v JOIN farms f ON f.id = v.farm_id\n"
ONE_SIDE += "JOIN samples s ON s.visit_id = v.id GROUP BY f.name ORDER BY f.name;\n"


def rows_after(root: Path, query: str, prose: str = "") -> list[tuple[object, ...]]:
    with sqlite3.connect(root / "farm.db") as db:
        db.executescript(SCHEMA)
    (root / "report.sql").write_text(query)
    work(FanOut(), root, f"Repair `{root}/report.sql`. {prose}")
    with sqlite3.connect(root / "farm.db") as db:
        return list(db.execute((root / "report.sql").read_text()))


def test_two_tables_with_several_rows_each(tmp_path: Path) -> None:
    assert rows_after(tmp_path, TWO_SIDES.format(where="")) == [("North", 2, 17, 250), ("South", 1, 3, 33)]


@pytest.mark.parametrize(
    ("prose", "south"),
    [
        ("Visits without a bill count as well.", ("South", 2, 12, 33)),
        ("Visits without any bill are included, with nothing.", ("South", 2, 12, 33)),
        ("Visits without any bill are left out.", ("South", 1, 3, 33)),
        ("Visits without bills do not count.", ("South", 1, 3, 33)),
    ],
)
def test_rows_without_a_match_as_the_text_says(tmp_path: Path, prose: str, south: tuple[object, ...]) -> None:
    assert rows_after(tmp_path, TWO_SIDES.format(where=""), prose)[1] == south


def test_conditions_stay_where_they_belong(tmp_path: Path) -> None:
    where = "where s.kind = 'soil' and v.kind <> 'x'"
    assert rows_after(tmp_path, TWO_SIDES.format(where=where)) == [("North", 2, 17, 250), ("South", 1, 2, 33)]


def test_one_table_beside_sums_of_the_base(tmp_path: Path) -> None:
    assert rows_after(tmp_path, ONE_SIDE) == [("North", 30, 3, 7), ("South", 120, 3, 9)]


def test_a_query_without_repetition_is_left_alone(tmp_path: Path) -> None:
    query = "SELECT f.name, SUM(v.fee) FROM visits v JOIN farms f ON f.id = v.farm_id GROUP BY f.name;\n"
    rows_after(tmp_path, query)
    assert (tmp_path / "report.sql").read_text() == query


def test_a_column_of_a_repeating_table_outside_of_sums_is_too_intricate(tmp_path: Path) -> None:
    query = TWO_SIDES.format(where="").replace("group by f.name", "group by f.name, s.kind")
    rows_after(tmp_path, query)
    assert (tmp_path / "report.sql").read_text() == query


@pytest.mark.parametrize(
    "text",
    [
        "",
        ";",
        "SELECT 1",
        "SELECT a FROM b UNION SELECT c FROM d",
        "WITH x AS (SELECT 1) SELECT * FROM x",
        "JOIN ON FROM",
    ],
)
def test_what_is_no_plain_select_is_not_parsed(text: str) -> None:
    assert sqltext.parse(text) is None


def test_keywords_in_quotes_and_parentheses_are_text() -> None:
    made = sqltext.parse("SELECT SUM(a) AS 'from here' FROM t u WHERE x IN (SELECT y FROM z WHERE w) LIMIT 3")
    assert made is not None
    assert (made.columns, made.base, made.tail) == ("SUM(a) AS 'from here'", "t u", "LIMIT 3")
    assert made.where == "x IN (SELECT y FROM z WHERE w)"
