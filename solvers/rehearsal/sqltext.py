"""Reading and writing one plain SELECT: a base table, joins, a condition, groups. No dialect, no subqueries."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

TOKEN = re.compile(r"'(?:[^']|'')*'|\"[^\"]*\"|--[^\n]*|/\*.*?\*/|[A-Za-z_]\w*|[0-9.]+|\s+|.", re.DOTALL)
CLAUSE = re.compile(
    r"(?:(?:left|inner|cross|right|full)(?: outer)? )?join|select"
    r"|from|where|group by|having|order by|limit|on|union|with"
)
AGGREGATE = re.compile(r"\b(SUM|COUNT|MIN|MAX|AVG|TOTAL)\s*\(\s*(DISTINCT\s+)?", re.IGNORECASE)
TABLE = re.compile(r"(\w+)(?:\s+(?:AS\s+)?(\w+))?", re.IGNORECASE)
TAIL = ("group by", "having", "order by", "limit")


@dataclass(frozen=True)
class Join:
    """kind: "JOIN", "LEFT JOIN" ... alias: the table's own name where it has none. on: the condition's text."""

    kind: str
    table: str
    alias: str
    on: str

    def key(self) -> str | None:
        """The joined table's column that equals a column of another table, where that is the whole condition."""
        sides = re.fullmatch(r"\s*(\w+)\.(\w+)\s*=\s*(\w+)\.(\w+)\s*", self.on)
        if sides is None or (sides[1] == self.alias) == (sides[3] == self.alias):
            return None
        return sides[2] if sides[1] == self.alias else sides[4]


@dataclass(frozen=True)
class Select:
    """columns, where and tail are text; tail begins with GROUP BY or what else follows the condition."""

    columns: str
    base: str
    joins: tuple[Join, ...]
    where: str
    tail: str

    def text(self) -> str:
        joins = "".join(f"{join.kind} {join.table} {join.alias} ON {join.on}\n" for join in self.joins)
        where = f"WHERE {self.where}\n" if self.where else ""
        return f"SELECT {self.columns}\nFROM {self.base}\n{joins}{where}{self.tail};\n"


def parse(sql: str) -> Select | None:
    """None for anything but one plain SELECT."""
    parts = _clauses(sql.strip().rstrip(";"))
    if len(parts) < 2 or [name for name, _ in parts[:2]] != ["select", "from"]:
        return None
    joins: list[Join] = []
    where, tail = "", ""
    position = 2
    while position < len(parts):
        name, text = parts[position]
        if name.endswith("join") and position + 1 < len(parts) and parts[position + 1][0] == "on":
            table = TABLE.fullmatch(text)
            if table is None:
                return None
            joins.append(Join(name.upper(), table[1], table[2] or table[1], parts[position + 1][1]))
            position += 1
        elif name == "where":
            where = text
        elif name in TAIL:
            tail += f"\n{name.upper()} {text}"
        else:
            return None
        position += 1
    return Select(parts[0][1], parts[1][1], tuple(joins), where, tail.strip())


def _clauses(sql: str) -> list[tuple[str, str]]:
    """(clause in lower case, its text) in order, by the keywords outside of parentheses and quotes."""
    tokens = [token for token in TOKEN.findall(sql) if not token.startswith(("--", "/*"))]
    parts: list[tuple[str, list[str]]] = [("", [])]
    depth = position = 0
    while position < len(tokens):
        depth += {"(": 1, ")": -1}.get(tokens[position], 0)
        length, name = _keyword(tokens, position) if depth == 0 else (0, "")
        if length:
            parts.append((name, []))
        else:
            parts[-1][1].append(tokens[position])
        position += length or 1
    made = [(name, "".join(text).strip()) for name, text in parts]
    return made[1:] if made[0] == ("", "") else made


def _keyword(tokens: Sequence[str], position: int) -> tuple[int, str]:
    """(number of tokens, clause) when a clause begins here, else (0, "")."""
    if not tokens[position].isalpha():
        return 0, ""
    for length in (5, 3, 1):
        words = " ".join("".join(tokens[position : position + length]).lower().split())
        if len(tokens) >= position + length and CLAUSE.fullmatch(words):
            return length, words
    return 0, ""


@dataclass(frozen=True)
class Aggregate:
    """FUNCTION([DISTINCT] inner), at [start, end) of the text it was found in."""

    function: str
    distinct: bool
    inner: str
    start: int
    end: int


def aggregates(text: str) -> list[Aggregate]:
    """The outermost aggregates, in order."""
    found: list[Aggregate] = []
    for match in AGGREGATE.finditer(text):
        if found and match.start() < found[-1].end:
            continue
        end = _closing(text, match.end())
        if end is not None:
            inner = text[match.end() : end].strip()
            found.append(Aggregate(match[1].upper(), bool(match[2]), inner, match.start(), end + 1))
    return found


def _closing(text: str, position: int) -> int | None:
    """Where the parenthesis that was opened before `position` is closed."""
    depth = 1
    for at in range(position, len(text)):
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        if depth == 0:
            return at
    return None


def aliases(text: str) -> set[str]:
    """The tables that an expression takes columns from."""
    return set(re.findall(r"\b([A-Za-z_]\w*)\.\w", re.sub(r"'(?:[^']|'')*'", "''", text)))


def conditions(where: str) -> list[str]:
    """The parts of a condition that all have to hold; one part where there is an OR or a BETWEEN outside of them."""
    if re.search(r"\b(or|between|case)\b", where, re.IGNORECASE):
        return [where] if where else []
    return [part.strip() for part in re.split(r"\band\b", where, flags=re.IGNORECASE) if part.strip()]
