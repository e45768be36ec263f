"""How the solvers work: one step after the other, each derived from the steps before it.

A program is pure, so what its earlier turns were for is found out by deciding them again: the policy is asked for every
prefix of the conversation, and the steps so found are its memory."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from solvers.rehearsal import shell, told
from solvers.rehearsal.conversation import Conversation
from solvers.rehearsal.patterns import has_placeholder
from solvers.rehearsal.sight import view_of
from solvers.rehearsal.technique import Move, Technique, View

MOST_TURNS = 40
MOST_MOVES = 8
MOST_CHECKS = 2
RESULTS = (".csv", ".tsv", ".json", ".jsonl", ".txt", ".ini", ".env", ".conf", ".md")


@dataclass(frozen=True)
class Step:
    """source: a technique's name, or what else the move is for ("look", "told", "check"). kind: "probe" or "act"."""

    source: str
    kind: str
    move: Move


Part = Callable[[View, Sequence[Step]], Step | None]
"""One part of a policy: the step that it would take next, None when it has nothing (more) to do."""


def next_step(conversation: Conversation, parts: Sequence[Part]) -> Step | None:
    """The step that the policy takes now; None when it is done."""
    if len(conversation.turns) > MOST_TURNS:
        return None
    steps: list[Step] = []
    for count in range(len(conversation.turns) + 1):
        view = view_of(Conversation(conversation.instruction, conversation.turns[:count]))
        step = next((step for step in (part(view, steps) for part in parts) if step is not None), None)
        if step is None:
            return None
        steps.append(step)
    return steps[-1]


def looking(look: Callable[[View], Move | None]) -> Part:
    """A part that looks around until the look has seen enough. Once something was changed it looks no more."""

    def part(view: View, steps: Sequence[Step]) -> Step | None:
        move = None if any(step.kind == "act" for step in steps) else look(view)
        return Step("look", "probe", move) if move and move.command not in _commands(steps, "look") else None

    return part


def applying(technique: Technique) -> Part:
    """A part that probes for a technique's evidence, then acts on it; no command twice."""

    def part(view: View, steps: Sequence[Step]) -> Step | None:
        mine = [step for step in steps if step.source == technique.name]
        acted = [step for step in mine if step.kind == "act"]
        if not acted and len(mine) < MOST_MOVES:
            move = technique.probe(view)
            if move is not None and move.command not in _commands(mine):
                return Step(technique.name, "probe", move)
        move = technique.act(view) if len(acted) < MOST_MOVES else None
        return Step(technique.name, "act", move) if move and move.command not in _commands(mine) else None

    return part


def following(find: Callable[[View], Sequence[str]], thought: str) -> Part:
    """A part that runs the commands that `find` reads out of the view, in order, whatever they give."""

    def part(view: View, steps: Sequence[Step]) -> Step | None:
        commands = find(view)
        done = sum(step.source == "told" and step.move.thought == thought for step in steps)
        return Step("told", "act", Move(thought, commands[done])) if done < len(commands) else None

    return part


def unless_applied(part: Part) -> Part:
    """The part, as long as no technique has acted."""
    return lambda view, steps: None if applied(steps) else part(view, steps)


def applied(steps: Sequence[Step]) -> bool:
    return any(step.kind == "act" and step.source not in ("told", "check") for step in steps)


def check(view: View, steps: Sequence[Step]) -> Step | None:
    """After a repair: run the project's own commands, those of the instruction or else those of the documents."""
    done = _commands(steps, "check")
    commands = told.rebuilds(view.instruction) or _documented(view)
    wanted = [command for command in commands if command not in done]
    if not applied(steps) or not wanted or len(done) >= MOST_CHECKS:
        return None
    return Step("check", "act", Move("I check the result with the project's own command.", wanted[0]))


def inspect(view: View, steps: Sequence[Step]) -> Step | None:
    """A last look at the files that the instruction asks for."""
    asked = [path for path in told.paths(view.instruction) if path.endswith(RESULTS)]
    wanted = [path for path in asked if not has_placeholder(path)][:4]
    folders = [path.rsplit("/", 1)[0] for path in asked if has_placeholder(path)][:2]
    listing = f"ls -l -- {shell.quote(*dict.fromkeys(folders))} | head -n 40" if folders else ""
    command = listing or (f"head -v -c 400 -- {shell.quote(*wanted)}" if wanted else "")
    if not command or command in _commands(steps):
        return None
    return Step("inspect", "probe", Move("A last look at what the task asks for.", command))


def _documented(view: View) -> tuple[str, ...]:
    found: list[str] = []
    for path in view.named((".md", ".txt", ".rst")):
        folder = path.rsplit("/", 1)[0]
        root = folder.rsplit("/", 1)[0] if folder.endswith(("/docs", "/doc")) else folder
        text = view.text(path)
        lines = [line for block in told.blocks(text) for line in block.split("\n")]
        quoted = "\n".join(f"`{line}`" for line in lines)
        found += [f"cd {shell.quote(root)} && {command}" for command in told.rebuilds(f"{text}\n{quoted}")]
    return tuple(dict.fromkeys(found))


def _commands(steps: Sequence[Step], source: str | None = None) -> set[str]:
    return {step.move.command for step in steps if source in (None, step.source)}
