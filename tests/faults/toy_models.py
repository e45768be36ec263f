"""The models of the toy world: an author, a strong and a weak solver, as pure functions of the conversation.

A toy task asks for a word. Where the word is, and how its file is judged, decides how the task turns out:

    told       it is in the instruction            both solvers find it
    note       it is in a file on the machine      the strong solver finds it
    reversed   it is in the instruction, reversed  only the author finds it
    strict     the file must hold the word alone   the strong solver, who writes a heading, fails

The kind of a clue says with what its author begins:

    easy       told: too easy; then the instruction alone changes
    hard       reversed: too hard; then environment and instruction change
    strict     note, strict: too hard; then the verifier alone changes, and stored artifacts are judged anew
    inverted   told, strict: inverted; then the verifier alone changes, and it is too easy; then as `easy`
    broken     note, and an image that does not build: it is repaired
    hopeless   told: too easy, and its author knows no move
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from forge.domain.clue import Clue
from solvers.model import Message, Program
from tests.faults.toy_machine import ASKED

KINDS = ("easy", "hard", "strict", "inverted", "broken", "hopeless")
WORDS = ("apple", "basil", "cedar", "dates", "elder", "fennel")
CLUES = tuple(Clue(id=kind, text=f"toy {kind} {word}") for kind, word in zip(KINDS, WORDS, strict=True))

AUTHOR, STRONG, WEAK = "author", "strong", "weak"


@dataclass(frozen=True)
class Design:
    """What a toy task is like; it is written into its tags, where the author finds it again."""

    kind: str
    word: str
    where: str
    strict: bool = False
    builds: bool = True

    @property
    def tags(self) -> tuple[str, ...]:
        judged, built = "strict" if self.strict else "lenient", "builds" if self.builds else "breaks"
        return (self.kind, self.word, self.where, judged, built)

    @classmethod
    def of_tags(cls, tags: Sequence[str]) -> "Design":
        kind, word, where, judged, built = tags
        return cls(kind, word, where, judged == "strict", built == "builds")

    @classmethod
    def first(cls, kind: str, word: str) -> "Design":
        where = {"hard": "reversed", "strict": "note", "broken": "note"}.get(kind, "told")
        return cls(kind, word, where, strict=kind in ("strict", "inverted"), builds=kind != "broken")

    def revised(self, diagnosis: str) -> "Design":
        """What the author does about a diagnosis; the same design where it knows nothing."""
        if self.strict:
            return replace(self, strict=False)
        return self if self.kind == "hopeless" else replace(self, where="note")

    def files(self) -> Mapping[str, str]:
        has_note = self.where == "note" or self.kind == "easy"
        return {
            "instruction.md": INSTRUCTION.format(
                hint=HINTS[self.where].format(word=self.word, reversed=self.word[::-1])
            ),
            "task.toml": TASK_TOML.format(tags=", ".join(f'"{tag}"' for tag in self.tags)),
            "environment/Dockerfile": DOCKERFILE + ("" if self.builds else "RUN ls /nowhere\n"),
            "environment/note.txt": f"{self.word}\n" if has_note else "nothing\n",
            "tests/Dockerfile": f"FROM {ASKED}\nCOPY . /tests/\n",
            "tests/test.sh": TEST_SH.format(judged=(STRICT if self.strict else LENIENT).format(word=self.word)),
        }


INSTRUCTION = """Write the word of this machine into /app/out/word.txt, on a line of its own.

{hint} The folder /app/out is collected.
"""
HINTS = {
    "told": "The word is `{word}`.",
    "note": "The word is in /app/note.txt.",
    "reversed": "Read from its end, the word is `{reversed}`.",
}
TASK_TOML = """schema_version = "1.4"
artifacts = ["/app/out"]

[task]
name = "forge/toy"

[metadata]
category = "toys"
tags = []

[environment]
network_mode = "no-network"

[agent]
timeout_sec = 60.0

[verifier]
timeout_sec = 60.0
environment_mode = "separate"

