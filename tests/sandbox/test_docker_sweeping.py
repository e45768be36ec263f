"""What a process leaves behind when it is killed: found by its labels, and removed."""

import subprocess
import sys
import time
import uuid
from pathlib import Path

import docker
import docker.errors
import pytest

from sandbox.api import Image, ImageSpec, Machine, Owner
from sandbox.engine import DockerEngine
from sandbox.errors import BuildFailed
from sandbox.tree import Tree

pytestmark = pytest.mark.docker
VICTIM = """
import sys, threading
from sandbox.api import ImageSpec, Machine, Network, Owner
from sandbox.engine import DockerEngine, EngineConfig
from sandbox.tree import Tree
run, mark, base = sys.argv[1:]
with DockerEngine(EngineConfig()) as engine:
    owner = Owner(run, "victim")
    image = engine.build(ImageSpec(Tree(), docker_image=base), owner)
    sandboxes = [engine.start(image, Machine(), owner) for _ in range(2)]
    text = f"FROM {base}\\nRUN : {mark}\\nRUN : {mark}; sleep 600\\n"
    spec = ImageSpec(Tree({"Dockerfile": text}))
    threading.Thread(target=engine.build, args=(spec, owner), daemon=True).start()
    print(*(sandbox.id for sandbox in sandboxes), flush=True)
    sandboxes[0].exec("sleep 600", timeout_sec=600)
"""
ROOT = Path(__file__).parents[2]


def test_a_killed_process_leaves_nothing_after_a_sweep(
    docker_engine: DockerEngine, docker_image: Image, owner: Owner, substitutes: dict[str, str]
) -> None:
    mark, run = uuid.uuid4().hex, f"{owner.run}-victim"
    base = next(iter(substitutes.values()))
    command = [sys.executable, "-c", VICTIM, run, mark, base]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT, text=True) as victim:
        assert victim.stdout is not None
        ids = victim.stdout.readline().split()
        assert len(ids) == 2
        while not any(f"{mark}; sleep" in found["Command"] for found in docker_engine.build_containers()):
            assert victim.poll() is None
        victim.kill()
    with docker_engine.start(docker_image, Machine(), owner) as alive:
        assert {found["Id"] for found in docker_engine.run_containers(run)} == set(ids)
        assert docker_engine.sweep_dead().containers >= 2
        assert docker_engine.run_containers(run) == []
        assert alive.exec("echo fine", timeout_sec=20).stdout == b"fine\n"
    while any(mark in found["Command"] for found in docker_engine.build_containers()):
        docker_engine.sweep_dead()


def test_a_sweep_takes_what_failed_builds_left(docker_engine: DockerEngine, owner: Owner) -> None:
    mark = uuid.uuid4().hex
    text = f"FROM debian:bookworm-slim\nRUN : {mark}\nRUN false\n"
    with pytest.raises(BuildFailed):
        docker_engine.build(ImageSpec(Tree({"Dockerfile": text})), owner)
    # Another process that is building holds sweepers back for a while, and its own sweep may come first.
    deadline = time.monotonic() + 120
    while left := dangling_with(mark):
        docker_engine.sweep(owner.run)
        assert time.monotonic() < deadline, left


def dangling_with(mark: str) -> list[str]:
    """Dangling images whose history names the mark."""
    client = docker.APIClient(version="auto")
    try:
        found = [image["Id"] for image in client.images(filters={"dangling": True})]
        return [one for one in found if any(mark in layer["CreatedBy"] for layer in _history(client, one))]
    finally:
        client.close()


def _history(client: docker.APIClient, image: str) -> list[dict[str, str]]:
    try:
        return client.history(image)
    except docker.errors.NotFound:  # swept by somebody meanwhile
        return []


def test_a_run_of_the_same_name_in_another_process_is_left_alone(
    docker_engine: DockerEngine, owner: Owner, substitutes: dict[str, str]
) -> None:
    mark, run = uuid.uuid4().hex, f"{owner.run}-twin"
    base = next(iter(substitutes.values()))
    command = [sys.executable, "-c", VICTIM, run, mark, base]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT, text=True) as twin:
        assert twin.stdout is not None
        ids = set(twin.stdout.readline().split())
        assert docker_engine.sweep(run).containers == 0
        assert {found["Id"] for found in docker_engine.run_containers(run)} == ids
        twin.kill()
    assert docker_engine.sweep(run).containers >= len(ids)
    assert docker_engine.run_containers(run) == []
    while any(mark in found["Command"] for found in docker_engine.build_containers()):
        docker_engine.sweep_dead()
