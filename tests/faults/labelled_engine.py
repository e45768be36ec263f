"""An engine whose images all stand on a base with a label of their own: what builds leave behind can be told apart from
what other processes on this machine build. The base has the packages already that rehearsal tasks install, so that
builds take seconds."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from forge.factory.passing_engine import PassingEngine
from sandbox.api import Engine, Image, ImageSpec, Owner
from sandbox.engine import DockerEngine, EngineConfig
from sandbox.labels import RUN
from sandbox.tree import Tree

ASKED = "debian:bookworm-slim"
LABEL = "forge.faults"
PACKAGES = "git less procps python3 python3-pip python3-pytest sqlite3 tzdata util-linux"
WITH_PACKAGES = f"""FROM {ASKED}
RUN apt-get update && apt-get install -y --no-install-recommends {PACKAGES} && rm -rf /var/lib/apt/lists/*
RUN printf '#!/bin/sh\\nexit 0\\n' > /usr/local/bin/apt-get && chmod 755 /usr/local/bin/apt-get
"""


@contextmanager
def labelled_base(run: str, stand_in: str) -> Iterator[str]:
    """The tag of a base for one run. What it stands on is kept, since its packages take half a minute to install."""
    owner = Owner(run)
    with DockerEngine(EngineConfig(substitutes={ASKED: stand_in})) as engine:
        below = engine.build(ImageSpec(Tree({"Dockerfile": WITH_PACKAGES})), owner)
        made = engine.build(ImageSpec(Tree({"Dockerfile": f"FROM {below.tag}\nLABEL {LABEL}={run}\n"})), owner)
        try:
            yield made.tag
        finally:
            _remove_images(engine, run)


def _remove_images(engine: DockerEngine, run: str) -> None:
    """All images of a run, also those that a step of a cancelled build still holds for a moment."""
    labelled = ("images", "--all", "--no-trunc", "--filter", f"label={LABEL}={run}")
    for _ in range(5):
        engine.sweep(run)
        for image in _ids(*labelled):
            subprocess.run(["docker", "rmi", "--force", image], capture_output=True, timeout=120, check=False)
        if not _ids(*labelled):
            return


class LabelledEngine(PassingEngine):
    """Contexts that start from ASKED start from `base`."""

    def __init__(self, engine: Engine, base: str) -> None:
        super().__init__(engine)
        self._base = base

    def build(self, spec: ImageSpec, owner: Owner) -> Image:
        if "Dockerfile" in spec.context:
            text = spec.context["Dockerfile"].data.decode().replace(f"FROM {ASKED}", f"FROM {self._base}")
            spec = replace(spec, context=spec.context.merged({"Dockerfile": text}))
        return super().build(spec, owner)


def left_in_engine(run: str) -> dict[str, set[str]]:
    """Ids of all that a run has left in the engine, builds included. Images that others may be building on are removed
    while nobody builds: where others do, this waits for its turn, a minute at most."""
    labels = [f"label={RUN}={run}", f"label={LABEL}={run}"]
    dangling = ("images", "--filter", "dangling=true", "--filter", labels[1])
    with DockerEngine(EngineConfig()) as engine:
        for _ in range(12):
            if _ids(*dangling):
                engine.sweep(run)
    return {
        "containers": {one for label in labels for one in _ids("ps", "--all", "--filter", label)},
        "networks": {one for label in labels for one in _ids("network", "ls", "--filter", label)},
        "dangling": _ids(*dangling),
    }


@contextmanager
def build_steps(run: str) -> Iterator[Iterator[str]]:
    """Ids of the containers of build steps, as they start."""
    command = ["docker", "events", "--filter", "event=start", "--filter", f"label={LABEL}={run}"]
    form = '{{.ID}} {{index .Actor.Attributes "' + RUN + '"}}'
    with subprocess.Popen([*command, "--format", form], stdout=subprocess.PIPE, text=True) as events:
        try:
            yield (line.split()[0] for line in events.stdout or () if len(line.split()) == 1)
        finally:
            events.terminate()


def _ids(*command: str) -> set[str]:
    done = subprocess.run(["docker", *command, "--quiet"], capture_output=True, text=True, check=True, timeout=120)
    return set(done.stdout.split())
