"""Builds on a real engine: bounded, cancelled cleanly, shared among threads, on stand-ins, with certificates."""

import threading
import uuid
from collections.abc import Callable
from pathlib import Path

import pytest

from sandbox.api import Image, ImageSpec, Limits, Machine, Network, Owner
from sandbox.engine import DockerEngine, EngineConfig
from sandbox.errors import BuildFailed, BuildTimedOut, ContextRefused, EngineUnavailable, HostFull, ImageMissing
from sandbox.tree import Tree

pytestmark = pytest.mark.docker
Substitutes = dict[str, str]
BASE = "debian:bookworm-slim"


def spec(*lines: str, seconds: float = 120, **args: str) -> ImageSpec:
    text = "\n".join([f"FROM {BASE}", *lines]) + "\n"
    return ImageSpec(Tree({"Dockerfile": text}), timeout_sec=seconds, build_args=args)


def fresh() -> str:
    """A line that no cache knows."""
    return f"RUN : {uuid.uuid4().hex}"


@pytest.fixture
def opened(substitutes: Substitutes) -> Callable[..., DockerEngine]:
    def make(**settings: object) -> DockerEngine:
        return DockerEngine(EngineConfig(**{"substitutes": substitutes, **settings}))  # type: ignore[arg-type]

    return make


