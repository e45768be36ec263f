"""What `forge doctor` looks at."""

import os
import platform
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from forge.cli.engines import docker_engine
from forge.cli.output import count
from forge.cli.tools import rehearsal_programs
from forge.domain.config import Config
from sandbox.api import Engine, ImageSpec, Owner
from sandbox.errors import ImageMissing, SandboxError
from sandbox.tree import Tree
from solvers.door import ModelDoor
from solvers.errors import ModelError
from solvers.model import Message, Request

OK, WARN, FAIL = "ok", "warn", "fail"

DISTRIBUTION = "terminal-task-forge"

LOW_GB, LEAST_GB = 5.0, 0.5
LOW_INODES, LEAST_INODES = 100_000, 5_000

ASK_SEC = 60.0


@dataclass(frozen=True)
class Checkup:
    """level: "ok", "warn" or "fail". advice: what to do, "" where nothing is."""

    name: str
    level: str
    text: str
    advice: str = ""


def machine_checkups(config: Config) -> Iterator[Checkup]:
    yield Checkup("python", OK, platform.python_version())
    yield _package()
    folders = {_existing(Path(name)) for name in (config.run.runs_dir, config.run.out)}
    for folder in sorted(folders):
        yield _disk(folder)
    if config.sandbox.ca_bundle is not None and not Path(config.sandbox.ca_bundle).is_file():
        yield Checkup("ca_bundle", FAIL, f"{config.sandbox.ca_bundle}: no such file", "correct sandbox.ca_bundle")


def engine_checkups(config: Config) -> Iterator[Checkup]:
    try:
        with docker_engine(config) as engine:
            yield Checkup("engine", OK, f"Docker answers at {os.environ.get('DOCKER_HOST', 'its local socket')}")
            for image in dict.fromkeys((config.sandbox.author_image, *config.sandbox.substitutes)):
                yield _image(engine, image)
    except SandboxError as error:
        advice = "start Docker Engine (`make setup` does where it may), or set DOCKER_HOST"
        yield Checkup("engine", FAIL, str(error), advice)


def model_checkups(config: Config, ask: bool) -> Iterator[Checkup]:
    """ask: also send each model that is no program one short request."""
    programs = rehearsal_programs()
    with ModelDoor(config.door(), None, programs) as door:
        for model in config.models_used():
            yield _model(door, model, ask and model not in programs, model in programs)


def _package() -> Checkup:
    others = sorted(set(metadata.packages_distributions().get("forge", ())) - {DISTRIBUTION})
    if not others:
        return Checkup("package", OK, f"{DISTRIBUTION}, from {Path(__file__).parents[2]}")
    return Checkup(
        "package",
        WARN,
        f"{', '.join(others)} installs a package `forge` as well",
        f"install {DISTRIBUTION} into a virtual environment of its own",
    )


def _existing(folder: Path) -> Path:
    """The folder, or the nearest one above it that is there."""
    folder = folder.absolute()
    return next(path for path in (folder, *folder.parents) if path.is_dir())


def _disk(folder: Path) -> Checkup:
    free_gb = shutil.disk_usage(folder).free / 1e9
    stat = os.statvfs(folder)
    text = f"{free_gb:.1f} GB free"
    # Some file systems have no fixed number of inodes and say 0 of 0.
    inodes = stat.f_favail if stat.f_files else LOW_INODES
    if stat.f_files:
        text += f", {count(inodes, 'inode')} free"
    advice = f"free some space below {folder}"
    if free_gb < LEAST_GB or inodes < LEAST_INODES:
        return Checkup(f"disk {folder}", FAIL, text, advice)
    if free_gb < LOW_GB or inodes < LOW_INODES:
        return Checkup(f"disk {folder}", WARN, text, advice)
    return Checkup(f"disk {folder}", OK, text)


def _image(engine: Engine, image: str) -> Checkup:
    """Found as a run finds it: here, pulled, or by its stand-in."""
    name = f"image {image}"
    try:
        found = engine.build(ImageSpec(Tree(), docker_image=image), Owner("doctor"))
    except ImageMissing as error:
        return Checkup(name, FAIL, str(error), "`make setup` makes a stand-in; [sandbox.substitutes] names it")
    for _, used in found.substitutes:
        return Checkup(name, OK, f"cannot be had; {used} stands in for it")
    return Checkup(name, OK, "here")


def _model(door: ModelDoor, model: str, ask: bool, program: bool) -> Checkup:
    name = f"model {model}"
    try:
        door.check(model)
        said = "known, and its key is set"
        if ask:
            request = Request(model, (Message("user", "Say OK."),), max_tokens=16)
            reply = door.bind("doctor/ask")(request, deadline_sec=ASK_SEC)
            said = f"answers in {reply.latency_sec:.1f} s"
    except ModelError as error:
        return Checkup(name, FAIL, str(error), "see [models] in docs/config.md")
    if program:
        return Checkup(name, OK, f"a rehearsal program; {said}" if ask else "a rehearsal program")
    if not door.price_known(model):
        unknown = f"{said}; its price is unknown, so budgets in money cannot hold"
        return Checkup(name, WARN, unknown, f'set prices in [models."{model}"]')
    return Checkup(name, OK, said)
