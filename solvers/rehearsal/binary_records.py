"""Binary records with a documented layout: decoded by the table of fields and written as CSV."""

import dataclasses
import json
import re

from solvers.rehearsal import field_tables, shell, told
from solvers.rehearsal.field_tables import BinaryFormat, Field
from solvers.rehearsal.patterns import filled, has_placeholder, matching
from solvers.rehearsal.phrases import chosen
from solvers.rehearsal.technique import Move, View

TEXT_FILES = (".md", ".txt", ".rst", ".csv", ".tsv", ".json", ".jsonl", ".py", ".sh", ".sql", ".toml", ".ini", ".cfg")
UNUSED = re.compile(r"reserved|unused|padding|spare|flags?$", re.IGNORECASE)
DELETED_BIT = re.compile(r"bit (\d)\b[^;|]*\b(?:deleted|erased|removed|tombstone)")
GONE = r"(?:deleted|erased|removed) (?:records?|entries|readings?|samples?)"
LEFT_OUT = (
    rf"{GONE} (?:are|must be|is|have to be) (?:\w+ )?(?:left out|skipped|omitted|ignored|dropped|not )",
    rf"(?:leaves? out|skips?|omits?|ignores?|without) (?:all |the |any )?{GONE}",
)
KEPT = (
    rf"{GONE} (?:are|is|must be|have to be) (?:\w+ )?(?:kept|included|exported|handed on|shown|part of)",
    rf"(?:includ\w+|keeps?|together with) (?:all |the |any )?{GONE}",
)
PROGRAM = '''\
"""Decode binary records by their table of fields, into CSV."""

import csv
import json
import struct
import sys
from decimal import Decimal
from pathlib import Path

plan = json.loads(sys.argv[1])


def decode(field, record):
    data = record[field["offset"]:field["offset"] + field["size"]]
    if field["kind"] == "text":
        return data.split(b"\\0")[0].decode("utf-8", "replace").rstrip()
    if field["kind"] == "float":
        code = {4: "f", 8: "d"}[len(data)]
        return struct.unpack(("<" if plan["order"] == "little" else ">") + code, data)[0]
    number = int.from_bytes(data, plan["order"], signed=field["kind"] == "signed")
    if not field["scale"]:
        return number
    return format((number * Decimal(field["scale"])).normalize(), "f")


def records(data):
    count = decode(plan["count"], data) if plan["count"] else (len(data) - plan["begin"]) // plan["size"]
    for number in range(count):
        at = plan["begin"] + number * plan["size"]
        record = data[at:at + plan["size"]]
        if len(record) == plan["size"]:
            yield record


for source, target in plan["files"].items():
    Path(target).parent.mkdir(parents=True, exist_ok=True)
    kept = left_out = 0
    with open(target, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow([field["name"] for field in plan["columns"]])
        for record in records(Path(source).read_bytes()):
            if plan["flags"] and decode(plan["flags"], record) >> plan["bit"] & 1:
                left_out += 1
                continue
            kept += 1
            writer.writerow([decode(field, record) for field in plan["columns"]])
    print(target, kept, "records,", left_out, "left out")
'''


class BinaryRecords:
    """Decode binary records by the documented offsets, sizes, types and byte order."""

    name = "decode binary records by their table of fields"
    names = ("binary record", "table of fields", "tables of fields", "field table", "decode the binary")

    def probe(self, view: View) -> Move | None:
        found, files = _documented(view), _files(view)
        if found is None or not files:
            return None
        source = next(iter(files))
        command = f"od -A d -t x1z -N {min(found[1].begin + 2 * found[1].size, 512)} -- {shell.quote(source)}"
        return Move(f"{found[0]} gives the layout. I look at the bytes of one file before I decode them.", command)

    def act(self, view: View) -> Move | None:
        found, files = _documented(view), _files(view)
        if found is None or not files:
            return None
        layout, prose = found[1], view.prose()
        deleted = _deleted(layout)
        skip = deleted is not None and chosen(prose, LEFT_OUT, KEPT, default=True)
        plan = {
            "order": layout.order,
            "begin": layout.begin,
            "size": layout.size,
            "count": dataclasses.asdict(layout.count) if layout.count else None,
            "flags": dataclasses.asdict(deleted[0]) if deleted and skip else None,
            "bit": deleted[1] if deleted else 0,
            "columns": [dataclasses.asdict(field) for field in _columns(view, layout)],
            "files": files,
        }
        thought = f"Records of {layout.size} bytes from byte {layout.begin} on, {layout.order}-endian. I decode them."
        return Move(thought, shell.run_python(PROGRAM, json.dumps(plan)))


def _documented(view: View) -> tuple[str, BinaryFormat] | None:
    """(document, layout) of the first document that has a table of fields."""
    for path in view.named((".md", ".txt", ".rst")):
        layout = field_tables.read(view.text(path))
        if layout is not None:
            return path, layout
    return None


def _files(view: View) -> dict[str, str]:
    """Binary file -> where its table goes, by the two patterns that the instruction gives."""
    spans = [span for span in told.SPAN.findall(view.instruction) if span.startswith("/") and has_placeholder(span)]
    target = next((span for span in spans if span.endswith(".csv")), None)
    for span in spans:
        if target is None or span.endswith(TEXT_FILES):
            continue
        return {path: filled(target, name) for path, name in matching(view.listing, span).items()}
    return {}


def _deleted(layout: BinaryFormat) -> tuple[Field, int] | None:
    """(flags, bit) that mark a deleted record."""
    for field in layout.fields:
        bit = DELETED_BIT.search(field.note.lower())
        if bit is not None:
            return field, int(bit.group(1))
    return None


def _columns(view: View, layout: BinaryFormat) -> list[Field]:
    """The fields that the instruction names, in its order; without such a list, all that hold data."""
    known = {field.name: field for field in layout.fields}
    asked = [known[span] for span in dict.fromkeys(told.SPAN.findall(view.instruction)) if span in known]
    return asked if len(asked) >= 3 else [field for field in layout.fields if not UNUSED.search(field.name)]
