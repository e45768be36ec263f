"""The text protocol between the agent loop and a model. Pure.

    one ```bash block (```sh and ```shell as well)      the command of this turn
    no block, a line that starts with TASK COMPLETE:    the end; what follows the marker is the self-assessment
    anything else                                       goes back with a correction; it costs a step

Where a block ends. A command may write a Markdown file, so a line of backticks inside it is not always the end. It is
text inside a here-document and inside quotes that are open; a fence with a language (```python) opens an inner block,
which the next plain fence closes; a block that was opened with more backticks is closed by as many or more. A
here-document whose end mark never comes is none, and quotes that keep a block open to the end of the answer do not
count. What is left of a model's thinking up to </think> is ignored.

The time that an answer takes grows with its length and no faster: a hostile one cannot hold its reader.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from solvers.blocks import Lines

MARKER = "TASK COMPLETE:"
SHELLS = frozenset({"bash", "sh", "shell"})
MOST_COMMAND_BYTES = 100_000
"""A longer command could not be handed to a shell as one argument."""

ONE_BLOCK = f"Answer with exactly one ```bash block, or, when you are done, with a line that starts with `{MARKER}`."
NOTHING_FOUND = f"Nothing was run: there is neither a ```bash block nor a line that starts with `{MARKER}`. {ONE_BLOCK}"
SEVERAL_BLOCKS = f"Nothing was run: there are several ```bash blocks. {ONE_BLOCK}"
UNCLOSED_BLOCK = f"Nothing was run: the ```bash block is not closed by a line of ``` alone. {ONE_BLOCK}"
EMPTY_BLOCK = f"Nothing was run: the ```bash block is empty. {ONE_BLOCK}"
NUL_IN_BLOCK = "Nothing was run: the command holds a NUL character."
LONG_BLOCK = f"Nothing was run: the command is longer than {MOST_COMMAND_BYTES} bytes. Do it in parts."
MARKER_IGNORED = (
    f"`{MARKER}` was not honoured, since the same answer holds a command. It was run; look at what it did, and "
    "complete in an answer of its own."
)


@dataclass(frozen=True)
class Command:
    """Run this. note: what the model has to be told beside the output."""

    text: str
    note: str = ""


@dataclass(frozen=True)
class Final:
    """The model says that it is done. assessment: in its own words, possibly empty."""

    assessment: str


@dataclass(frozen=True)
class Malformed:
    """Nothing can be made of the answer. correction: what goes back."""

    correction: str


def parse(answer: str) -> Command | Final | Malformed:
    """What an answer asks for."""
    lines = Lines(answer.replace("\r\n", "\n").rpartition("</think>")[2].split("\n"))
    blocks: list[str] = []
    marker: int | None = None
    position = 0
    while position < len(lines.text):
        ticks, language = lines.fences[position]
        if ticks and language in SHELLS:
            end = lines.end_of_command(position + 1, ticks)
            if end is None:
                return Malformed(UNCLOSED_BLOCK)
            blocks.append("\n".join(lines.text[position + 1 : end]))
            position = end
        elif ticks:
            position = lines.end_of_quote(position, ticks)
        elif marker is None and lines.text[position].startswith(MARKER):
            marker = position
        position += 1
    if marker is not None and not blocks:
        return Final("\n".join(lines.text[marker:])[len(MARKER) :].strip())
    return _command(blocks, noted=marker is not None)


def _command(blocks: Sequence[str], *, noted: bool) -> Command | Malformed:
    if not blocks:
        return Malformed(NOTHING_FOUND)
    if len(blocks) > 1:
        return Malformed(SEVERAL_BLOCKS)
    text = blocks[0]
    if not text.strip():
        return Malformed(EMPTY_BLOCK)
    if "\0" in text:
        return Malformed(NUL_IN_BLOCK)
    if len(text.encode("utf-8", "replace")) > MOST_COMMAND_BYTES:
        return Malformed(LONG_BLOCK)
    return Command(text, MARKER_IGNORED if noted else "")
