"""The rehearsal author: a program that speaks the author's prompts and draws on task families.

    draft     a clue -> a task directory            revise    a diagnosis -> knobs turned
    solve     an instruction -> solution/solve.sh   repair    findings -> the family rendered anew

It keeps nothing between calls: the messages say how far it is, the seed what was drawn."""

import hashlib
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from forge.domain.outcome import Diagnosis
from forge.rehearsal import briefs, writing
from forge.rehearsal.briefs import Brief
from forge.rehearsal.choosing import choose, recognise
from forge.rehearsal.drawing import Draw, draw
from forge.rehearsal.families import Family, load_families
from forge.rehearsal.moves import revise
from forge.rehearsal.rendering import reference_solution, render
from sandbox.tree import Tree
from solvers.model import Message

NAME = "rehearsal/author"
DONE = "TASK COMPLETE:"
TASK = "/task"
PARTS = ("environment/", "tests/")
SOLUTION = "/solution/solve.sh"
LOOK = f"ls -la {TASK}; for tool in bash python3 git sqlite3; do command -v $tool || true; done"
CHECK = (
    f"cd {TASK} && for script in $(find . -name '*.sh'); do bash -n $script; done"
    f' && if command -v python3 >/dev/null; then python3 -c "import ast, glob; [ast.parse(open(f).read(), f)'
    " for f in glob.glob('**/*.py', recursive=True)]\"; fi && find . -type f | sort"
)
READ = f"cat {TASK}/task.toml; cd {TASK} && find . -type f -not -path './solution/*' -exec sha256sum {{}} +"
RUN = f"bash {SOLUTION}"


def author(messages: Sequence[Message], seed: int | None) -> str:
    """The next answer. Any messages give an answer; those that name no duty end at once."""
    brief = briefs.read_brief(messages)
    duty = {"draft": _draft, "solve": _solve, "repair": _repair, "revise": _revise}.get(brief.duty)
    return duty(brief, seed or 0) if duty is not None else _end("Nothing was asked for.", "no duty is named")


@cache
def _families() -> Mapping[str, Family]:
    return load_families()


def _draft(brief: Brief, seed: int) -> str:
    family = choose(_families(), *briefs.words_of_clue(brief), seed)
    drawn = draw(family, seed)
    steps = [
        (f"The clue points to {family.spec.category}. I look at what is there before I write.", LOOK),
        *_writes(render(family, drawn).tree(), "I know what to build: instruction, environment and tests together."),
        ("All parts are written. A last look for syntax errors and missing files.", CHECK),
    ]
    return _next(steps, brief, f"a task of the family {family.name}")


def _solve(brief: Brief, seed: int) -> str:
    known = recognise(_families(), brief.section("Task") or brief.text, seed)
    if known is None:
        return _end("I do not see how to solve this.", "no solution known")
    script = reference_solution(*known)
    steps = [
        *_writes(Tree({SOLUTION.removeprefix("/"): script}), "The steps are clear; I write them down.", ""),
        ("Now I run it here.", RUN),
    ]
    if len(brief.seen) == len(steps) and briefs.failed(brief.seen[-1]):
        return _end("The script ended with an error.", f"{SOLUTION} is written, but it failed here")
    return _next(steps, brief, f"{SOLUTION} is written and ran")


def _repair(brief: Brief, seed: int) -> str:
    if not brief.seen:
        return _turn("I read what the task is made of.", READ)
    known = _drawn(briefs.drawn_table(brief.seen[0]))
    present = briefs.digests(brief.seen[0])
    changes = _changes(render(*known).tree(), present) if known else []
    if not changes:
        return _end("Every file is as it should be.", "no repair known")
    return _next(changes, _after_reading(brief), "the parts that had changed are written anew")


def _revise(brief: Brief, seed: int) -> str:
    if not brief.seen:
        return _turn("I read what the task is made of, to see what can still be turned.", READ)
    known = _drawn(briefs.drawn_table(brief.seen[0]))
    diagnosis = _diagnosis(brief)
    turned = revise(*known, diagnosis) if known else None
    if known is None or turned is None:
        why = f"nothing is left to turn for {diagnosis or 'no diagnosis'}" if known else "not drawn from a family"
        return _end("I changed nothing.", f"no further move: {why}")
    drawn, reason = turned
    changes = _changes(render(known[0], drawn).tree(), briefs.digests(brief.seen[0]))
    return _next(changes, _after_reading(brief), f"{diagnosis}: {reason}")


def _diagnosis(brief: Brief) -> str:
    """The first word of the section that is a diagnosis."""
    words = brief.section("Diagnosis").replace("`", " ").replace("*", " ").replace(":", " ").lower().split()
    known = {diagnosis.value for diagnosis in Diagnosis}
    return next((word for word in words if word.strip(".,;") in known), "").strip(".,;")


def _drawn(table: Mapping[str, Any]) -> tuple[Family, Draw] | None:
    """The draw that task.toml tells of, None where it does not hold one of a family as it is now."""
    family = _families().get(str(table.get("family")))
    seed, knobs, history = table.get("seed"), table.get("knobs"), table.get("history")
    if family is None or not isinstance(seed, int) or not _settings(family, knobs) or not isinstance(history, list):
        return None
    tried = tuple(setting for setting in history if _settings(family, setting))
    first = draw(family, seed)
    return family, Draw(family.name, seed, first.values, knobs or {}, tried)


def _settings(family: Family, knobs: object) -> bool:
    """Whether a value names every knob of the family with a value that it allows."""
    spec = family.spec.knobs
    return (
        isinstance(knobs, dict) and set(knobs) == set(spec) and all(knobs[name] in spec[name].values for name in spec)
    )


def _changes(tree: Tree, present: Mapping[str, str]) -> list[tuple[str, str]]:
    """The turns that make the present files (path -> sha256) those of the tree."""
    fresh = [path for path in tree if hashlib.sha256(tree[path].data).hexdigest() != present.get(path)]
    stale = [path for path in present if path not in tree and path.startswith(PARTS)]
    steps = _writes(Tree({path: tree[path] for path in fresh}), "I rewrite what changes.")
    return [*steps, ("These files are no longer part of it.", writing.remove(stale, TASK))] if stale else steps


def _writes(tree: Tree, thought: str, folder: str = TASK) -> list[tuple[str, str]]:
    written = writing.commands(tree, folder)
    return [(thought if number == 0 else "The next files.", command) for number, command in enumerate(written)]


def _after_reading(brief: Brief) -> Brief:
    return Brief(brief.duty, brief.text, brief.seen[1:])


def _next(steps: Sequence[tuple[str, str]], brief: Brief, done: str) -> str:
    position = len(brief.seen)
    return _turn(*steps[position]) if position < len(steps) else _end("That is all.", done)


def _turn(thought: str, command: str) -> str:
    """The fence is longer than any in the command, so that files with fences of their own survive."""
    ticks = "```"
    while ticks in command:
        ticks += "`"
    return f"{thought}\n\n{ticks}bash\n{command}\n{ticks}"


def _end(thought: str, assessment: str) -> str:
    return f"{thought}\n\n{DONE} {assessment}"
