import pytest
from hypothesis import given
from hypothesis import strategies as st

from solvers import protocol
from solvers.protocol import Command, Final, Malformed, parse

LINES = st.lists(
    st.text(st.characters(exclude_characters="\n\r`<\0", exclude_categories=["Cs"]), max_size=30), min_size=1
)
FENCED_LINES = st.lists(st.sampled_from(["```", "```python", "```bash", "````", "x", "", "TASK COMPLETE: no", "EOF_"]))


def test_one_block_is_the_command():
    assert parse("Looking around.\n\n```bash\nls -la\npwd\n```\nThat lists it.") == Command("ls -la\npwd")


def test_sh_and_shell_blocks_and_upper_case_are_commands():
    for name in ("sh", "shell", "Bash", "bash "):
        assert parse(f"```{name}\nls\n```") == Command("ls")


def test_other_blocks_are_not_run():
    assert parse("```python\nprint(1)\n```\n```\nls\n```") == Malformed(protocol.NOTHING_FOUND)
    assert parse("It prints\n```\nfoo\n```\nso\n```bash\nls\n```\n") == Command("ls")


def test_marker_ends_and_what_follows_is_the_assessment():
    assert parse("I checked.\nTASK COMPLETE: all rows add up\nand the log is clean.\n") == Final(
        "all rows add up\nand the log is clean."
    )
    assert parse("TASK COMPLETE:") == Final("")


def test_marker_counts_only_at_the_start_of_a_line_outside_of_blocks():
    assert isinstance(parse("Then I say TASK COMPLETE: later"), Malformed)
    assert isinstance(parse("```\nTASK COMPLETE: quoted\n```"), Malformed)
    assert parse("```bash\necho 'x\nTASK COMPLETE: y'\n```") == Command("echo 'x\nTASK COMPLETE: y'")


def test_command_wins_over_marker_and_says_so():
    for answer in ("```bash\nls\n```\nTASK COMPLETE: ok", "TASK COMPLETE: ok\n```bash\nls\n```"):
        assert parse(answer) == Command("ls", protocol.MARKER_IGNORED)


def test_corrections():
    assert parse("") == Malformed(protocol.NOTHING_FOUND)
    assert parse("```bash\nls\n```\n```sh\npwd\n```") == Malformed(protocol.SEVERAL_BLOCKS)
    assert parse("```bash\nls\n") == Malformed(protocol.UNCLOSED_BLOCK)
    assert parse("```bash\n \n```") == Malformed(protocol.EMPTY_BLOCK)
    assert parse("```bash\necho \0\n```") == Malformed(protocol.NUL_IN_BLOCK)
    assert parse(f"```bash\necho {'x' * protocol.MOST_COMMAND_BYTES}\n```") == Malformed(protocol.LONG_BLOCK)


def test_unclosed_block_beside_a_marker_does_not_end_the_task():
    assert parse("```bash\nls\nTASK COMPLETE: ok") == Malformed(protocol.UNCLOSED_BLOCK)


def test_fences_in_a_heredoc_are_text():
    command = "cat > /app/README.md <<'EOF'\n# Use\n```\nrun\n```\n```bash\nmake\n```\nEOF\necho done"
    assert parse(f"I write it.\n```bash\n{command}\n```\nDone.") == Command(command)


def test_a_lone_fence_in_a_heredoc_is_text():
    command = "cat > a.md <<EOF\n```\nEOF"
    assert parse(f"```bash\n{command}\n```") == Command(command)


def test_several_heredocs_on_one_line_and_tabs():
    command = 'paste <(cat <<A) <(cat <<-"B C")\n```\nA\n```\n\tB C\nls'
    assert parse(f"```bash\n{command}\n```") == Command(command)


def test_heredoc_whose_mark_never_comes_is_none():
    assert parse("```bash\necho $((1 <<n))\n```\nand\n```bash\nls\n```") == Malformed(protocol.SEVERAL_BLOCKS)
    assert parse("```bash\ngrep x <<<word\n```") == Command("grep x <<<word")


