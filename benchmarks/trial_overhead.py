"""The oracle's trial by us against the bare engine calls that it needs, alternating in one run.

    python benchmarks/trial_overhead.py [TRIALS]

Prints JSON: medians in seconds and their ratio, at most 1.25 wanted. The bare sequence, through the docker package's
low-level client, with the same images and limits: create and start the solver's container, copy the solution in, exec
it, copy the artifacts out, create and start the verifier, copy the artifacts in, exec test.sh, remove both."""

import io
import json
import statistics
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import docker

from forge.domain.config_sandbox import STAND_IN
from forge.domain.task import Task
from forge.rehearsal.drawing import draw
from forge.rehearsal.families import load_families
from forge.rehearsal.rendering import reference_solution, render
from forge.stages.machines import environment_image, solver_machine, verifier_image, verifier_machine
from forge.stages.trials import TrialDesk, try_task
from sandbox.api import Engine, Image, Machine, Owner
from sandbox.container import IDLE
from sandbox.engine import DockerEngine, EngineConfig
from solvers.model import Reply, Request
from solvers.policies import Policy, Solver

FAMILY, SEED = "log_offsets", 1
BASE = "debian:bookworm-slim"
OWNER = Owner("bench-trial-overhead", "oracle")
WANTED = 1.25


def main(trials: int) -> int:
    task = _task()
    config = EngineConfig(substitutes={BASE: STAND_IN})
    with DockerEngine(config) as engine, closing(docker.APIClient(version="auto")) as client:
        images = engine.build(environment_image(task), OWNER), engine.build(verifier_image(task), OWNER)
        legs = {"ours": lambda: _ours(engine, task), "bare": lambda: _bare(client, task, images)}
        times: dict[str, list[float]] = {name: [] for name in legs}
        for leg in legs.values():
            leg()
        for _ in range(trials):
            for name, leg in legs.items():
                times[name].append(_timed(leg))
        engine.sweep(OWNER.run)
    medians = {name: statistics.median(found) for name, found in times.items()}
    ratio = medians["ours"] / medians["bare"]
    print(json.dumps({"trials": trials, "median_sec": medians, "ratio": round(ratio, 3), "wanted": WANTED}))
    return 0 if ratio <= WANTED else 1


def _task() -> Task:
    """A task of a rehearsal family, with its reference solution."""
    family = load_families()[FAMILY]
    drawn = draw(family, SEED)
    tree = render(family, drawn).tree()
    return Task.from_tree(tree.merged({"solution/solve.sh": reference_solution(family, drawn)}))


def _timed(leg: Callable[[], None]) -> float:
    began = time.perf_counter()
    leg()
    return time.perf_counter() - began


def _ours(engine: Engine, task: Task) -> None:
    desk = TrialDesk(engine, OWNER, _no_model, 0, "benchmark", lambda _: None, lambda: False)
    with tempfile.TemporaryFile() as artifacts:
        tried = try_task(desk, task, Solver("oracle", None, Policy.ORACLE), artifacts)
    if tried.verdict is None or not tried.verdict.passed:
        raise SystemExit(f"the oracle did not pass: {tried.verdict}")


def _no_model(request: Request, *, deadline_sec: float) -> Reply:
    raise AssertionError("the oracle asks no model")


def _bare(client: docker.APIClient, task: Task, images: tuple[Image, Image]) -> None:
    solver = _start(client, images[0], solver_machine(task))
    client.put_archive(solver, "/", _tar({f"solution/{path}": file.data for path, file in task.solution.items()}))
    _exec(client, solver, "bash /solution/solve.sh")
    sources = [artifact.source for artifact in task.config.artifacts]
    archives = {source: b"".join(client.get_archive(solver, source)[0]) for source in sources}
    verifier = _start(client, images[1], verifier_machine(task))
    for source, archive in archives.items():
        client.put_archive(verifier, str(Path(source).parent), archive)
    said = _exec(client, verifier, "bash /tests/test.sh && cat /logs/verifier/reward.txt")
    if not said.rstrip().endswith(b"1"):
        raise SystemExit("the bare sequence did not pass")
    client.remove_container(verifier, force=True)
    client.remove_container(solver, force=True)


def _start(client: docker.APIClient, image: Image, machine: Machine) -> str:
    limits = machine.limits
    host = client.create_host_config(
        network_mode="none",
        nano_cpus=int(limits.cpus * 1e9),
        mem_limit=f"{limits.memory_mb}m",
        memswap_limit=f"{limits.memory_mb}m",
        pids_limit=limits.pids,
        log_config={"Type": "none"},
    )
    labels = {"forge.run": OWNER.run}
    created = str(client.create_container(image.id, list(IDLE), host_config=host, labels=labels)["Id"])
    client.start(created)
    return created


def _exec(client: docker.APIClient, container: str, command: str) -> bytes:
    exec_id = client.exec_create(container, ["bash", "-c", command])["Id"]
    said = bytes(client.exec_start(exec_id))
    code = client.exec_inspect(exec_id)["ExitCode"]
    if code != 0:
        raise SystemExit(f"{command}: exit {code}: {said[-500:]!r}")
    return said


def _tar(files: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for path, data in files.items():
            member = tarfile.TarInfo(path)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return out.getvalue()


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 15))
