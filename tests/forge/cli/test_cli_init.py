"""forge init and docs/config.md: both are made from the config's own docstrings."""

import re
from pathlib import Path

from forge.cli.config_pages import config_markdown, config_toml
from forge.domain.config import Config
from forge.domain.config_reading import parse_config


def test_init_writes_a_file_that_says_what_the_defaults_say(shell):
    said = shell.forge("init")
    assert said.code == 0
    text = (shell.folder / "forge.toml").read_text()
    assert parse_config(text, "forge.toml") == Config()


def test_every_line_of_comment_stands_before_what_it_explains():
    lines = config_toml().splitlines()
    assert all(len(line) <= 120 for line in lines)
    assert sum(line.startswith("#") for line in lines) > 100


def test_keys_that_are_commented_out_are_keys():
    """Each `# key = ...` can be given a value: it is known where it stands."""
    text = config_toml().partition("# One table a model")[0]
    numbers = re.sub(
        r"(?m)^# (tokens|cost_usd|temperature|run_usd|candidate_usd|candidate_hours) = \.\.\.$", r"\1 = 1", text
    )
    words = re.sub(r"(?m)^# (ca_bundle) = \.\.\.$", r'\1 = "x"', numbers)
    assert "= ..." not in words
    assert parse_config(words, "f").budget.run_usd == 1


def test_init_never_overwrites(shell):
    file = shell.write("forge.toml", "mine")
    said = shell.forge("init")
    assert (said.code, file.read_text()) == (2, "mine")
    assert "forge.toml: exists already" in said.err


def test_init_into_a_folder_that_is_not_there(shell):
    said = shell.forge("init", "nowhere/forge.toml")
    assert said.code == 2
    assert "its folder does not exist" in said.err


def test_page_of_the_config_is_up_to_date():
    page = Path(__file__).parents[3] / "docs/config.md"
    assert page.read_text() == config_markdown(), "python -m forge.cli.config_pages > docs/config.md"


def test_page_names_every_key():
    page = config_markdown()
    for section in (Config.model_fields["run"], Config.model_fields["sandbox"]):
        for key in type(section.default).model_fields:
            assert f"`{key}`" in page or f".{key}]" in page
