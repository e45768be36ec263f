"""What holds for every shipped family and any seed, without running anything."""

import ast
from itertools import product

import pytest

from forge.domain.configtext import refuse_unauthored
from forge.domain.structure import context_findings
from forge.domain.task import Task
from forge.rehearsal.choosing import recognise
from forge.rehearsal.drawing import Draw, draw
from forge.rehearsal.families import Family, load_families
from forge.rehearsal.rendering import reference_solution, render, variants

FAMILIES = load_families()
SEEDS = range(50)
every_family = pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES.keys())


@every_family
def test_every_draw_renders_to_a_task(family: Family) -> None:
    for seed in SEEDS:
        drawn = draw(family, seed)
        tree = render(family, drawn).tree()
        script = reference_solution(family, drawn)
        task = Task.from_tree(tree.merged({"solution/solve.sh": script}))
        refuse_unauthored(task.config_text)
        assert list(context_findings(task)) == []
        for path, file in tree.items():
            if path.endswith(".py"):
                ast.parse(file.data.decode(), path)
        assert defined_tests(tree["tests/test_outputs.py"].data.decode()) == set(family.spec.checks)
        assert set(map(str, task.config.metadata.forge.guards)) == set(family.spec.guards)


def defined_tests(source: str) -> set[str]:
    functions = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef)]
    return {function.name for function in functions if function.name.startswith("test_")}


@every_family
def test_each_knob_changes_something_and_the_reference_stays_the_same(family: Family) -> None:
    drawn = draw(family, 3)
    names = sorted(family.spec.knobs)
    seen = []
    for setting in product(*(family.spec.knobs[name].values for name in names)):
        turned = drawn.turned(**dict(zip(names, setting, strict=True)))
        made = render(family, turned)
        seen.append((made.instruction, made.environment, made.tests))
        assert reference_solution(family, turned) == reference_solution(family, drawn)
    assert all(made not in seen[:number] for number, made in enumerate(seen))


@every_family
def test_no_two_drawn_people_or_things_share_a_word(family: Family) -> None:
    for seed in SEEDS:
        lists = [value for value in draw(family, seed).values.values() if isinstance(value, list)]
        for value in lists:
            assert len({str(item) for item in value}) == len(value)


@every_family
def test_the_family_is_recognised_by_its_instruction(family: Family) -> None:
    for seed in SEEDS:
        drawn = draw(family, seed)
        found = recognise(FAMILIES, render(family, drawn).instruction, seed)
        assert found is not None
        assert (found[0].name, found[1].values) == (family.name, drawn.values)


@every_family
def test_the_commands_are_in_the_instruction_of_full_hints_only(family: Family) -> None:
    for seed in SEEDS:
        drawn = draw(family, seed)
        assert "```bash" in render(family, with_hints(drawn, "full")).instruction
        assert "```" not in render(family, with_hints(drawn, "named")).instruction
        assert "```" not in render(family, with_hints(drawn, "none")).instruction


def with_hints(drawn: Draw, hints: str) -> Draw:
    return drawn.turned(hints=hints)


@every_family
def test_there_are_wrong_solutions_and_another_right_one(family: Family) -> None:
    drawn = draw(family, 1)
    assert len(variants(family, drawn, "wrong")) >= 2
    assert variants(family, drawn, "alternatives")


def test_each_family_has_a_category_of_its_own() -> None:
    assert len({family.spec.category for family in FAMILIES.values()}) == len(FAMILIES)
