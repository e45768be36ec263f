"""Files compared with a list of digests: what is as listed, what is not, what is gone, what nobody listed."""

import re
from dataclasses import dataclass

from solvers.rehearsal import shell, told
from solvers.rehearsal.phrases import chosen
from solvers.rehearsal.technique import Move, View

PLAIN = re.compile(r"^\\?([0-9a-fA-F]{32,128}) [ *](\S.*)$", re.MULTILINE)
TAGGED = re.compile(r"^\w+ \((.+)\) = ([0-9a-fA-F]{32,128})$", re.MULTILINE)
PROGRAMS = {32: "md5", 40: "sha1", 56: "sha224", 64: "sha256", 96: "sha384", 128: "sha512"}
UNLISTED = r"(?:not (?:on|in) the list|were not (?:released|listed|signed off|shipped)|unlisted|unknown|extra)"
MOVED = (rf"files (?:that |which )?(?:are )?{UNLISTED}[^.]* (?:moved|quarantined|isolated|taken out)\b",)
STAY = (rf"files (?:that |which )?(?:are )?{UNLISTED}[^.]* (?:stay|remain|are left|are not moved)\b",)
WORDS = {
    "intact": ("intact", "good", "ok", "unchanged", "valid", "match"),
    "altered": ("altered", "tampered", "modified", "changed", "corrupt", "mismatch", "failed"),
    "missing": ("missing", "absent", "gone", "lost", "deleted"),
    "unlisted": ("unlisted", "unknown", "extra", "added", "unexpected"),
}
SORT = """\
import csv, hashlib, re, shutil, sys
from pathlib import Path

listed, folder, report, away, digest = sys.argv[1:6]
header, moved = sys.argv[6].split(","), sys.argv[8].split(",")
words = dict(pair.split("=") for pair in sys.argv[7].split(","))
wanted = {}
for line in Path(listed).read_text().splitlines():
    tagged, plain = re.fullmatch(r"\\w+ \\((.+)\\) = (\\w+)", line), re.fullmatch(r"(\\w+) [ *](.+)", line)
    if tagged or plain:
        name, value = tagged.groups() if tagged else reversed(plain.groups())
        wanted[name.removeprefix("./")] = value.lower()
base = Path(folder)
there = {str(path.relative_to(base)): path for path in base.rglob("*") if path.is_file()}
found = {}
for name in sorted({*wanted, *there}):
    if name not in there:
        found[name] = "missing"
    elif name not in wanted:
        found[name] = "unlisted"
    else:
        same = hashlib.new(digest, there[name].read_bytes()).hexdigest() == wanted[name]
        found[name] = "intact" if same else "altered"
for name, status in found.items():
    if away and status in moved and name in there:
        target = Path(away) / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(there[name], target)
if report:
    with open(report, "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\\n")
        writer.writerows([header, *((name, words[status]) for name, status in found.items())])
for name, status in found.items():
    print(status, name)
"""


@dataclass(frozen=True)
class Digests:
    """A list of digests: its path, the folder that its names are relative to, the digest's name."""

    path: str
    folder: str
    digest: str


class Checksums:
    """Check files against the list that their keeper vouches for, which is not one kept among the files themselves."""

    name = "check files against a list of digests"
    names = ("checksum", "sha256sum", "sha512sum", "sha1sum", "compare the digests", "verify the digests")

    def probe(self, view: View) -> Move | None:
        lists = _trusted(view)
        return Move("A list of digests. Do the files still match it?", _check(lists)) if lists else None

    def act(self, view: View) -> Move | None:
        lists = _trusted(view)
        output = view.output_of(_check(lists)) if lists else None
        if lists is None or output is None or "FAILED" not in output.stdout:
            return None
        paths = told.paths(view.instruction)
        report = next((path for path in paths if path.endswith((".csv", ".tsv"))), "")
        away = next((path for path in paths if re.search(r"quarantine|isolat|suspect|evidence", path)), "")
        moved = ["altered"]
        if chosen(view.prose(), MOVED, STAY, default=True):
            moved.append("unlisted")
        words = ",".join(f"{meaning}={word}" for meaning, word in _words(view.instruction).items())
        details = (
            lists.path,
            lists.folder,
            report,
            away,
            lists.digest,
            _header(view.instruction),
            words,
            ",".join(moved),
        )
        return Move("Some files differ. I sort all of them by what the list says.", shell.run_python(SORT, *details))


def _trusted(view: View) -> Digests | None:
    """The list to go by: one outside of the folder it lists comes first."""
    found = [made for path in view.listing if (made := _digests(view, path)) is not None]
    return min(found, key=lambda made: made.path.startswith(made.folder + "/"), default=None)


def _digests(view: View, path: str) -> Digests | None:
    text = view.files.get(path, "")
    pairs = [(name, value) for value, name in PLAIN.findall(text)] + TAGGED.findall(text)
    if len(pairs) < 2 or len(pairs) < len(text.splitlines()) / 2:
        return None
    names = [name.removeprefix("./") for name, _ in pairs]
    folders: dict[str, int] = {}
    for seen in view.listing:
        for name in names:
            if seen.endswith("/" + name):
                folder = seen.removesuffix("/" + name)
                folders[folder] = folders.get(folder, 0) + 1
    digest = PROGRAMS.get(len(pairs[0][1]))
    if not folders or digest is None:
        return None
    return Digests(path, max(folders, key=lambda folder: folders[folder]), digest)


def _check(lists: Digests) -> str:
    return (
        f"cd {shell.quote(lists.folder)} && {lists.digest}sum --check {shell.quote(lists.path)} 2>&1 | sed '/: OK$/d'"
    )


def _words(instruction: str) -> dict[str, str]:
    """meaning -> the instruction's own word for it."""
    spans = [span.strip() for span in told.SPAN.findall(instruction)]
    return {
        meaning: next((span for span in spans if span.lower() in words), words[0]) for meaning, words in WORDS.items()
    }


def _header(instruction: str) -> str:
    """Two column names, as a code span shows them."""
    spans = [span.strip() for span in told.SPAN.findall(instruction)]
    return next((span for span in spans if re.fullmatch(r"\w+,\w+", span)), "file,status")
