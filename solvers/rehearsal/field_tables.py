"""Reading a binary format out of a document: Markdown tables of fields, and what the text says about them."""

import re
from dataclasses import dataclass

OFFSET = ("offset", "at", "start", "position", "byte")
SIZE = ("size", "bytes", "length", "width", "len")
TYPE = ("type", "kind", "format", "encoding")
NAME = ("field", "name", "column")
SCALE = ("scale", "step", "factor", "resolution", "multiplier")
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
BITS = re.compile(r"(8|16|32|64)\b|(8|16|32|64)(?=_|le|be)")
UNSIGNED = re.compile(r"\bu(?:int|nsigned)?\d*|\bbyte\b|\bword\b")
SIGNED = re.compile(r"\b(?:s|i|int|signed)\d*")
FLOATING = re.compile(r"\b(?:f\d|float|double|real)")
LITTLE = re.compile(r"little[- ]endian|least significant byte first|lsb first|\ble\b|intel order")
BIG = re.compile(r"big[- ]endian|most significant byte first|msb first|\bbe\b|network (?:byte )?order")
BEGIN = re.compile(
    r"(?:records?|entries|data|samples?) (?:begin|start|follow)s? (?:at|from|with) (?:byte|offset) (\d+)"
)
HEADER_SIZE = re.compile(r"header (?:is|has|takes|of) (\d+) bytes")
RECORD_SIZE = re.compile(r"(?:records?|entries|entry|samples?) (?:is|are|has|have|takes?|of) (\d+) bytes")
MOST = 1 << 20
Row = dict[str, str]


@dataclass(frozen=True)
class Field:
    """kind: "unsigned", "signed", "float" or "text". scale: a decimal number as text, or "". note: all other cells."""

    name: str
    offset: int
    size: int
    kind: str
    scale: str = ""
    note: str = ""

    @property
    def end(self) -> int:
        return self.offset + self.size


@dataclass(frozen=True)
class BinaryFormat:
    """begin: offset of the first record. count: the header's field that says how many there are, None to read on to the
    end. size: of one record."""

    order: str
    begin: int
    size: int
    count: Field | None
    fields: tuple[Field, ...]


def read(document: str) -> BinaryFormat | None:
    """The format that a document describes; None where it holds no table of fields."""
    tables = [(heading, fields) for heading, rows in _tables(document) if (fields := _fields(rows))]
    if not tables:
        return None
    header = next((fields for heading, fields in tables if "header" in heading), ())
    others = [(heading, fields) for heading, fields in tables if "header" not in heading]
    if not others:
        return None
    named = [fields for heading, fields in others if re.search(r"record|entr|sample|reading", heading)]
    fields = (named or [fields for _, fields in others])[0]
    prose = re.sub(r"\s+", " ", document.replace("`", "")).lower()
    said = BEGIN.search(prose) or HEADER_SIZE.search(prose)
    size = RECORD_SIZE.search(prose)
    little, big = LITTLE.search(prose), BIG.search(prose)
    return BinaryFormat(
        order="big" if big and not little else "little",
        begin=_number(said.group(1)) if said else max((field.end for field in header), default=0),
        size=_number(size.group(1)) if size else max(field.end for field in fields),
        count=next((field for field in header if _counts(field)), None),
        fields=fields,
    )


def _counts(field: Field) -> bool:
    words = f"{field.name} {field.note}".lower()
    return field.kind == "unsigned" and bool(re.search(r"\bcount|_count|number of (?:records|entries|samples)", words))


def _tables(document: str) -> list[tuple[str, list[Row]]]:
    """(the heading that a table stands under, its rows by lower-case column name), in order."""
    found: list[tuple[str, list[Row]]] = []
    heading, columns = "", None
    for line in document.splitlines():
        cells = [cell.strip().strip("`") for cell in line.strip().strip("|").split("|")] if "|" in line else None
        if line.startswith("#"):
            heading = line.strip("# ").lower()
        if cells is None:
            columns = None
        elif columns is None:
            columns = [cell.lower() for cell in cells]
            found.append((heading, []))
        elif not all(re.fullmatch(r":?-+:?", cell) for cell in cells):
            found[-1][1].append(dict(zip(columns, cells, strict=False)))
    return found


def _fields(rows: list[Row]) -> tuple[Field, ...]:
    """The fields of a table that has names, and sizes or types with a size; missing offsets are counted."""
    fields: list[Field] = []
    for row in rows:
        name, kind = _cell(row, NAME), _cell(row, TYPE)
        bits = BITS.search(kind.lower())
        size = _number(_cell(row, SIZE)) or (int(bits.group(0)) // 8 if bits else _number(kind))
        if not name or not kind or not size:
            return ()
        offset = _cell(row, OFFSET)
        at = _number(offset) if offset[:1].isdigit() else fields[-1].end if fields else 0
        scale = _cell(row, SCALE)
        note = " ".join(value for value in row.values() if value not in (name, kind, offset, scale))
        fields.append(Field(name, at, size, _kind(kind.lower(), size), scale if NUMBER.fullmatch(scale) else "", note))
    return tuple(fields)


def _cell(row: Row, names: tuple[str, ...]) -> str:
    return next((row[name] for name in names if name in row), "")


def _kind(kind: str, size: int) -> str:
    if FLOATING.search(kind):
        return "float"
    if size not in (1, 2, 3, 4, 8) or re.search(r"char|text|ascii|string|utf", kind):
        return "text"
    if UNSIGNED.search(kind):
        return "unsigned"
    return "signed" if SIGNED.search(kind) else "unsigned"


def _number(text: str) -> int:
    digits = re.search(r"\d+", text)
    return min(int(digits.group(0)), MOST) if digits and len(digits.group(0)) < 10 else 0
