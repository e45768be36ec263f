"""The base image: there, pulled, or bootstrapped under a name of its own. On a bare machine in a folder."""

import pytest

BASE, STAND_IN = "debian:bookworm-slim", "terminal-task-forge/debian-standin:bookworm"


@pytest.fixture
def offline(machine):
    """An engine, and no registry that it could reach."""
    machine.has("docker")
    machine.write("engine-up")
    return machine


def bootstrapped(machine):
    return [call for call in machine.calls if call.split()[0] in ("mmdebstrap", "debootstrap")]


@pytest.mark.parametrize("image", [BASE, STAND_IN])
def test_image_that_is_there_is_enough(offline, image):
    offline.write("images", f"{image}\n")
    said = offline.setup("ensure_base_image")
    assert (said.code, said.text) == (0, "")
    assert not offline.called("docker pull")


def test_image_is_pulled_where_that_works(offline):
    offline.write("registry")
    said = offline.setup("ensure_base_image")
    assert (said.code, said.text) == (0, f"setup: pulling {BASE}\n")
    assert offline.images == [BASE]


def test_stand_in_is_bootstrapped_and_never_named_like_what_it_stands_for(offline):
    said = offline.setup("ensure_base_image")
    assert said.code == 0
    assert "bootstrapping Debian bookworm as terminal-task-forge/debian-standin:bookworm" in said.text
    assert STAND_IN in offline.images
    assert BASE not in offline.images
    assert "terminal-task-forge.stand-in-for=debian:bookworm-slim" in next(c for c in offline.calls if "import" in c)
    assert offline.setup("ensure_base_image").text == ""


def test_bootstrap_that_fails_leaves_no_image(offline):
    offline.write("mirror-breaks")
    said = offline.setup("ensure_base_image")
    assert said.code == 3
    assert "cannot reach the mirror" in said.text
    assert "docker save, docker load" in said.text
    assert offline.images == []
    assert not offline.called("docker import")


def test_image_that_does_not_run_gets_no_name_and_goes(offline):
    offline.write("image-is-broken")
    said = offline.setup("ensure_base_image")
    assert said.code == 3
    assert "does not run" in said.text
    assert offline.images == []


@pytest.mark.parametrize("breaks", [None, "mirror-breaks", "image-is-broken"])
def test_archive_does_not_stay_on_the_disk(offline, breaks):
    if breaks:
        offline.write(breaks)
    offline.setup("ensure_base_image")
    assert bootstrapped(offline)
    assert list(offline.state.glob("**/root.tar")) == []


def test_who_cannot_install_the_bootstrapper_is_told_what_to_install(offline):
    offline.write("uid", "1000")
    said = offline.setup("ensure_base_image")
    assert said.code == 3
    assert "apt-get install mmdebstrap" in said.text
    assert not offline.called("apt-get")


def test_debootstrap_does_where_it_is_what_there_is(offline):
    offline.has("debootstrap")
    assert offline.setup("ensure_base_image").code == 0
    assert STAND_IN in offline.images
    assert [call.split()[0] for call in bootstrapped(offline)] == ["debootstrap"]


def test_proxy_of_apt_reaches_the_bootstrapper_and_no_file_of_the_image(offline):
    offline.has("mmdebstrap")
    (offline.bin / "apt-config").write_text("#!/bin/bash\necho \"apt_proxy='http://proxy:3128'\"\n")
    stub = offline.bin / "mmdebstrap"
    stub.write_text(stub.read_text() + 'echo "$http_proxy" >"$STATE/seen-proxy"\n')
    assert offline.setup("ensure_base_image").code == 0
    assert (offline.state / "seen-proxy").read_text() == "http://proxy:3128\n"
    assert "proxy:3128" not in bootstrapped(offline)[0]
