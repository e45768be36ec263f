"""What a technique sees and can do. One technique a file; solvers/rehearsal/techniques.py lists them.

A technique is asked again at every turn, so it keeps no state: what it did before is in the view's outputs. The solver
never runs a command twice on behalf of one technique: a technique with a single step may return that step always, one
with several looks at `View.output_of` to see how far it is."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol


@dataclass(frozen=True)
class Move:
    """One turn: a thought of one or two sentences that says what was seen, and the command that follows from it."""

    thought: str
    command: str


@dataclass(frozen=True)
class Output:
    """What a command showed. code is None where it was killed or not told. whole: nothing was elided."""

    code: int | None
    stdout: str
    stderr: str = ""
    whole: bool = True


@dataclass(frozen=True)
class View:
    """All that the conversation has shown so far.

    instruction: the task's text. listing: paths of files seen to exist (a repository shows as its path ending in
    "/.git"). sizes: bytes of those. files: path -> text that was read whole. heads: path -> the beginning of a text
    that was not read to its end. outputs: (command, output) of every turn, oldest first."""

    instruction: str
    listing: tuple[str, ...] = ()
    sizes: Mapping[str, int] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    heads: Mapping[str, str] = field(default_factory=dict)
    outputs: tuple[tuple[str, Output], ...] = ()

    def output_of(self, command: str) -> Output | None:
        """The newest output of exactly this command, None when it has not run."""
        return next((output for ran, output in reversed(self.outputs) if ran == command), None)

    def named(self, suffixes: tuple[str, ...]) -> tuple[str, ...]:
        """The listed paths that end in one of the suffixes."""
        return tuple(path for path in self.listing if path.endswith(suffixes))

    def text(self, path: str) -> str:
        """What is known of a file's text: all, its beginning, or "" when it was not read."""
        return self.files.get(path) or self.heads.get(path, "")

    def prose(self) -> str:
        """Instruction and documents in one line of lower-case text without Markdown's marks: for phrase patterns."""
        documents = [self.text(path) for path in self.listing if path.lower().endswith((".md", ".txt", ".rst"))]
        joined = "\n".join([self.instruction, *documents])
        return re.sub(r"\s+", " ", re.sub(r"[`*_]", "", joined)).lower()


class Technique(Protocol):
    """Named engineering know-how that holds for any project, e.g. "recover lost commits with the reflog".

    names: lower-case phrases by which an instruction would name it; the medium solver acts only on a named one."""

    @property
    def name(self) -> str: ...

    @property
    def names(self) -> tuple[str, ...]: ...

    def probe(self, view: View) -> Move | None:
        """The next command that would gather evidence for this technique; None when it needs no more, or nothing in the
        view suggests that it applies."""
        ...

    def act(self, view: View) -> Move | None:
        """The next command that applies the technique; None where the view holds no evidence for it, or all is done."""
        ...
