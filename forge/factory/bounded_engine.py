"""An engine whose containers get no more than the config allows: what a task asks for was written by a model."""

from dataclasses import replace

from forge.factory.passing_engine import PassingEngine
from sandbox.api import Engine, Image, Limits, Machine, Owner, Sandbox


def bounded(asked: Limits, most: Limits) -> Limits:
    """What is asked for, each part cut to the most."""
    return Limits(
        cpus=min(asked.cpus, most.cpus),
        memory_mb=min(asked.memory_mb, most.memory_mb),
        pids=min(asked.pids, most.pids),
        disk_mb=min(asked.disk_mb, most.disk_mb),
    )


class BoundedEngine(PassingEngine):
    def __init__(self, engine: Engine, most: Limits) -> None:
        super().__init__(engine)
        self._most = most

    def start(self, image: Image, machine: Machine, owner: Owner) -> Sandbox:
        return super().start(image, replace(machine, limits=bounded(machine.limits, self._most)), owner)
