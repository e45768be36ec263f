"""Changes to text files, as a command that makes them."""

from dataclasses import dataclass

from solvers.rehearsal import shell

EDITOR = """\
from pathlib import Path

EDITS = [
{edits}
]
for path, old, new in EDITS:
    text = Path(path).read_text()
    if old not in text:
        raise SystemExit(f"{{path}}: not found: {{old!r}}")
    Path(path).write_text(text.replace(old, new))
    print(f"{{path}}: {{old!r}} -> {{new!r}}")
"""


@dataclass(frozen=True)
class Edit:
    """Every occurrence of `old` in the file at `path` becomes `new`."""

    path: str
    old: str
    new: str


def command(edits: list[Edit]) -> str:
    """A command that makes the edits in order and stops where a text is not found."""
    lines = "\n".join(f"    ({edit.path!r}, {edit.old!r}, {edit.new!r})," for edit in edits)
    return shell.run_python(EDITOR.format(edits=lines))
