"""Clue files: good lines are used, broken ones named."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forge.domain.clue import Clue
from forge.domain.clue_lines import ClueLines, parse_clue_lines, without_repeats


def test_good_lines_are_used_and_broken_ones_named_by_number():
    data = b'{"text": "one"}\n\n{broken\n"two"\n{"text": "three", "tags": ["a"]}\n'
    found = parse_clue_lines(data, "clues.jsonl")
    assert [clue.text for clue in found.clues] == ["one", "two", "three"]
    assert found.problems == (
        "clues.jsonl: line 3: not JSON: Expecting property name enclosed in double quotes at column 2",
    )


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (b"3", "not a clue: an object with a text, or a string, is expected"),
        (b"[]", "not a clue: an object with a text, or a string, is expected"),
        (b"{}", "text: field required"),
        (b'{"text": ""}', "text: string should have at least 1 character"),
        (b'{"text": " \\t"}', "text: there are only blanks in it"),
        (b'{"text": "a", "tag": 1}', "tag: unknown key (known: text, id, category, tags, tools, source, licence)"),
        (b'{"text": "a", "id": "../x"}', "id: string should match pattern"),
        (b"\xff\xfe", "not UTF-8 text"),
        (b"[" * 100_000, "not a clue: nested too deeply"),
    ],
)
def test_what_is_wrong_with_a_line_is_said(line, problem):
    (said,) = parse_clue_lines(line, "f").problems
    assert said.startswith(f"f: line 1: {problem}")


def test_byte_order_mark_and_windows_line_ends_are_no_matter():
    assert parse_clue_lines(b'\xef\xbb\xbf"a"\r\n"b"\r\n', "f") == ClueLines((Clue(text="a"), Clue(text="b")), ())


def test_same_clue_twice_is_one_clue_and_another_of_its_id_is_a_problem():
    one, same, other = Clue(text="a", id="x"), Clue(text="a", id="x"), Clue(text="b", id="x")
    assert without_repeats([ClueLines((one,), ("p",)), ClueLines((same, other), ())]) == ClueLines(
        (one,), ("p", "clue 'x': there are two different clues of this id; the first one is used")
    )


def test_long_words_do_not_make_two_texts_one_clue():
    words = "internationalisation containerisation characterisation responsibilities transformations"
    ids = [Clue(text=f"{words} {last}").id for last in ("one", "two")]
    assert ids[0] != ids[1]
    assert {Clue(text="x", id=made).id for made in ids} == set(ids)


@given(st.binary())
def test_any_bytes_give_clues_and_problems_only(data):
    found = parse_clue_lines(data, "f")
    lines = [line for line in data.removeprefix(b"\xef\xbb\xbf").split(b"\n") if line.strip()]
    assert len(found.clues) + len(found.problems) == len(lines)


@given(st.lists(st.text(min_size=1).filter(str.strip)))
def test_every_text_survives(texts):
    data = "\n".join(json.dumps(text) for text in texts).encode()
    assert [clue.text for clue in parse_clue_lines(data, "f").clues] == texts
