"""What a model sees of a command. Pure.

    exit code: 0
    <stdout>
    ...
    </stdout>
    <stderr>
    ...
    </stderr>

A stream that printed nothing is left out. Lines before the exit code say what was unusual.
"""

import re

from sandbox.api import ExecResult

LEAST_STDERR = 4
"""When both streams are long, stderr keeps one part in this many."""

_HEAD = re.compile(r"^exit code: (-?\d+|none)$", re.MULTILINE)


def render(result: ExecResult, most_chars: int, note: str = "") -> str:
    """The observation of a command; of both streams together at most `most_chars` are shown, the middle is left out."""
    stdout, stderr = result.stdout.decode("utf-8", "replace"), result.stderr.decode("utf-8", "replace")
    for_stderr = min(len(stderr), max(most_chars // LEAST_STDERR, most_chars - len(stdout)))
    unusual = [note] if note else []
    if result.timed_out:
        unusual.append(f"The command was ended after {result.duration_sec:.1f} s: it ran into the time limit.")
    if result.output_limit:
        unusual.append("The command was ended: it printed more than is kept.")
    if result.oom_killed:
        unusual.append("A process was killed: the memory limit was hit.")
    for name, truncated in (("stdout", result.stdout_truncated), ("stderr", result.stderr_truncated)):
        if truncated:
            unusual.append(f"Of {name} only the beginning and the end were kept.")
    code = "none" if result.exit_code is None else str(result.exit_code)
    shown = (
        _section("stdout", elided(stdout, most_chars - for_stderr)),
        _section("stderr", elided(stderr, for_stderr)),
    )
    return "\n".join([*unusual, f"exit code: {code}", *(section for section in shown if section)])


def elided(text: str, most_chars: int) -> str:
    """The text with its middle left out where it is longer than `most_chars`, and with a line that says how much."""
    left_out = len(text) - most_chars
    if left_out <= 0:
        return text
    head = (most_chars + 1) // 2
    tail = most_chars - head
    return f"{text[:head]}\n[... {left_out} characters left out ...]\n{text[len(text) - tail :]}"


def read(observation: str) -> tuple[int | None, str, str]:
    """(exit code, stdout, stderr) as an observation shows them; for programs that stand in for models.

    (None, "", "") for a text that is no observation of a command."""
    head = _HEAD.search(observation)
    if head is None:
        return None, "", ""
    code = None if head[1] == "none" else int(head[1])
    rest = observation[head.end() :].lstrip("\n")
    stdout = stderr = ""
    if rest.startswith("<stdout>\n"):
        end = rest.rfind("\n</stdout>\n<stderr>\n") if rest.endswith("</stderr>") else -1
        end = end if end >= 0 else rest.rfind("\n</stdout>")
        stdout, rest = rest[len("<stdout>\n") : end], rest[end + len("\n</stdout>\n") :]
    if rest.startswith("<stderr>\n"):
        stderr = rest[len("<stderr>\n") : rest.rfind("\n</stderr>")]
    return code, stdout, stderr


def _section(name: str, text: str) -> str:
    return f"<{name}>\n{text.removesuffix(chr(10))}\n</{name}>" if text else ""
