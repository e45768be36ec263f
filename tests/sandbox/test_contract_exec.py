"""What every engine does with commands: on the fake in memory and on Docker."""

import time

import pytest

from sandbox.api import Engine, Image, Machine, Owner, Sandbox
from sandbox.errors import SandboxGone
from sandbox.tree import File, Tree


def run(sandbox: Sandbox, command: str, **options: object) -> str:
    result = sandbox.exec(command, timeout_sec=20, **options)  # type: ignore[arg-type]
    assert result.exit_code == 0, result
    return result.stdout.decode()


def test_output_and_exit_code(sandbox: Sandbox) -> None:
    result = sandbox.exec("echo out; echo err >&2; exit 3", timeout_sec=20)
    assert (result.exit_code, result.stdout, result.stderr) == (3, b"out\n", b"err\n")
    assert not any((result.timed_out, result.output_limit, result.stdout_truncated, result.oom_killed))


def test_a_sequence_runs_without_a_shell(sandbox: Sandbox) -> None:
    result = sandbox.exec(["echo", "$HOME", "a  b", "*"], timeout_sec=20)
    assert result.stdout == b"$HOME a  b *\n"


def test_exit_codes_by_signals_are_the_shells(sandbox: Sandbox) -> None:
    killed = sandbox.exec("bash -c 'exit 137'", timeout_sec=20)
    assert (killed.exit_code, killed.stderr) == (137, b"")


def test_an_unknown_command_is_127(sandbox: Sandbox) -> None:
    result = sandbox.exec("surely-not-there", timeout_sec=20)
    assert result.exit_code == 127
    assert b"not found" in result.stderr


def test_a_syntax_error_is_2(sandbox: Sandbox) -> None:
    assert sandbox.exec("if then fi (", timeout_sec=20).exit_code == 2


def test_starts_in_the_images_folder_with_its_variables(sandbox: Sandbox) -> None:
    assert run(sandbox, 'pwd; echo "$COLOUR"') == "/work\nblue\n"


def test_workdir_env_and_user_of_one_command(sandbox: Sandbox) -> None:
    said = run(sandbox, 'pwd; echo "$COLOUR $SHAPE"; id -u', workdir="/tmp", env={"SHAPE": "round"}, user="nobody")
    assert said == "/tmp\nblue round\n65534\n"
    assert run(sandbox, 'echo "[$SHAPE]"; id -u') == "[]\n0\n"


def test_env_and_workdir_of_the_machine(engine: Engine, image: Image, owner: Owner) -> None:
    machine = Machine(env={"COLOUR": "red", "SIZE": "a b"}, workdir="/srv")
    with engine.start(image, machine, owner) as sandbox:
        assert run(sandbox, 'pwd; echo "$COLOUR $SIZE"') == "/srv\nred a b\n"


def test_an_unknown_user_or_folder_is_the_commands_failure(sandbox: Sandbox) -> None:
    for options in ({"user": "nosuchuser"}, {"workdir": "/no/such"}):
        result = sandbox.exec("true", timeout_sec=20, **options)  # type: ignore[arg-type]
        assert result.exit_code == 126
        assert result.stderr


def test_a_command_with_a_nul_byte_is_its_own_failure(sandbox: Sandbox) -> None:
    assert sandbox.exec("echo a\0b", timeout_sec=20).exit_code == 126


def test_state_stays_between_commands(sandbox: Sandbox) -> None:
    run(sandbox, "mkdir -p a/b && echo one > a/b/f && echo two >> a/b/f")
    assert run(sandbox, "cat a/b/f; ls a") == "one\ntwo\nb\n"


def test_stdin_is_empty(sandbox: Sandbox) -> None:
    assert run(sandbox, "cat; echo end") == "end\n"


def test_a_here_document_writes_a_file_as_it_stands(sandbox: Sandbox) -> None:
    run(sandbox, "cat > f.py <<'EOF'\nprint(\"$HOME `x`\")\n\tindented \\n\nEOF\necho done")
    assert run(sandbox, "cat f.py") == 'print("$HOME `x`")\n\tindented \\n\n'


def test_a_here_document_without_quotes_expands(sandbox: Sandbox) -> None:
    assert run(sandbox, "X=7\ncat <<EOF\nx is $X, not \\$X\nEOF") == "x is 7, not $X\n"


def test_lists_conditions_and_loops(sandbox: Sandbox) -> None:
    script = """
    # a comment
    for n in 1 2 3; do
      if [ "$n" -eq 2 ]; then continue_it=no; elif test "$n" = 3; then echo three; else echo other; fi
    done
    false || echo "after false"
    true && ! false && echo 'all true'
    ( cd /tmp; pwd ); pwd
    """
    assert run(sandbox, script) == "other\nthree\nafter false\nall true\n/tmp\n/work\n"


