"""Docker Engine: used, installed, started or explained. On a bare machine in a folder; no daemon is started."""

import os

import pytest


def test_engine_that_answers_is_left_alone(machine):
    machine.has("docker", "dockerd")
    machine.write("engine-up")
    said = machine.setup("ensure_engine")
    assert (said.code, said.text) == (0, "")
    assert machine.calls == ["docker version --format {{.Server.Version}}"]


def test_root_on_debian_gets_it_installed_and_started_once(machine):
    said = machine.setup("ensure_engine")
    assert said.code == 0
    assert "apt-get install -y --no-install-recommends docker.io iptables" in machine.calls
    lines = said.text.splitlines()
    assert [line.split("(")[0] for line in lines] == [
        "setup: installing Docker Engine with apt-get ",
        "setup: starting dockerd in the background ",
    ]
    again = machine.setup("ensure_engine")
    assert (again.code, again.text) == (0, "")
    assert [call for call in machine.calls if call.startswith("dockerd")] == ["dockerd "]


def test_packages_that_cannot_be_installed_are_named_with_the_reason(machine):
    machine.write("apt-breaks")
    said = machine.setup("ensure_engine")
    assert said.code == 3
    assert "E: no network" in said.text
    assert "could not install: docker.io iptables" in said.text


@pytest.mark.parametrize(("uid", "system"), [("1000", "ID=debian"), ("0", "ID=fedora"), ("1000", "ID=arch")])
def test_who_may_not_install_is_told_what_to_install(machine, uid, system):
    machine.write("uid", uid)
    (machine.root / "etc/os-release").write_text(system)
    said = machine.setup("ensure_engine")
    assert said.code == 3
    assert "apt-get install docker.io" in said.text
    assert "docs.docker.com/engine/install" in said.text
    assert not machine.called("apt-get")


def test_derived_systems_count_as_debian(machine):
    (machine.root / "etc/os-release").write_text('ID=linuxmint\nID_LIKE="ubuntu debian"\n')
    assert machine.setup("ensure_engine").code == 0


def test_user_who_may_not_use_the_socket_is_told_how_to(machine):
    machine.has("docker")
    machine.write("uid", "1000")
    machine.write("forbidden")
    said = machine.setup("ensure_engine")
    assert said.code == 3
    assert "sudo usermod -aG docker somebody" in said.text


def test_docker_host_that_does_not_answer_is_not_replaced(machine):
    machine.has("docker", "dockerd")
    said = machine.setup("ensure_engine", DOCKER_HOST="tcp://elsewhere:2375")
    assert said.code == 3
    assert "DOCKER_HOST=tcp://elsewhere:2375" in said.text
    assert not machine.called("dockerd")


def test_docker_host_that_answers_is_used(machine):
    machine.has("docker")
    machine.write("engine-up")
    assert machine.setup("ensure_engine", DOCKER_HOST="tcp://elsewhere:2375").text == ""


def test_no_second_daemon_beside_a_running_one(machine):
    machine.has("docker", "dockerd")
    machine.process("bash")
    machine.process("dockerd")
    said = machine.setup("ensure_engine", ENGINE_WAIT_SEC="0")
    assert said.code == 3
    assert "a second one is never started" in said.text
    assert not machine.called("dockerd")


def test_daemon_that_hangs_does_not_hang_the_setup(machine):
    machine.has("docker", "dockerd")
    machine.process("dockerd")
    stub = machine.bin / "docker"
    stub.write_text("#!/bin/bash\nexec sleep infinity\n")
    said = machine.setup("ensure_engine", ENGINE_WAIT_SEC="0", ENGINE_ANSWER_SEC="0.2")
    assert said.code == 3
    assert "does not answer" in said.text


LEFT_BY_DOCKERD = ("var/run/docker.pid", "var/run/docker.sock")
LEFT_BY_CONTAINERD = ("run/docker/containerd/containerd.pid", "run/docker/containerd/containerd.sock")


@pytest.mark.parametrize("alive", [(), ("containerd",), ("dockerd",), ("dockerd", "containerd")])
def test_files_of_a_killed_daemon_go_and_those_of_a_live_one_stay(machine, alive):
    for name in alive:
        machine.process(name)
    dockerd = [machine.file(path) for path in LEFT_BY_DOCKERD]
    containerd = [machine.file(path) for path in LEFT_BY_CONTAINERD]
    assert machine.setup("remove_stale_files").code == 0
    assert [path.exists() for path in dockerd] == ["dockerd" in alive] * 2
    assert [path.exists() for path in containerd] == ["containerd" in alive] * 2


def test_stale_files_are_removed_before_the_daemon_starts(machine):
    machine.has("docker", "dockerd")
    pid_file = machine.file(LEFT_BY_DOCKERD[0])
    assert machine.setup("ensure_engine").code == 0
    assert not pid_file.exists()


def test_daemon_that_does_not_come_up_shows_the_end_of_its_log(machine):
    machine.has("docker", "dockerd")
    machine.write("dockerd-breaks")
    said = machine.setup("ensure_engine")
    assert said.code == 3
    assert "no cgroup mount" in said.text
    assert "set DOCKER_HOST" in said.text


def test_systemd_starts_it_where_systemd_runs(machine):
    machine.has("docker", "dockerd", "systemctl")
    (machine.root / "run/systemd/system").mkdir(parents=True)
    assert machine.setup("ensure_engine").code == 0
    assert "systemctl start docker" in machine.calls
    assert not machine.called("dockerd")


def test_daemon_does_not_hold_the_lock_of_setup(machine):
    """A daemon that inherited the lock would make every later setup wait for ever."""
    machine.has("docker")
    stub = machine.bin / "dockerd"
    stub.write_text('#!/bin/bash\nls -l /proc/$$/fd >"$STATE/fds" 2>&1\ntouch "$STATE/engine-up"\n')
    stub.chmod(0o755)
    os.symlink("/bin/ls", machine.bin / "ls")
    assert machine.setup("exec 9>lock", "flock 9", "ensure_engine").code == 0
    assert "dockerd.log" in (machine.state / "fds").read_text()
    assert str(machine.project / "lock") not in (machine.state / "fds").read_text()
