"""Loading, drawing and rendering, on small families written for the test."""

import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forge.rehearsal.drawing import draw
from forge.rehearsal.families import Family, FamilyInvalid, FamilySpec, load_families
from forge.rehearsal.rendering import reference_solution, render, variants

TOML = """
name = "small"
category = "debugging"
title = "Repair {{ project }}"
keywords = ["repair"]
tags = ["bash"]
expert_time_estimate_min = 5
checks = ["test_one", "test_two"]
guards = ["test_two"]
artifacts = ["{{ root }}/out"]

[[copies]]
source = "environment/make/generate.py"
to = "tests/generate.py"

[knobs.hints]
values = ["full", "named", "none"]
weights = [0, 1, 0]
[knobs.causes]
values = [1, 2]

[draw.root]
text = "/srv/{{ project }}"
[draw.project]
words = "projects"
[draw.people]
choice = ["ada", "bea", "carla"]
distinct = 2
[draw.port]
between = [8000, 8010]
[draw.day]
date = ["2024-02-28", "2024-03-01"]
"""
FILES = {
    "family.toml": TOML,
    "instruction.md.j2": "Repair `{{ root }}`.{% if knobs.hints == 'named' %} Use sed.{% endif %}\n",
    "solve.sh.j2": "{% raw %}count=${#list[@]}{% endraw %}; touch {{ root }}/out\n",
    "environment/Dockerfile.j2": '{% include "environment/header.j2" %}\nCOPY app {{ root }}\n',
    "environment/app/{{ project }}.conf.j2": "port = {{ port }}\n",
    "environment/app/second.j2": "{% if knobs.causes == 2 %}second{% endif %}\n",
    "environment/make/generate.py": "print('{{ kept }}')\n",
    "tests/test_outputs.py.j2": "def test_one(): ...\ndef test_two(): ...\n",
    "wrong/nothing.sh.j2": "true {{ project }}\n",
}


def write(root: Path, **changes: str) -> Path:
    (root / "words.toml").write_text('projects = ["keystone", "harbour"]\n')
    for path, text in {**FILES, **changes}.items():
        target = root / "small" / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
    return root


@pytest.fixture
def family(tmp_path: Path) -> Family:
    return load_families(write(tmp_path))["small"]


def test_all_parts_are_rendered_with_the_drawn_values(family: Family) -> None:
    drawn = draw(family, 7)
    task = render(family, drawn)
    project = drawn.values["project"]
    assert task.instruction == f"Repair `/srv/{project}`. Use sed.\n"
    assert task.environment[f"app/{project}.conf"].data == f"port = {drawn.values['port']}\n".encode()
    assert task.environment["Dockerfile"].data.startswith(b"FROM debian:bookworm-slim\n")
    assert task.tests["generate.py"] == task.environment["make/generate.py"]
    assert task.tests["generate.py"].data == b"print('{{ kept }}')\n"
    assert reference_solution(family, drawn) == f"count=${{#list[@]}}; touch /srv/{project}/out\n"
    assert variants(family, drawn, "wrong") == {"nothing.sh": f"true {project}\n"}
    assert set(task.tree()) > {"instruction.md", "task.toml", "environment/Dockerfile", "tests/test_outputs.py"}


def test_task_toml_carries_what_a_revision_needs(family: Family) -> None:
    drawn = draw(family, 7).turned(hints="none").turned(causes=2)
    config = tomllib.loads(render(family, drawn).config_text)
    rehearsal = config["metadata"]["forge"]["drawn"]
    assert (rehearsal["family"], rehearsal["seed"]) == ("small", 7)
    assert rehearsal["knobs"] == {"hints": "none", "causes": 2}
    assert [setting["hints"] for setting in rehearsal["history"]] == ["named", "none"]
    assert config["artifacts"] == [f"/srv/{drawn.values['project']}/out"]
    assert config["metadata"]["forge"]["guards"] == ["test_two"]


def test_a_file_that_renders_to_blanks_is_left_out(family: Family) -> None:
    drawn = draw(family, 7)
    assert "app/second" not in render(family, drawn.turned(causes=1)).environment
    assert "app/second" in render(family, drawn.turned(causes=2)).environment


@given(seed=st.integers(0, 2**40))
def test_draws_hold_their_rules_and_do_not_depend_on_each_other(seed: int) -> None:
    spec = FamilySpec.model_validate(tomllib.loads(TOML))
    words = {"projects": ("keystone", "harbour")}
    drawn = draw(Family(spec=spec, files={}, words=words), seed)
    assert len(set(drawn.values["people"])) == 2  # type: ignore[arg-type]
    assert 8000 <= int(drawn.values["port"]) <= 8010  # type: ignore[arg-type]
    assert drawn.values["day"] in {"2024-02-28", "2024-02-29", "2024-03-01"}
    assert drawn.knobs["hints"] == "named"
    fewer = spec.model_copy(update={"draw": {k: v for k, v in spec.draw.items() if k != "port"}})
    again = draw(Family(spec=fewer, files={}, words=words), seed)
    assert dict(again.values) == {k: v for k, v in drawn.values.items() if k != "port"}


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"family.toml": TOML.replace('guards = ["test_two"]', 'guards = ["test_six"]')}, "guards that are no checks"),
        (
            {"family.toml": TOML.replace("test_two", "test_one").replace('["test_one", "test_one"]', '["test_one"]')},
            "more than guards",
        ),
        ({"family.toml": TOML + '[draw.other]\nwords = "projects"\n'}, "could collide"),
        ({"family.toml": TOML + '[draw.other]\nwords = "nosuch"\n'}, "no such word list"),
        ({"family.toml": TOML + "[draw.knobs]\nbetween = [1, 2]\n"}, "reserved"),
        ({"family.toml": TOML + "[draw.other]\nbetween = [1, 2]\nchoice = [1]\n"}, "exactly one of"),
        ({"family.toml": TOML + "surprise = 1\n"}, "surprise"),
        ({"family.toml": TOML.replace('"debugging"', '"cooking"')}, "category"),
        ({"family.toml": "name ="}, "family.toml"),
    ],
)
def test_a_broken_family_is_refused(tmp_path: Path, changes: dict[str, str], complaint: str) -> None:
    with pytest.raises(FamilyInvalid, match=complaint):
        load_families(write(tmp_path, **changes))


def test_an_undefined_name_is_refused(tmp_path: Path) -> None:
    family = load_families(write(tmp_path, **{"instruction.md.j2": "{{ nosuch }}"}))["small"]
    with pytest.raises(FamilyInvalid, match=r"instruction\.md\.j2: 'nosuch' is undefined"):
        render(family, draw(family, 1))


def test_the_solution_cannot_see_the_knobs(tmp_path: Path) -> None:
    family = load_families(write(tmp_path, **{"solve.sh.j2": "{{ knobs.hints }}"}))["small"]
    with pytest.raises(FamilyInvalid, match="knobs"):
        reference_solution(family, draw(family, 1))
