from hypothesis import given
from hypothesis import strategies as st

from sandbox.api import ExecResult
from solvers.observation import elided, read, render

OUTPUT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))


def test_both_streams_and_the_exit_code():
    result = ExecResult(3, b"out\n", b"err\n", 0.1)
    assert render(result, 1000) == "exit code: 3\n<stdout>\nout\n</stdout>\n<stderr>\nerr\n</stderr>"


def test_silent_command():
    assert render(ExecResult(0, b"", b"", 0.1), 1000) == "exit code: 0"


def test_invalid_utf8_is_replaced():
    assert "a\ufffdb" in render(ExecResult(0, b"a\xffb", b"", 0.1), 1000)


def test_what_was_unusual_is_said():
    result = ExecResult(None, b"", b"", 12.0, timed_out=True, oom_killed=True, stdout_truncated=True)
    text = render(result, 1000, "a note")
    assert text.startswith("a note\n")
    assert "ended after 12.0 s" in text
    assert "memory limit" in text
    assert "Of stdout only the beginning and the end were kept" in text
    assert text.endswith("exit code: none")
    assert "printed more than is kept" in render(ExecResult(None, b"x", b"", 1.0, output_limit=True), 1000)


def test_middle_is_left_out_and_counted():
    assert elided("abcdefghij", 4) == "ab\n[... 6 characters left out ...]\nij"
    assert elided("abcdefghij", 0) == "\n[... 10 characters left out ...]\n"


def test_long_stderr_leaves_room_for_stdout():
    text = render(ExecResult(0, b"o" * 5000, b"e" * 5000, 0.1), 1000)
    assert text.count("o") > 740
    assert text.count("e") > 240
    assert text.count("characters left out") == 2


def test_short_stdout_leaves_its_room_to_stderr():
    text = render(ExecResult(1, b"ok", b"e" * 900, 0.1), 1000)
    assert "left out" not in text


@given(OUTPUT, st.integers(0, 50))
def test_elision_keeps_head_and_tail_and_counts_right(text: str, most: int):
    shown = elided(text, most)
    if len(text) <= most:
        assert shown == text
    else:
        head, tail = (most + 1) // 2, most // 2
        assert shown.startswith(text[:head])
        assert shown.endswith(text[len(text) - tail :])
        assert f"[... {len(text) - most} characters left out ...]" in shown


@given(st.integers(-5, 300) | st.none(), OUTPUT, OUTPUT)
def test_read_gives_back_what_was_rendered(code: int | None, stdout: str, stderr: str):
    result = ExecResult(code, stdout.encode(), stderr.encode(), 0.1)
    text = render(result, 10**6, "note")
    assert read(text) == (code, stdout.removesuffix("\n"), stderr.removesuffix("\n"))


@given(OUTPUT)
def test_read_never_fails(text: str):
    read(text)
    read(f"exit code: 0\n{text}")