def test_threads_that_ask_at_once_build_once(docker_engine: DockerEngine, owner: Owner) -> None:
    asked = spec(fresh(), "RUN echo built-once")
    images: list[Image] = []
    threads = [threading.Thread(target=lambda: images.append(docker_engine.build(asked, owner))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({image.id for image in images}) == 1
    assert sum("Running in" in image.log for image in images) == 1
    docker_engine.drop(images[0])


def test_different_builds_at_once(docker_engine: DockerEngine, owner: Owner) -> None:
    images: list[Image] = []
    threads = [
        threading.Thread(target=lambda n=n: images.append(docker_engine.build(spec(f"RUN echo {n} > /n"), owner)))
        for n in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({image.id for image in images}) == 3
    for image in images:
        docker_engine.drop(image)


def test_a_build_that_takes_too_long_leaves_nothing(docker_engine: DockerEngine, owner: Owner) -> None:
    mark = uuid.uuid4().hex
    asked = spec(f"RUN echo begun-{mark}", f"RUN : {mark}; sleep 600", seconds=3)
    with pytest.raises(BuildTimedOut) as caught:
        docker_engine.build(asked, owner)
    assert f"begun-{mark}" in caught.value.log
    assert not any(mark in found["Command"] for found in docker_engine.build_containers())


def test_a_log_is_kept_and_found_again(opened: Callable[..., DockerEngine], owner: Owner, tmp_path: Path) -> None:
    asked = spec(fresh(), "RUN echo a-line-of-the-log")
    with opened(log_dir=tmp_path / "logs") as engine:
        first = engine.build(asked, owner)
    with opened(log_dir=tmp_path / "logs") as engine:
        again = engine.build(asked, owner)
        assert again.log == first.log
        assert "a-line-of-the-log" in again.log
        engine.drop(again)


def test_build_steps_are_bounded(opened: Callable[..., DockerEngine], owner: Owner) -> None:
    with opened(build_memory_mb=64) as engine:
        with pytest.raises(BuildFailed) as caught:
            engine.build(spec(fresh(), "RUN perl -e '$x = q(x) x (400 << 20)'"), owner)
        assert "137" in caught.value.last_lines(1)
        read = "RUN sleep 1; cat /sys/fs/cgroup/pids/pids.max /sys/fs/cgroup/pids.max 2>/dev/null || true"
        image = engine.build(spec(fresh(), read), owner)
        assert "\n4096\n" in image.log
        engine.drop(image)


def test_a_stand_in_is_used_and_reported(docker_engine: DockerEngine, owner: Owner, substitutes: Substitutes) -> None:
    image = docker_engine.build(spec(), owner)
    assert image.substitutes == ((BASE, substitutes[BASE]),)
    as_it_is = docker_engine.build(ImageSpec(Tree(), docker_image=BASE), owner)
    assert as_it_is.tag == substitutes[BASE]
    copied = Tree({"Dockerfile": f"FROM {substitutes[BASE]}\nCOPY --from={BASE} /etc/hostname /x\n"})
    other = docker_engine.build(ImageSpec(copied), owner)
    assert other.substitutes == ((BASE, substitutes[BASE]),)
    docker_engine.drop(other)


def test_a_base_that_is_nowhere_is_named(docker_engine: DockerEngine, owner: Owner) -> None:
    name = f"no-such-image-{uuid.uuid4().hex[:8]}:1"
    with pytest.raises(ImageMissing, match=f"{name}.*no substitute"):
        docker_engine.build(ImageSpec(Tree({"Dockerfile": f"FROM {name}\n"})), owner)
    with pytest.raises(ImageMissing, match=name):
        docker_engine.build(ImageSpec(Tree(), docker_image=name), owner)


@pytest.mark.parametrize("name", ["Debian:Bookworm", "a:b:c", "a@b"])
def test_a_name_that_is_none_is_named(docker_engine: DockerEngine, owner: Owner, name: str) -> None:
    with pytest.raises(ImageMissing, match=f"{name}.*no substitute"):
        docker_engine.build(ImageSpec(Tree({"Dockerfile": f"FROM {name}\n"})), owner)


@pytest.mark.parametrize(
    ("line", "machine", "why"),
    [
        ("USER nosuch", Machine(), "user nosuch"),
        ("RUN touch /file", Machine(workdir="/file"), "not a directory"),
        ("USER root", Machine(workdir="relative"), "absolute path"),
        ("USER root", Machine(Limits(memory_mb=1)), "memory"),
        ("USER root", Machine(env={"": "x"}), "environment variable"),
        ("RUN rm /bin/bash", Machine(), "no bash"),
    ],
)
def test_what_cannot_be_started_is_the_images_fault_and_not_the_engines(
    docker_engine: DockerEngine, owner: Owner, line: str, machine: Machine, why: str
) -> None:
    image = docker_engine.build(spec(line), owner)
    with pytest.raises(ContextRefused, match=why):
        docker_engine.start(image, machine, owner)
    docker_engine.drop(image)


def test_more_cores_than_there_are_is_all_there_are(
    docker_engine: DockerEngine, docker_image: Image, owner: Owner
) -> None:
    with docker_engine.start(docker_image, Machine(Limits(cpus=4096)), owner) as sandbox:
        assert sandbox.exec("echo fine", timeout_sec=20).stdout == b"fine\n"


def test_certificates_reach_builds_and_networked_containers(
    opened: Callable[..., DockerEngine], owner: Owner, tmp_path: Path
) -> None:
    bundle = tmp_path / "ca.pem"
    bundle.write_text(f"a certificate {uuid.uuid4().hex}\n")
    with opened(ca_bundle=bundle, proxies={"HTTPS_PROXY": "http://proxy.invalid:1"}) as engine:
        image = engine.build(spec('RUN cat "$PIP_CERT" "$APT_CONFIG"; echo "proxy $HTTPS_PROXY"'), owner)
        assert bundle.read_text() in image.log
        assert "Acquire::https::CaInfo" in image.log
        assert "proxy http://proxy.invalid:1" in image.log
        for network, said in ((Network.NONE, b"[]"), (Network.PUBLIC, bundle.read_bytes())):
            with engine.start(image, Machine(network=network), owner) as sandbox:
                read = 'if [ "$PIP_CERT" ]; then cat "$PIP_CERT"; else printf "[$HTTPS_PROXY]"; fi'
                assert sandbox.exec(read, timeout_sec=20).stdout == said
        engine.drop(image)


def test_a_full_host_takes_nothing_new(opened: Callable[..., DockerEngine], owner: Owner, docker_image: Image) -> None:
    with opened(min_free_disk_mb=1 << 40) as engine:
        with pytest.raises(HostFull):
            engine.build(spec(), owner)
        with pytest.raises(HostFull):
            engine.start(docker_image, Machine(), owner)


def test_an_engine_that_does_not_answer(tmp_path: Path, owner: Owner) -> None:
    nowhere = DockerEngine(EngineConfig(docker_host=f"unix://{tmp_path}/none.sock"))
    with pytest.raises(EngineUnavailable), nowhere:
        pass
    with pytest.raises(EngineUnavailable):
        nowhere.build(spec(), owner)


def test_closing_the_engine_cancels_a_build_and_ends_containers(
    opened: Callable[..., DockerEngine], docker_engine: DockerEngine, docker_image: Image, owner: Owner
) -> None:
    mark = uuid.uuid4().hex
    failed: list[BaseException] = []

    def build(engine: DockerEngine) -> None:
        try:
            engine.build(spec(f"RUN : {mark}; sleep 600"), owner)
        except (EngineUnavailable, BuildFailed) as error:
            failed.append(error)

    with opened() as engine:
        sandbox = engine.start(docker_image, Machine(), owner)
        building = threading.Thread(target=build, args=(engine,))
        building.start()
        while not any(mark in found["Command"] for found in docker_engine.build_containers()):
            assert building.is_alive()
    building.join(timeout=30)
    assert failed
    assert not any(found["Id"] == sandbox.id for found in docker_engine.run_containers(owner.run))
