"""The three solvers as programs: always well-formed, pure, and as far-sighted as each is meant to be."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from solvers import protocol
from solvers.model import Message
from solvers.rehearsal.programs import PROGRAMS
from tests.solvers.rehearsal.conversations import observed, opening, talk

NAMES = sorted(PROGRAMS)
WORDS = st.sampled_from(
    [
        "## Task\n",
        "```bash\nmake all\n```\n",
        "```bash\n",
        "TASK COMPLETE: yes\n",
        "parse the UTC offset, repeated lines, configuration layers, binary records, table of fields\n",
        "`/srv/p/README.md` `/srv/p/out/NAME.csv` `/srv/p/in/NAME.bin` `/srv/p/eff/HOST.json`\n",
        "`python3 -m thing` `git reset --hard`\n",
        "12 /srv/p/README.md\n33 /srv/p/a.py\n9 /srv/p/b.ini\n20 /srv/p/c.json\n5 /srv/p/in/x.bin\n40 /srv/p/f.jsonl\n",
        "==> /srv/p/README.md <==\n# Record\n| offset | size | type | field |\n|---|---|---|---|\n",
        "| 0 | 4 | u32 | `a` |\n",
        "1. `b.ini`: x\n2. `c.json`: y\nThe later layer wins.\n",
        "==> /srv/p/a.py <==\nimport json\ndef f(p):\n    yield json.loads(p)\ndatetime.fromisoformat(t[:19])\n",
        '{"events": 3, "repeated": 1, "keys": ["id"]}',
        '{"events": 3, "repeated": 1, "keys": 4}',
        "2024-01-01T00:00:00+02:00",
        "exit code: 0\n<stdout>\n",
        "</stdout>\n",
        "==> /srv/p/a.py <==\ndef (:\n",
        "9" * 40,
        "\0",
        "~/\\'\"",
    ]
)
TEXT = st.one_of(st.text(max_size=60), st.lists(st.one_of(WORDS, st.text(max_size=12)), max_size=12).map("".join))
MESSAGES = st.lists(st.builds(Message, st.sampled_from(["system", "user", "assistant", "tool", ""]), TEXT), max_size=8)


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(messages=MESSAGES, seed=st.none() | st.integers())
def test_any_messages_get_one_command_or_the_end(name: str, messages: list[Message], seed: int | None) -> None:
    said = PROGRAMS[name](messages, seed)
    turn = protocol.parse(said)
    assert isinstance(turn, protocol.Command | protocol.Final)
    assert not (isinstance(turn, protocol.Command) and turn.note)
    assert said == PROGRAMS[name](messages, seed)


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(instruction=TEXT, outputs=st.lists(TEXT, min_size=1, max_size=8))
def test_a_conversation_ends_whatever_the_container_says(name: str, instruction: str, outputs: list[str]) -> None:
    given_outputs = iter(outputs * 20)
    ended = talk(PROGRAMS[name], instruction, lambda _: next(given_outputs))
    assert isinstance(protocol.parse(ended.last), protocol.Final)


def test_the_weak_one_runs_the_blocks_to_the_letter_and_in_order() -> None:
    told = "Do this:\n\n```bash\ncd /srv/a\nmake\n```\n\nthen\n\n```sh\n$ make check\n```\n\n```json\n{}\n```\n"
    assert talk(PROGRAMS["rehearsal/weak"], told, lambda _: "error: no").commands == ("cd /srv/a\nmake", "make check")


def test_the_weak_one_told_no_block_looks_and_runs_what_is_named() -> None:
    told = "Repair `/srv/shop/cart.py`: `python3 cart.py 3` prints the total, `python3 cart.py NUMBER` does not."
    look, run = talk(PROGRAMS["rehearsal/weak"], told, lambda _: "").commands
    assert look.startswith("find /srv/shop ")
    assert run == "python3 cart.py 3"


def test_the_medium_one_follows_commands_when_it_knows_no_technique_that_is_named() -> None:
    commands = talk(PROGRAMS["rehearsal/medium"], "In `/srv/shop`:\n```bash\nmake paint\n```\n", lambda _: "").commands
    assert commands[-1] == "make paint"


def test_the_strong_one_follows_commands_only_where_it_finds_no_evidence_of_its_own() -> None:
    recipe = "In `/srv/shop`:\n```bash\nmake paint\n```\n"
    assert talk(PROGRAMS["rehearsal/strong"], recipe, lambda _: "").commands[-1] == "make paint"
    with_evidence = talk(PROGRAMS["rehearsal/strong"], recipe, clock_project)
    assert "make paint" not in with_evidence.commands
    assert any("astimezone" in command for command in with_evidence.commands)


def clock_project(command: str) -> str:
    """A project whose one source cuts the offset off."""
    source = "from datetime import datetime\n\ndef parse(text):\n    return datetime.fromisoformat(text[:19])\n"
    if command.startswith("find "):
        return f"{len(source)} /srv/shop/clock.py\n300 /srv/shop/visits.log\n"
    shown = {"/srv/shop/clock.py": source, "/srv/shop/visits.log": "2024-05-01T10:00:00+02:00 in\n"}
    if command.startswith("head -v"):
        return "\n".join(f"==> {path} <==\n{text}" for path, text in shown.items() if path in command)
    return ""


def test_the_strong_one_goes_on_after_a_correction_and_an_elided_output() -> None:
    messages = [*opening("Look at `/srv/shop`."), Message("assistant", "hm"), Message("user", "Nothing was run.")]
    first = PROGRAMS["rehearsal/strong"](messages, None)
    messages += [Message("assistant", first), Message("user", observed("x" * 40_000))]
    assert isinstance(protocol.parse(PROGRAMS["rehearsal/strong"](messages, None)), protocol.Command)
