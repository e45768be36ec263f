"""Ways in which a command tries to outlive its time: none works, and what was there before lives on."""

from collections.abc import Callable

import pytest

from sandbox.api import EndReason, Sandbox
from sandbox.errors import SandboxGone

Start = Callable[..., Sandbox]
pytestmark = pytest.mark.docker

MARK = "977"
DOUBLE_FORK = f"""perl -MPOSIX -e '
if (!fork) {{ setsid; if (!fork) {{ exec "sleep", "{MARK}" }} exit }}
sleep {MARK}' """
HOPPER = f"""perl -MPOSIX -e 'while (1) {{ exit if fork; setsid }}' & sleep {MARK}"""
FORK_BOMB = "perl -e 'while (1) { defined(fork) or select(undef, undef, undef, .01) }'"
ESCAPES = {
    "plain": f"sleep {MARK}",
    "ignores_term": f"trap '' TERM INT HUP; sleep {MARK}; sleep {MARK}",
    "setsid_in_background": f"setsid sleep {MARK} & sleep {MARK}",
    "double_fork": DOUBLE_FORK,
    "empty_environment": f"env -i /usr/bin/setsid /bin/sleep {MARK} & sleep {MARK}",
    "kills_its_parent": f"setsid sh -c 'sleep {MARK}' & kill -9 $PPID; sleep {MARK}",
    "hops_from_process_to_process": HOPPER,
    "fork_bomb": FORK_BOMB,
    "stopped": f"sleep {MARK} & kill -STOP $!; kill -STOP $$",
}
# Every live process whose number is not in the file `before`, except this command's own session.
YOUNGER = """
read -r stat < /proc/self/stat; set -- ${stat##*) }; mine=$4
for folder in /proc/[0-9]*; do
  { read -r stat < $folder/stat; } 2>/dev/null || continue
  set -- ${stat##*) }
  case " $(cat before) " in *" ${folder#/proc/} "*) continue ;; esac
  [ "$1" = Z ] || [ "$4" = "$mine" ] || echo "$stat"
done
"""


def ran(sandbox: Sandbox, command: str) -> str:
    result = sandbox.exec(command, timeout_sec=30)
    assert result.exit_code == 0, result
    return result.stdout.decode()


@pytest.mark.parametrize("name", ESCAPES)
def test_an_escape_fails(start: Start, name: str) -> None:
    sandbox = start(pids=128)
    beat = "exec 3<> <(:); while :; do echo beat; echo beat >> /work/beats; read -t 0.1 -u 3; done"
    ran(sandbox, f"setsid bash -c '{beat}' &")
    ran(sandbox, "cd /proc; echo [0-9]* > /work/before")
    result = sandbox.exec(ESCAPES[name], timeout_sec=1)
    assert result.timed_out
    assert result.exit_code is None
    assert sandbox.ended is None
    assert ran(sandbox, YOUNGER) == ""
    ran(
        sandbox,
        "n=$(wc -l < beats); for i in $(seq 50); do sleep 0.1; [ $(wc -l < beats) -gt $n ] && exit 0; done; exit 1",
    )


def test_a_service_that_prints_lives_on(start: Start) -> None:
    sandbox = start()
    sandbox.exec("(yes | head -c 3000000; touch /work/printed; exec sleep 500) & echo $! > pid", timeout_sec=20)
    waited = sandbox.exec("for i in $(seq 100); do [ -e printed ] && exit 0; sleep 0.1; done; exit 1", timeout_sec=30)
    assert waited.exit_code == 0
    assert sandbox.exec("kill -0 $(cat pid)", timeout_sec=20).exit_code == 0


def test_orphans_are_reaped(start: Start) -> None:
    sandbox = start(pids=64)
    for _ in range(4):
        made = sandbox.exec("for i in $(seq 20); do (setsid sleep 0.01 &); done; sleep 0.5", timeout_sec=20)
        assert made.exit_code == 0, made
        assert made.stderr == b""


def test_no_signal_from_inside_ends_the_container(start: Start) -> None:
    sandbox = start()
    sandbox.exec("for s in $(seq 1 64); do kill -$s 1 2>/dev/null; done; true", timeout_sec=20)
    sandbox.exec("kill -9 -1", timeout_sec=2)
    assert sandbox.exec("echo alive", timeout_sec=20).stdout == b"alive\n"
    assert sandbox.ended is None


@pytest.mark.parametrize("shell", ["/bin/bash", "/bin/sh"])
def test_a_replaced_shell_cannot_hang_or_survive(start: Start, shell: str) -> None:
    sandbox = start()
    liar = "#!/usr/bin/perl\n$| = 1; print qq(clean 0\\n); sleep 900;\n"
    command = (
        f"printf '%s' \"$LIAR\" > /tmp/liar; chmod 755 /tmp/liar; rm {shell}; /bin/cp /tmp/liar {shell}; sleep 900"
    )
    result = sandbox.exec(command, timeout_sec=2, env={"LIAR": liar})
    assert result.timed_out
    assert sandbox.ended is EndReason.UNRESPONSIVE
    with pytest.raises(SandboxGone) as caught:
        sandbox.exec("true", timeout_sec=2)
    assert caught.value.reason == "unresponsive"
    assert sandbox.get("/tmp/liar")


def test_a_shell_replaced_by_an_earlier_command(start: Start) -> None:
    sandbox = start()
    sandbox.exec(
        "printf '#!/usr/bin/perl\\nsleep 900;\\n' > /bin/new; chmod 755 /bin/new; mv /bin/new /bin/sh",
        timeout_sec=20,
    )
    assert sandbox.exec("true", timeout_sec=1).timed_out
    assert sandbox.ended is EndReason.UNRESPONSIVE


def test_the_shell_is_gone(start: Start) -> None:
    sandbox = start()
    sandbox.exec("rm /bin/sh /bin/dash", timeout_sec=20)
    result = sandbox.exec("true", timeout_sec=5)
    assert result.exit_code in (126, 127)
    assert b"sh" in result.stderr
