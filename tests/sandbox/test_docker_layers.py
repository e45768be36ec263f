"""The names of files in an image's layers: the folders on this machine tell the same as the saved archive."""

import docker
import pytest

from sandbox.api import ImageSpec, Owner
from sandbox.engine import DockerEngine, EngineConfig
from sandbox.layers import files_in_layers, layer_folders
from sandbox.tree import Tree

pytestmark = pytest.mark.docker

DOCKERFILE = """FROM debian:bookworm-slim
COPY answer /app/answer
RUN mkdir /app/folder && touch "/app/a name" /app/gone && ln -s folder /app/link && ln -s answer /app/other
RUN rm /app/gone
"""


def test_folders_and_archive_tell_the_same(engine_run: str, stand_in: str) -> None:
    config = EngineConfig(substitutes={"debian:bookworm-slim": stand_in})
    spec = ImageSpec(Tree({"Dockerfile": DOCKERFILE, "answer": "42"}))
    client = docker.APIClient(version="auto")
    with DockerEngine(config) as engine:
        image = engine.build(spec, Owner(engine_run))
        told = engine.image_files(image)
        base = len(client.inspect_image(stand_in)["RootFS"]["Layers"])
        saved = files_in_layers(client.get_image(image.tag), base)
        engine.drop(image)
    client.close()
    assert told == ["/app/a name", "/app/answer", "/app/gone", "/app/link", "/app/other"]
    assert saved == told


@pytest.mark.parametrize(
    "driver", [{}, {"Name": "btrfs", "Data": {}}, {"Name": "overlay2", "Data": {"UpperDir": "/nowhere"}}]
)
def test_folders_that_cannot_be_read_are_left_to_the_archive(driver: dict[str, object]) -> None:
    assert layer_folders(driver, 0) is None
