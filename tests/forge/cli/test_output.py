"""What models write never steers the terminal of who reads it."""

from hypothesis import given
from hypothesis import strategies as st

from forge.cli.output import plain, print_table, print_text
from forge.cli.progress_bar import ProgressBar
from forge.factory.progress import Ending


def test_control_characters_are_spelt_out(capsys) -> None:
    hostile = "a\x1b[2Jb\x9b31m\r\x07"
    print_text(hostile)
    print_table(["one", "two"], [[hostile, "b"], ["c", hostile]])
    ProgressBar("run", events=True).candidate_ended("fix-it", Ending.DISCARDED, hostile)
    said = capsys.readouterr()
    shown = "a\\x1b[2Jb\\x9b31m\\x0d\\x07"
    assert said.out.splitlines() == [
        shown,
        f"{'one':<24}  two",
        f"{'-' * 24}  {'-' * 24}",
        f"{shown}  b",
        f"{'c':<24}  {shown}",
    ]
    assert said.err == f"fix-it: discarded: {shown}\n"


@given(st.text())
def test_everything_else_stays(text: str) -> None:
    shown = plain(text)
    assert all(char in "\t\n" or not (ord(char) < 32 or 127 <= ord(char) < 160) for char in shown)
    if shown != text:
        assert any(ord(char) < 32 or 127 <= ord(char) < 160 for char in text)
