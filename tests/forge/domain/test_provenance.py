"""What a kept task says of where it came from, whatever way its task.toml was written."""

import tomllib

import pytest

from forge.domain.clue import Clue
from forge.domain.provenance import with_provenance
from forge.domain.task import Task
from sandbox.tree import Tree

FILES = {"instruction.md": "Do it.\n", "environment/Dockerfile": "FROM x\n", "tests/test.sh": "true\n"}
TOP, END = 'artifacts = ["/a"]\n', "[environment]\ncpus = 1\n"
WAYS = {
    "tables": f'{TOP}[metadata]\ncategory = "x"\n[metadata.forge]\nguards = ["t"]\n{END}',
    "inline": f'metadata = {{ category = "x", forge = {{ guards = ["t"] }} }}\n{TOP}{END}',
    "dotted": f'metadata.category = "x"\nmetadata.forge.guards = ["t"]\n{TOP}{END}',
    "scattered": f'{TOP}[metadata.forge]\nguards = ["t"]\n{END}[metadata]\ncategory = "x"\n',
    "marked": f'\ufeff{TOP}[metadata]\ncategory = "x"\nforge.guards = ["t"]\n{END}',
    "dotted inline": f'metadata = {{ category = "x", forge.guards = ["t"] }}\n{TOP}{END}',
}


@pytest.mark.parametrize("way", WAYS)
def test_everything_else_stays_as_it_is(way: str) -> None:
    task = Task.from_tree(Tree({**FILES, "task.toml": WAYS[way]}))
    clue = Clue(text="a clue", licence="CC0-1.0")
    kept = with_provenance(
        task, clue, strategy="contrastive", rounds=2, models=["rehearsal/a", "b"], substitutes=[("x", "y")]
    )
    assert tomllib.loads(kept.config_text) == {
        "artifacts": ["/a"],
        "environment": {"cpus": 1},
        "metadata": {
            "category": "x",
            "forge": {
                "guards": ["t"],
                "clue": "a clue",
                "licence": "CC0-1.0",
                "strategy": "contrastive",
                "rounds": 2,
                "models": ["b", "rehearsal/a"],
                "rehearsal": True,
                "substitutes": ["x -> y"],
            },
        },
    }
    changed = task.parts().changed(kept.parts())
    assert changed == ("metadata",)
