"""Sums that count double since a query joins several rows of one table with several rows of another."""

import json
import re
from dataclasses import replace

from solvers.rehearsal import shell, sqltext
from solvers.rehearsal.phrases import chosen
from solvers.rehearsal.sqltext import Aggregate, Join, Select
from solvers.rehearsal.technique import Move, View

DATABASES = (".db", ".sqlite", ".sqlite3")
INCLUDED = (
    r"(?:also |still )?(?:counts?\b|belongs?\b|appears?\b|stays?\b|(?:are|is) (?:included|counted|listed|part|kept)\b)"
)
EXCLUDED = r"(?:(?:are|is) (?:left out|excluded|ignored|skipped|not\b)|(?:do|does|must) not\b|stays? out\b|never\b)"
COUNT = """\
import json, sqlite3, sys

db = sqlite3.connect(f"file:{sys.argv[1]}?mode=ro", uri=True)
for table, key in (pair.split(".") for pair in sys.argv[2:]):
    rows, keys = db.execute(f'SELECT COUNT("{key}"), COUNT(DISTINCT "{key}") FROM "{table}"').fetchone()
    print(json.dumps({"table": table, "key": key, "rows": rows, "keys": keys}))
"""


class FanOut:
    """Count how many rows each joined table has for one row of the base; sum those with several up before joining."""

    name = "aggregate before joining"
    names = ("fan-out", "fan out", "fanout", "aggregate each table before", "pre-aggregate", "aggregate before joining")

    def probe(self, view: View) -> Move | None:
        databases = view.named(DATABASES)
        found = _query(view)
        if not databases or found is None:
            return None
        path, select = found
        tables = ", ".join(join.table for join in select.joins)
        return Move(f"{path} joins {tables}. How many rows does each have for one key?", _count(databases[0], select))

    def act(self, view: View) -> Move | None:
        databases = view.named(DATABASES)
        found = _query(view)
        if not databases or found is None:
            return None
        path, select = found
        output = view.output_of(_count(databases[0], select))
        many = _several(output.stdout) if output else set()
        joins = [join for join in select.joins if (join.table, join.key()) in many]
        repaired = _repaired(select, joins, view.prose())
        if repaired is None:
            return None
        names = " and ".join(join.table for join in joins)
        thought = f"Several rows of {names} meet for one row, so sums repeat. I sum each up before it is joined."
        return Move(thought, shell.write_file(path, repaired.text()))


def _query(view: View) -> tuple[str, Select] | None:
    """The first file that is one SELECT with aggregates over joined tables."""
    for path in view.named((".sql",)):
        select = sqltext.parse(view.files.get(path, ""))
        if select is not None and any(join.key() for join in select.joins) and sqltext.aggregates(select.columns):
            return path, select
    return None


def _count(database: str, select: Select) -> str:
    pairs = [f"{join.table}.{join.key()}" for join in select.joins if join.key()]
    return shell.run_python(COUNT, database, *pairs)


def _several(shown: str) -> set[tuple[str, str]]:
    """(table, key) of the tables that have several rows for a key."""
    found = set()
    for line in shown.splitlines():
        try:
            row = json.loads(line)
        except ValueError:
            continue
        rows, keys = (row.get("rows"), row.get("keys")) if isinstance(row, dict) else (None, None)
        if isinstance(rows, int) and isinstance(keys, int) and rows > keys > 0:
            found.add((str(row.get("table")), str(row.get("key"))))
    return found


def _repaired(select: Select, joins: list[Join], prose: str) -> Select | None:
    """The query with those joins summed up first; None where nothing repeats, or where the query is too intricate."""
    rest = [found for found in sqltext.aggregates(select.columns) if not _of(found, joins)]
    if not joins or (len(joins) < 2 and not rest):
        return None
    for join in joins:
        made = _summed_up(select, join, _outer(join, prose))
        if made is None:
            return None
        select = made
    return select


def _of(aggregate: Aggregate, joins: list[Join]) -> bool:
    return any(sqltext.aliases(aggregate.inner) == {join.alias} for join in joins)


def _outer(join: Join, prose: str) -> bool:
    """Whether rows without a match are kept: what the documents say of them, else what the query does."""
    noun = re.sub(r"s$", "", join.table.split("_")[-1].lower())
    without = rf"without (?:any |an? )?(?:\w+ )?{re.escape(noun)}s? "
    return chosen(prose, (without + INCLUDED,), (without + EXCLUDED,), default="LEFT" in join.kind)


def _summed_up(select: Select, join: Join, outer: bool) -> Select | None:
    """The query with one table summed up by its key before it is joined."""
    inner, columns = [], select.columns
    for number, found in reversed(list(enumerate(sqltext.aggregates(columns)))):
        if sqltext.aliases(found.inner) != {join.alias}:
            continue
        if found.function == "AVG":
            return None
        name = f"part_{number}"
        inner.append(f"{found.function}({_bare(found.inner, join.alias)}) AS {name}")
        again = found.function if found.function in ("MIN", "MAX") else "SUM"
        value = f"{again}({join.alias}.{name})"
        columns = columns[: found.start] + (f"COALESCE({value}, 0)" if outer else value) + columns[found.end :]
    own = [part for part in sqltext.conditions(select.where) if sqltext.aliases(part) == {join.alias}]
    others = [part for part in sqltext.conditions(select.where) if part not in own]
    elsewhere = sqltext.aliases(" ".join([*others, select.tail]))
    outside = re.sub(rf"\b{join.alias}\.part_\d+\b", "", columns)
    if join.alias in elsewhere | sqltext.aliases(outside):
        return None
    where = f" WHERE {_bare(' AND '.join(own), join.alias)}" if own else ""
    key = join.key()
    table = f"(SELECT {', '.join([str(key), *reversed(inner)])} FROM {join.table}{where} GROUP BY {key})"
    kind = "LEFT JOIN" if outer else "JOIN"
    joins = tuple(replace(other, kind=kind, table=table) if other == join else other for other in select.joins)
    return replace(select, columns=columns, joins=joins, where=" AND ".join(others))


def _bare(expression: str, alias: str) -> str:
    """The expression without the table's name before its columns."""
    return re.sub(rf"\b{re.escape(alias)}\.", "", expression)
