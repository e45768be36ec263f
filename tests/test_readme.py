"""What the README promises holds: its config is one, its links lead somewhere, its targets and commands are there."""

import json
import re
from pathlib import Path

from forge.cli.main import COMMANDS
from forge.domain.config_reading import parse_config

PROJECT = Path(__file__).parents[1]
README = (PROJECT / "README.md").read_text()


def test_config_of_ones_own_models_is_five_lines_and_a_config():
    (block,) = re.findall(r"```toml\n(.*?)```", README, flags=re.DOTALL)
    config = parse_config(block, "README.md")
    assert len(block.splitlines()) == 5
    assert config.models_used() == ("openai/big", "openai/small")
    assert config.door().of("openai/small").api_base == "http://localhost:8001/v1"


def test_links_lead_somewhere():
    targets = [target for target in re.findall(r"\]\(([^)]+)\)", README) if not target.startswith("http")]
    assert targets
    assert [target for target in targets if not (PROJECT / target).exists()] == []


def test_commands_are_there():
    assert set(re.findall(r"`forge (\w+)", README)) == set(COMMANDS)
    makefile = (PROJECT / "Makefile").read_text()
    assert all(f"\n{target}:" in makefile for target in re.findall(r"^    make (\w+)", README, flags=re.MULTILINE))


def test_candidates_of_the_excerpt_are_those_of_the_demo():
    clues = (PROJECT / "templates/clues/demo.jsonl").read_text(encoding="utf-8").splitlines()
    excerpt = README.split("<!-- demo excerpt -->")[1].split("<!-- end of demo excerpt -->")[0]
    assert all(f"    {json.loads(clue)['id']} " in excerpt for clue in clues)
