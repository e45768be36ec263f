"""The config's tables of machines: containers, images."""

from pydantic import Field

from forge.domain.config_section import EnvName, Section
from sandbox.api import Limits

STAND_IN = "terminal-task-forge/debian-standin:bookworm"


class MachineSection(Section):
    """What one container may use."""

    cpus: float = Field(default=1.0, gt=0)
    """Cores."""

    memory_mb: int = Field(default=1024, ge=16)
    """Megabytes of memory; there is no swap."""

    pids: int = Field(default=256, ge=8)
    """Processes and threads."""

    disk_mb: int = Field(default=2048, ge=16)
    """Megabytes written by the container. It is ended beyond."""

    def limits(self) -> Limits:
        return Limits(cpus=self.cpus, memory_mb=self.memory_mb, pids=self.pids, disk_mb=self.disk_mb)


class BuildSection(Section):
    """How images are built."""

    cpus: float = Field(default=2.0, gt=0)
    """Cores of one build step."""

    memory_mb: int = Field(default=2048, ge=64)
    """Megabytes of memory of one build step."""


class SandboxSection(Section):
    """The engine's containers and images."""

    author_image: str = Field(default="debian:bookworm-slim", min_length=1)
    """Image of the sandbox in which the author drafts; its network is public."""

    substitutes: dict[str, str] = Field(default_factory=lambda: {"debian:bookworm-slim": STAND_IN})
    """Base image -> stand-in on this machine, used only where the first is not there and cannot be pulled. The
    tasks' provenance names it."""

    ca_bundle: str | None = None
    """PEM file with certificates that tools trust in builds and in containers with a network, for networks whose
    proxy has its own."""

    proxy: dict[EnvName, str] = Field(default_factory=dict)
    """Proxy variables of builds: `HTTP_PROXY`, `HTTPS_PROXY`, `NO_PROXY`. They stay out of the images."""

    draft: MachineSection = MachineSection(cpus=2.0, memory_mb=2048, pids=512, disk_mb=4096)
    """Containers in which the author drafts."""

    most: MachineSection = MachineSection(cpus=2.0, memory_mb=4096, pids=512, disk_mb=8192)
    """The most that any container gets, whatever its task asks for."""

    build: BuildSection = BuildSection()
    """Image builds."""