[metadata.forge]
guards = []
design = [{tags}]
"""
DOCKERFILE = f"FROM {ASKED}\nRUN mkdir -p /app/out\nCOPY note.txt /app/note.txt\nWORKDIR /app\n"
STRICT = '[ "$(cat /app/out/word.txt)" = {word} ]'
LENIENT = "grep -q ^{word}$ /app/out/word.txt"
TEST_SH = """#!/bin/bash
status=failed
reward=0
if {judged}; then
  status=passed
  reward=1
fi
cat > /logs/verifier/ctrf.json <<REPORT
{{"results": {{"tests": [{{"name": "test_word", "status": "$status"}}]}}}}
REPORT
echo $reward > /logs/verifier/reward.txt
"""

_CLUE = re.compile(r'"text": "toy (\w+) (\w+)"')
_DESIGN = re.compile(r"^design = \[(.*)\]$", re.MULTILINE)
_DIAGNOSIS = re.compile(r"## Diagnosis\n\n(\w+):")
_DUTY = re.compile(r"# Duty: (\w+)")
_TOLD = re.compile(r"The word is `(\w+)`")
_REVERSED = re.compile(r"Read from its end, the word is `(\w+)`")
LOOK = "cat /task/task.toml"


def author(messages: Sequence[Message], seed: int | None) -> str:
    request = messages[1].content
    duty = _DUTY.match(request)
    turn = sum(message.role == "assistant" for message in messages)
    match duty[1] if duty else "":
        case "draft":
            clue = _CLUE.search(request)
            return _written(Design.first(*clue.groups())) if clue and not turn else _done("drafted")
        case "solve":
            return _block(_solution(request)) if not turn else _done("solved")
        case "repair" | "revise" as name if turn == 0:
            return _block(LOOK, said=f"I {name}.")
        case "repair" if turn == 1:
            return _written(replace(_design(messages), builds=True))
        case "revise" if turn == 1:
            found, diagnosis = _design(messages), _DIAGNOSIS.search(request)
            revised = found.revised(diagnosis[1] if diagnosis else "")
            return _written(revised) if revised != found else _done("I know no move.")
    return _done("done")


def strong(messages: Sequence[Message], seed: int | None) -> str:
    request, turn = messages[1].content, sum(message.role == "assistant" for message in messages)
    told = _TOLD.search(request)
    word = told[1] if told else "$(cat /app/note.txt)"
    return _block(f'echo "# the word" > out/word.txt && echo {word} >> out/word.txt') if not turn else _done("written")


def weak(messages: Sequence[Message], seed: int | None) -> str:
    request, turn = messages[1].content, sum(message.role == "assistant" for message in messages)
    told = _TOLD.search(request)
    return _block(f"echo {told[1] if told else 'unknown'} > out/word.txt") if not turn else _done("written")


def programs(prefix: str = "rehearsal/") -> Mapping[str, Program]:
    return {f"{prefix}{AUTHOR}": author, f"{prefix}{STRONG}": strong, f"{prefix}{WEAK}": weak}


def _design(messages: Sequence[Message]) -> Design:
    found = _DESIGN.search(messages[-1].content)
    if found is None:
        raise ValueError("the task says nothing of its design")
    return Design.of_tags([tag.strip(' "') for tag in found[1].split(",")])


def _solution(instruction: str) -> str:
    told, backwards = _TOLD.search(instruction), _REVERSED.search(instruction)
    word = told[1] if told else backwards[1][::-1] if backwards else "$(cat /app/note.txt)"
    return f"mkdir -p /solution\necho 'echo {word} > /app/out/word.txt' > /solution/solve.sh\nbash /solution/solve.sh"


def _written(design: Design) -> str:
    folders = "mkdir -p /task/environment /task/tests\n"
    return _block(
        folders + "\n".join(f"cat > /task/{path} <<'END'\n{text}END" for path, text in design.files().items())
    )


def _block(command: str, said: str = "I go on.") -> str:
    return f"{said}\n\n```bash\n{command}\n```"


def _done(said: str) -> str:
    return f"TASK COMPLETE: {said}"
