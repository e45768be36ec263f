"""Commands that take more than they may: each ends as it should and harms nothing else."""

import threading
from collections.abc import Callable

import pytest

from sandbox.api import EndReason, Image, Limits, Machine, Network, Owner, Sandbox
from sandbox.engine import DockerEngine
from sandbox.errors import SandboxGone

Start = Callable[..., Sandbox]
pytestmark = pytest.mark.docker


def test_printing_without_end_costs_neither_time_nor_memory(start: Start) -> None:
    sandbox = start()
    result = sandbox.exec("head -c 5000000000 /dev/zero", timeout_sec=300)
    assert result.output_limit
    assert len(result.stdout) == 1 << 20
    assert result.duration_sec < 60
    assert sandbox.exec("echo fine", timeout_sec=20).stdout == b"fine\n"


def test_eating_memory(start: Start) -> None:
    sandbox = start(memory_mb=64)
    result = sandbox.exec("perl -e '$x = q(x) x (400 << 20)'; echo code $?", timeout_sec=60)
    assert result.oom_killed
    assert result.stdout == b"code 137\n"
    again = sandbox.exec("echo fine", timeout_sec=20)
    assert again.stdout == b"fine\n"
    assert not again.oom_killed


def test_filling_the_disk_ends_the_container(start: Start) -> None:
    sandbox = start(disk_mb=50)
    with pytest.raises(SandboxGone) as caught:
        sandbox.exec("head -c 120M /dev/zero > big; sleep 100", timeout_sec=90)
    assert caught.value.reason == "disk"
    assert sandbox.ended is EndReason.DISK
    assert sandbox.get("/work/big").size() == 120 << 20


def test_a_neighbour_is_not_harmed_by_a_fork_bomb(start: Start) -> None:
    bomb, neighbour = start(pids=256), start()
    thrown = threading.Thread(target=bomb.exec, args=(":(){ :|:& };:; sleep 60",), kwargs={"timeout_sec": 4})
    thrown.start()
    try:
        for _ in range(5):
            assert neighbour.exec("echo fine", timeout_sec=20).stdout == b"fine\n"
    finally:
        thrown.join()


def test_closing_ends_a_running_command(start: Start) -> None:
    sandbox = start()
    raised: list[SandboxGone] = []

    def sleep() -> None:
        try:
            sandbox.exec("echo up; sleep 300", timeout_sec=300)
        except SandboxGone as error:
            raised.append(error)

    running = threading.Thread(target=sleep)
    running.start()
    while b"sleep" not in sandbox.exec("cat /proc/[0-9]*/cmdline", timeout_sec=20).stdout:
        pass
    sandbox.close()
    running.join(timeout=30)
    assert not running.is_alive()
    assert raised


def test_what_a_container_may_do(start: Start) -> None:
    sandbox = start()
    read = "grep -E '^(CapEff|NoNewPrivs)' /proc/self/status; ls /sys/class/net"
    tries = "mknod /tmp/n c 1 3 2>&1; mount -t tmpfs t /mnt 2>&1"
    said = sandbox.exec(f"{read}; {tries}", timeout_sec=20).stdout.decode()
    assert "NoNewPrivs:\t1" in said
    assert "CapEff:\t00000000a00404fb" in said
    assert "lo\n" in said
    assert "eth0" not in said
    assert said.count("not permitted") + said.count("denied") == 2


def test_a_public_network_is_there_when_asked_for(
    docker_engine: DockerEngine, docker_image: Image, owner: Owner
) -> None:
    with docker_engine.start(docker_image, Machine(Limits(), Network.PUBLIC), owner) as sandbox:
        assert b"eth0" in sandbox.exec("ls /sys/class/net", timeout_sec=20).stdout


def test_many_commands_at_once(start: Start) -> None:
    sandbox = start()
    said: dict[int, bytes] = {}

    def one(number: int) -> None:
        said[number] = sandbox.exec(f"echo {number}; sleep 0.2; echo {number}", timeout_sec=60).stdout

    threads = [threading.Thread(target=one, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert said == {number: f"{number}\n{number}\n".encode() for number in range(8)}
