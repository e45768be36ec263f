"""Formats read out of documents of several styles, and records decoded for real."""

import csv
import struct
from pathlib import Path

import pytest

from solvers.rehearsal.binary_records import BinaryRecords
from solvers.rehearsal.field_tables import read
from tests.solvers.rehearsal.places import work

DOCUMENT = """\
# Dumps

All numbers are {order}-endian.

## Header

| offset | size | type | field | meaning |
|---|---|---|---|---|
| 0 | 4 | text | `magic` | |
| 4 | 2 | u16 | `n` | number of records |

The records begin at byte 8.

## Entry

| offset | size | type | field | meaning | scale |
|---|---|---|---|---|---|
| 0 | 2 | {signed} | `depth` | measured | 0.05 |
| 2 | 1 | {unsigned} | `flags` | bit 3: deleted | |
| 3 | 4 | {text} | `tag` | padded with zero bytes | |
| 7 | 4 | float32 | `ratio` | | |

A record is 12 bytes long: an entry takes 12 bytes. {sentence}
"""
STYLES = [("i16", "u8", "char[4]"), ("signed", "unsigned", "ASCII"), ("int16_t", "uint8_t", "string")]
ROWS = [(-41, 0, b"ab", 0.5), (300, 0b1000, b"gone", 2.0), (20, 0b0111, b"x, y", -1.25)]


def dumps(root: Path, order: str, style: tuple[str, str, str], sentence: str = "") -> str:
    mark = "<" if order == "little" else ">"
    signed, unsigned, text = style
    (root / "docs").mkdir()
    document = DOCUMENT.format(order=order, signed=signed, unsigned=unsigned, text=text, sentence=sentence)
    (root / "docs/FORMAT.md").write_text(document)
    records = b"".join(struct.pack(mark + "hB4sfx", *row) for row in ROWS)
    (root / "dumps").mkdir()
    (root / "dumps/one.dmp").write_bytes(struct.pack(mark + "4sHxx", b"DUMP", 3) + records + b"\xff" * 30)
    return f"Each `{root}/dumps/UNIT.dmp` becomes `{root}/csv/UNIT.csv` with the columns `tag`, `depth`, `ratio`."


def table(root: Path) -> list[list[str]]:
    with open(root / "csv/one.csv", newline="") as file:
        return list(csv.reader(file))


@pytest.mark.parametrize("order", ["little", "big"])
@pytest.mark.parametrize("style", STYLES)
def test_records_are_decoded(order: str, style: tuple[str, str, str], tmp_path: Path) -> None:
    assert work(BinaryRecords(), tmp_path, dumps(tmp_path, order, style))
    assert table(tmp_path) == [["tag", "depth", "ratio"], ["ab", "-2.05", "0.5"], ["x, y", "1", "-1.25"]]


@pytest.mark.parametrize(
    ("sentence", "rows"),
    [
        ("", 2),
        ("Deleted entries are left out.", 2),
        ("Exports skip deleted records.", 2),
        ("Deleted records are kept: they are evidence.", 3),
        ("Exports include deleted records.", 3),
    ],
)
def test_deleted_records(sentence: str, rows: int, tmp_path: Path) -> None:
    work(BinaryRecords(), tmp_path, dumps(tmp_path, "little", STYLES[0], sentence))
    assert len(table(tmp_path)) == 1 + rows


def test_offsets_are_counted_where_a_table_has_none() -> None:
    found = read("## Record\n\n|name|type|\n|-|-|\n| `a` | u16le |\n| `b` | uint32 |\n| `c` | char[6] |\n")
    assert found is not None
    assert [(field.offset, field.size, field.kind) for field in found.fields] == [
        (0, 2, "unsigned"),
        (2, 4, "unsigned"),
        (6, 6, "text"),
    ]
    assert (found.size, found.begin, found.count) == (12, 0, None)


def test_a_table_of_something_else_is_no_format() -> None:
    assert read("| option | meaning |\n|---|---|\n| a | b |\n") is None