def test_pipes_and_substitution(sandbox: Sandbox) -> None:
    assert run(sandbox, "printf 'b\\na\\nab\\n' | grep a | wc -l; echo \"n=$(seq 3 | tail -n 1)\"") == "2\nn=3\n"


def test_redirections(sandbox: Sandbox) -> None:
    said = run(sandbox, "{ echo out; echo err >&2; } > both 2>&1; cat both; ls /nope 2>/dev/null || wc -c < both")
    assert said == "out\nerr\n8\n"


def test_set_e_stops_a_script(sandbox: Sandbox) -> None:
    result = sandbox.exec("set -e\necho before\nfalse\necho after", timeout_sec=20)
    assert (result.exit_code, result.stdout) == (1, b"before\n")


def test_a_script_file_with_arguments(sandbox: Sandbox) -> None:
    sandbox.put(Tree({"go.sh": File(b'#!/bin/bash\necho "$1-$2"; exit 4\n', 0o755)}), "/opt/x")
    assert sandbox.exec("bash /opt/x/go.sh a b", timeout_sec=20).exit_code == 4
    assert sandbox.exec("/opt/x/go.sh a b", timeout_sec=20).stdout == b"a-b\n"


def test_bytes_survive(sandbox: Sandbox) -> None:
    assert sandbox.exec(r"printf '\377\000\376\r\n\001'", timeout_sec=20).stdout == b"\xff\x00\xfe\r\n\x01"


def test_a_long_command(sandbox: Sandbox) -> None:
    text = "é" * 200_000
    assert run(sandbox, f"cat > big <<'EOF'\n{text}\nEOF\nwc -c < big; echo \"[$1]\"") == "400001\n[]\n"


def test_output_beyond_the_cap_keeps_head_and_tail(sandbox: Sandbox) -> None:
    result = sandbox.exec("echo first; seq 1 500; echo last; exit 5", timeout_sec=20, output_limit=1000)
    assert result.exit_code == 5
    assert result.stdout_truncated
    assert not result.stderr_truncated
    assert len(result.stdout) == 1000
    assert result.stdout.startswith(b"first\n1\n")
    assert result.stdout.endswith(b"500\nlast\n")


def test_output_without_end_is_ended(sandbox: Sandbox) -> None:
    result = sandbox.exec("yes", timeout_sec=60, output_limit=10_000)
    assert result.output_limit
    assert result.exit_code is None
    assert not result.timed_out
    assert len(result.stdout) == 10_000
    assert run(sandbox, "echo alive") == "alive\n"


def test_a_command_that_sleeps_past_its_limit(sandbox: Sandbox) -> None:
    result = sandbox.exec("echo began; sleep 1000; echo never", timeout_sec=1)
    assert result.timed_out
    assert result.exit_code is None
    assert result.stdout == b"began\n"
    assert result.duration_sec >= 1
    assert run(sandbox, "echo alive") == "alive\n"


def test_a_timeout_ends_what_the_command_started_and_spares_what_was_there(sandbox: Sandbox) -> None:
    run(sandbox, "sleep 500 & echo $! > service")
    result = sandbox.exec("sleep 501 & echo $! > child; sleep 1000", timeout_sec=1)
    assert result.timed_out
    # An ended process keeps its number until it is reaped, a moment later.
    look = "for n in 1 2 3 4 5 6 7 8 9; do if kill -0 $(cat child) 2>/dev/null; then sleep 0.3; fi; done"
    said = run(sandbox, f"{look}; kill -0 $(cat service) && echo service; kill -0 $(cat child) || echo no child")
    assert said == "service\nno child\n"


def test_a_background_job_does_not_delay_the_return(sandbox: Sandbox) -> None:
    began = time.monotonic()
    assert run(sandbox, "sleep 300 & echo started") == "started\n"
    assert run(sandbox, "echo next") == "next\n"
    assert time.monotonic() - began < 60


def test_commands_after_stop_are_refused(sandbox: Sandbox) -> None:
    sandbox.stop()
    with pytest.raises(SandboxGone):
        sandbox.exec("true", timeout_sec=20)
    assert sandbox.ended is None


def test_close_twice_and_then_use(sandbox: Sandbox) -> None:
    sandbox.close()
    sandbox.close()
    with pytest.raises(SandboxGone):
        sandbox.exec("true", timeout_sec=20)
    with pytest.raises(SandboxGone):
        sandbox.get("/work")
