"""The author's duties, played through: its commands run in bash with the sandbox's folders below a temporary one."""

import json
import re
import subprocess
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forge.assets import templates
from forge.domain.clue import Clue
from forge.domain.task import Task
from forge.rehearsal.author import author
from forge.rehearsal.briefs import read_brief, words_of_clue
from forge.rehearsal.choosing import choose
from forge.rehearsal.drawing import Draw, draw
from forge.rehearsal.families import load_families
from forge.rehearsal.rendering import Rendered, render
from sandbox.tree import Tree
from solvers.model import Message

FAMILIES = load_families()
DONE = re.compile(r"^TASK COMPLETE: (.*)", re.MULTILINE)
BLOCK = re.compile(r"^(`{3,})bash\n(.*?)\n\1$", re.MULTILINE | re.DOTALL)
RUN = "bash /solution/solve.sh"
KNOBS = ("hints", "semantics", "verifier")
SETTING = ("full", "stated", "property")


class Play:
    """One duty. folder stands for / in the sandbox."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder, self.seed = folder, seed
        self.commands: list[str] = []
        self.exit_code_of_solution = 0
        (folder / "task").mkdir(exist_ok=True)
        (folder / "solution").mkdir(exist_ok=True)

    def run(self, prompt: str, most: int = 12) -> str:
        """The self-assessment that the duty ends with."""
        messages = [Message("system", "You write tasks."), Message("user", prompt)]
        self.commands.clear()
        for _ in range(most):
            answer = author(messages, self.seed)
            messages.append(Message("assistant", answer))
            block, done = BLOCK.search(answer), DONE.search(answer)
            if block is None:
                assert done is not None, answer
                return done.group(1)
            assert DONE.search(answer[block.end() :]) is None
            messages.append(Message("user", self._execute(block.group(2))))
        raise AssertionError(f"not done after {most} turns")

    def _execute(self, command: str) -> str:
        self.commands.append(command)
        if command == RUN:
            # A solution belongs into the task's own machine, never into this one
            return f"exit code: {self.exit_code_of_solution}"
        here = re.sub(r"(?<![\w./])/(task|solution)\b", rf"{self.folder}/\1", command)
        ran = subprocess.run(["bash", "-c", here], capture_output=True, text=True, timeout=60, check=False)
        return f"exit code: {ran.returncode}\nstdout:\n{ran.stdout}\nstderr:\n{ran.stderr}"

    def task(self) -> Tree:
        return Tree.read(self.folder / "task")


@pytest.fixture
def play(tmp_path: Path) -> Play:
    return Play(tmp_path, seed=11)


def draft_prompt(text: str, **more: object) -> str:
    clue = json.dumps({"text": text, **more}, indent=2)
    return f"# Duty: draft\n\nWrite a task below /task.\n\n## Clue\n\n```json\n{clue}\n```\n\nBegin.\n"


def revise_prompt(diagnosis: str) -> str:
    return f"# Duty: revise\n\n## Diagnosis\n\n{diagnosis}\n\n## Solvers\n\nstrong: failed (too_hard to say)\n"


def knobs(task: Tree) -> dict[str, object]:
    table = tomllib.loads(task["task.toml"].data.decode())["metadata"]["forge"]["drawn"]
    assert isinstance(table["knobs"], dict)
    return table["knobs"]


def set_to(family: str, seed: int, *setting: str) -> Draw:
    """The draw with these knobs (hints, semantics, verifier), one cause, and no history."""
    drawn = draw(FAMILIES[family], seed)
    causes = {"causes": 1} if "causes" in drawn.knobs else {}
    return replace(drawn, knobs={**drawn.knobs, **causes, **dict(zip(KNOBS, setting, strict=True))})


def put(play: Play, family: str, *setting: str) -> Rendered:
    """A drafted task with these knobs."""
    task = render(FAMILIES[family], set_to(family, play.seed, *setting))
    task.tree().write(play.folder / "task")
    return task


@pytest.mark.parametrize("name", sorted(FAMILIES))
def test_a_clue_in_the_words_of_a_family_becomes_a_task_of_it(play: Play, name: str) -> None:
    family = FAMILIES[name]
    text = f"Something about {' and '.join(family.spec.keywords)}"
    assessment = play.run(draft_prompt(text, category=family.spec.category))
    assert name in assessment
    assert play.task() == render(family, draw(family, play.seed)).tree()
    assert Task.from_tree(play.task()).instruction
    assert not any(path.startswith("solution") for path in play.task())


def test_a_clue_that_fits_no_family_still_becomes_a_task(play: Play) -> None:
    play.run(draft_prompt("A juggler wants to know how many clubs are too many."))
    assert "task.toml" in play.task()


@pytest.mark.parametrize(("name", "count"), [("demo", 8), ("twelve", 12)])
def test_the_clues_that_are_shipped_lead_to_different_families(name: str, count: int) -> None:
    lines = templates().joinpath(f"clues/{name}.jsonl").read_text("utf-8").splitlines()
    clues = [Clue.model_validate_json(line) for line in lines]
    assert len({clue.id for clue in clues}) == count
    led = [{choose(FAMILIES, *words_of(clue), seed).name for seed in range(20)} for clue in clues]
    certain = [next(iter(found)) for found in led if len(found) == 1]
    assert len(set(certain)) >= 7
    assert any(len(found) > 1 for found in led), "one clue fits no family"


def words_of(clue: Clue) -> tuple[str, str]:
    prompt = f"# Duty: draft\n\n## Clue\n\n{clue.model_dump_json(indent=2, exclude_defaults=True)}\n"
    return words_of_clue(read_brief([Message("user", prompt)]))


@pytest.mark.parametrize("name", sorted(FAMILIES))
@pytest.mark.parametrize("hints", ["full", "named", "none"])
def test_the_solution_is_written_from_the_instruction_alone(play: Play, name: str, hints: str) -> None:
    task = put(play, name, hints, "unstated", "property")
    play.run(f"# Duty: solve\n\nSolve it.\n\n## Task\n\n{task.instruction}\n")
    script = (play.folder / "solution/solve.sh").read_text()
    assert script.startswith("#!/usr/bin/env bash\n")
    assert play.commands[-1] == RUN


def test_a_solution_that_fails_is_not_praised(play: Play) -> None:
    task = put(play, "double_counting", *SETTING)
    play.exit_code_of_solution = 3
    assert "failed" in play.run(f"# Duty: solve\n\n## Task\n\n{task.instruction}\n")


def test_an_instruction_of_nobody_s_is_given_up(play: Play) -> None:
    assert play.run("# Duty: solve\n\n## Task\n\nCount the sheep.\n") == "no solution known"


@pytest.mark.parametrize("name", sorted(FAMILIES))
def test_a_revision_rewrites_what_changes(play: Play, name: str) -> None:
    put(play, name, "full", "stated", "property")
    assert play.run(revise_prompt("too_easy")).startswith("too_easy: ")
    assert knobs(play.task())["hints"] == "named"
    expected = render(FAMILIES[name], set_to(name, play.seed, "named", "stated", "property")).tree()
    assert play.task().without("task.toml") == expected.without("task.toml")


def test_without_a_move_nothing_is_changed(play: Play) -> None:
    put(play, "double_counting", "none", "stated", "property")
    before = play.task()
    assert play.run(revise_prompt("too_easy")) == "no further move: nothing is left to turn for too_easy"
    assert play.task() == before


def test_alternating_diagnoses_do_not_go_round_in_circles(play: Play) -> None:
    put(play, "double_counting", "named", "stated", "property")
    assert play.run(revise_prompt("too_easy")).startswith("too_easy")
    assert play.run(revise_prompt("too_hard")).startswith("no further move")


def test_files_that_a_setting_no_longer_has_are_removed(play: Play) -> None:
    task = put(play, "double_counting", *SETTING)
    (play.folder / "task/environment/app/left_over.txt").write_text("old\n")
    (play.folder / "task/tests/report.py").write_text("print('spoilt')\n")
    play.run("# Duty: repair\n\n## Findings\n\n- tests/report.py does not run\n")
    assert play.task() == task.tree()
    assert play.run("# Duty: repair\n\n## Findings\n\n- something else\n") == "no repair known"


def test_a_task_of_another_origin_is_left_alone(play: Play) -> None:
    (play.folder / "task/task.toml").write_text("[metadata.forge.drawn]\nfamily = 'nosuch'\nseed = 1\n")
    assert play.run(revise_prompt("too_easy")) == "no further move: not drawn from a family"
    assert play.run("# Duty: repair\n\n## Findings\n\nno\n") == "no repair known"


PIECES = """# Duty: draft|# Duty: solve|# Duty: revise|# Duty: repair|## Clue|## Task|## Diagnosis|too_easy|{|}|[[[[
{"text": 3, "tags": {}}|[metadata.forge.drawn]|family = "double_counting"|seed = 3|knobs = { hints = [] }|knobs = 1
history = [{}, 3]|exit code: 1|0000000000000000000000000000000000000000000000000000000000000000  ./tests/a|```|\ud800"""
words = st.sampled_from(PIECES.replace("\n", "|").split("|"))
text = st.lists(st.one_of(words, st.text(max_size=20)), max_size=12).map("\n".join)
message = st.builds(Message, st.sampled_from(["system", "user", "assistant", "tool"]), text)


@given(messages=st.lists(message, max_size=8), seed=st.one_of(st.none(), st.integers()))
@settings(max_examples=150, deadline=None)
def test_any_messages_get_an_answer_and_always_the_same(messages: list[Message], seed: int | None) -> None:
    answer = author(messages, seed)
    assert BLOCK.search(answer) or DONE.search(answer)
    assert answer == author(messages, seed)