def test_labelled_fence_in_a_quoted_string_opens_an_inner_block():
    command = "echo '# Use\n```python\nprint(1)\n```\n' > a.md"
    assert parse(f"```bash\n{command}\n```") == Command(command)


def test_more_backticks_close_with_as_many():
    command = "printf '\n```\n' > a.md"
    assert parse(f"````bash\n{command}\n````") == Command(command)


def test_plain_fences_in_open_quotes_are_text():
    for command in (
        "echo '# Use\n```\nmake\n```\n' > a.md",
        'printf "%s" "it\'s \\" so\n```\n" > a.md',
        'python3 -c \'print("""\n```\n""")\'',
        "# don't stop here\necho '\n```'",
    ):
        assert parse(f"So:\n```bash\n{command}\n```\nIt prints\n```\nx\n```\n") == Command(command)


def test_quotes_that_never_close_do_not_hold_the_block_open():
    assert parse("```bash\necho it's\n```\nThat prints it.") == Command("echo it's")
    assert parse("```bash\n# it's\nls\n```\nIt's\n```\nfoo\n```") == Command("# it's\nls")


@pytest.mark.parametrize("line", ["```x", "````", "cat <<A", "```bash\necho '", "```bash\ncat <<A\nA", "<<A<<A<<A<<A"])
def test_long_hostile_answers_are_read_in_time(line: str):
    assert isinstance(parse(f"{line}\n" * 60_000), Malformed | Command)


@pytest.mark.parametrize("part", ["`", " ", "``` ", "<<'", "<< ", "'", "\\", "</think>", "TASK COMPLETE:"])
def test_long_hostile_lines_are_read_in_time(part: str):
    assert isinstance(parse("```bash\n```" + part * 100_000 + "x`"), Malformed)


def test_a_stray_fence_after_the_command_is_prose():
    assert parse("```bash\nls\n```\n```\n") == Command("ls")


def test_thinking_is_not_part_of_the_answer():
    assert parse("<think>maybe\n```bash\nrm -rf /\n```\n</think>\n```bash\nls\n```") == Command("ls")
    assert parse("```bash\nrm x\n```</think>TASK COMPLETE: fine") == Final("fine")


def test_carriage_returns_before_newlines_go():
    assert parse("```bash\r\nls\r\npwd\r\n```\r\n") == Command("ls\npwd")


def test_indented_fences_up_to_three_blanks():
    assert parse("1. Look:\n   ```bash\n   ls\n   ```") == Command("   ls")


@given(st.text())
def test_any_text_parses(text: str):
    assert isinstance(parse(text), Command | Final | Malformed)


@given(LINES)
def test_a_command_without_fences_comes_back_as_it_is(lines: list[str]):
    command = "\n".join(lines)
    turn = parse(f"Thought.\n```bash\n{command}\n```\nMore thought.")
    assert turn == (Command(command) if command.strip() else Malformed(protocol.EMPTY_BLOCK))


@given(FENCED_LINES)
def test_whatever_a_heredoc_holds_comes_back_as_it_is(lines: list[str]):
    command = "\n".join(["cat > a.md <<'EOF'", *lines, "EOF", "wc -l a.md"])
    assert parse(f"```bash\n{command}\n```") == Command(command)


@given(st.lists(st.sampled_from(["```", "```bash", "```sh", "````bash", "ls", "TASK COMPLETE: x", "cat <<E", "E", ""])))
def test_a_command_is_always_a_run_of_whole_lines_of_the_answer(lines: list[str]):
    answer = "\n".join(lines)
    turn = parse(answer)
    if isinstance(turn, Command):
        assert f"\n{turn.text}\n" in f"\n{answer}\n"
        assert (turn.note == "") or "TASK COMPLETE: x" in lines
