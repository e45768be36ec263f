"""task.toml, Harbor schema 1.4: its tables as values.

    TaskConfig
    ├── artifacts             what is collected when an attempt ends
    ├── task                  TaskInfo
    ├── metadata              free; `forge` in it is ours: guards, visible, provenance
    ├── agent                 AgentConfig
    ├── verifier              VerifierConfig
    │   ├── collect           commands run before collecting
    │   └── environment       EnvironmentConfig of the verifier's own machine
    ├── environment           EnvironmentConfig
    │   └── healthcheck
    └── solution              SolutionConfig

Unknown keys are kept (`model_extra`), so that a reader can name them: forge/domain/configtext.py.
Deprecated keys are turned into what they mean now; the text they came from is left alone.
"""

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints, model_validator


class NetworkMode(StrEnum):
    PUBLIC = "public"
    NO_NETWORK = "no-network"
    ALLOWLIST = "allowlist"


class EnvironmentMode(StrEnum):
    """Where the verifier runs: in the solver's own container, or in one that the solver never touched."""

    SHARED = "shared"
    SEPARATE = "separate"


LONGEST_SEC = 86_400.0
"""The most that a task may set as any time-out, whoever wrote it."""

_SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?)i?b?\s*", re.IGNORECASE)
_MB = {"": 1 / (1 << 20), "k": 1 / (1 << 10), "m": 1.0, "g": 1024.0, "t": 1024.0 * 1024.0}
_HOST_VARIABLE = re.compile(r"\$\{(\w+)(?::-(.*))?\}", re.DOTALL)


def megabytes(size: object) -> int:
    """Read a size such as "2G", "512M" or "1.5 GB", rounded up to whole MB. A bare number is bytes.

    Raises ValueError."""
    match = _SIZE.fullmatch(str(size))
    if match is None:
        raise ValueError(f"not a size such as 2G or 512M: {size!r}")
    exact = float(match[1]) * _MB[match[2].lower()]
    return max(1, int(exact) + (exact > int(exact)))


def _resolved(env: Mapping[str, str]) -> dict[str, str]:
    """Values "${NAME:-default}" become their default: variables of this machine never enter a container."""
    resolved = {}
    for name, value in env.items():
        if not name or "=" in name or "\0" in name + value:
            raise ValueError(f"{name!r} cannot be a variable: its name is empty, or '=' or NUL is in it")
        match = _HOST_VARIABLE.fullmatch(value)
        if match is not None and match[2] is None:
            raise ValueError(f"{name} wants ${match[1]} of the host, which is never handed into a container")
        resolved[name] = value if match is None else match[2]
    return resolved


Env = Annotated[dict[str, str], AfterValidator(_resolved)]
Seconds = Annotated[float, Field(gt=0, le=LONGEST_SEC, allow_inf_nan=False)]
Folder = Annotated[str, StringConstraints(pattern=r"^/[^\x00]*$")]


class Table(BaseModel):
    """One table of task.toml. Keys that the schema does not know end up in `model_extra`."""

    model_config = ConfigDict(frozen=True, extra="allow")


class Author(Table):
    name: str
    email: str | None = None


class TaskInfo(Table):
    """name is "org/name"."""

    name: str = Field(min_length=1)
    version: str | None = None
    description: str = ""
    authors: tuple[Author, ...] = ()
    keywords: tuple[str, ...] = ()


class Artifact(Table):
    """A path that is collected when an attempt ends. source: absolute, in the solver's container. destination: where
    other runners file it, not used here. exclude: shell patterns, of a path below source or of a base name."""

    source: str = Field(min_length=1)
    destination: str | None = None
    exclude: tuple[str, ...] = ()
    service: str | None = None


def _as_artifact(value: object) -> object:
    return {"source": value} if isinstance(value, str) else value


class Healthcheck(Table):
    """When a container is ready: `command` exits 0. Times in seconds; failures within start_period_sec do not count."""

    command: str
    interval_sec: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 5.0
    timeout_sec: Seconds = 30.0
    start_period_sec: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.0
    start_interval_sec: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 5.0
    retries: int = Field(default=3, ge=1)


class EnvironmentConfig(Table):
    """A machine. None: not set, our default holds. network_mode None is the format's default, public.

    An engine takes 0 cores for all of them, and starts nothing in less memory."""

    build_timeout_sec: Seconds = 600.0
    docker_image: str | None = None
    os: str | None = None
    cpus: Annotated[float, Field(ge=0.01, allow_inf_nan=False)] | None = None
    memory_mb: Annotated[int, Field(ge=16)] | None = None
    storage_mb: Annotated[int, Field(gt=0)] | None = None
    gpus: int | None = None
    gpu_types: tuple[str, ...] | None = None
    env: Env = Field(default_factory=dict)
    workdir: Folder | None = None
    healthcheck: Healthcheck | None = None
    network_mode: NetworkMode | None = None
    allowed_hosts: tuple[str, ...] = ()
    mcp_servers: tuple[Any, ...] = ()
    skills_dir: str | None = None

    @model_validator(mode="before")
    @classmethod
    def _without_deprecated_keys(cls, table: object) -> object:
        if not isinstance(table, dict):
            return table
        new = {key: value for key, value in table.items() if key not in DEPRECATED}
        if "allow_internet" in table:
            if not isinstance(table["allow_internet"], bool):
                raise ValueError("allow_internet is true or false")
            mode = NetworkMode.PUBLIC if table["allow_internet"] else NetworkMode.NO_NETWORK
            new.setdefault("network_mode", mode)
        for old, key in (("memory", "memory_mb"), ("storage", "storage_mb")):
            if old in table:
                new.setdefault(key, megabytes(table[old]))
        return new


DEPRECATED = ("allow_internet", "memory", "storage")


class AgentConfig(Table):
    """timeout_sec None: no limit of the task's own. user None: the image's."""

    timeout_sec: Seconds | None = None
    user: str | int | None = None
    network_mode: NetworkMode | None = None
    allowed_hosts: tuple[str, ...] = ()


class CollectHook(Table):
    """A command that is run in the solver's container, still running, before artifacts are collected."""

    command: str
    service: str | None = None
    timeout_sec: Seconds = 60.0
    user: str | int | None = None


class VerifierConfig(Table):
    """environment_mode None: separate only where [verifier.environment] exists."""

    timeout_sec: Seconds = 600.0
    env: Env = Field(default_factory=dict)
    user: str | int | None = None
    network_mode: NetworkMode | None = None
    allowed_hosts: tuple[str, ...] = ()
    environment_mode: EnvironmentMode | None = None
    environment: EnvironmentConfig | None = None
    collect: tuple[CollectHook, ...] = ()


class SolutionConfig(Table):
    env: Env = Field(default_factory=dict)


class ForgeMetadata(BaseModel):
    """[metadata.forge]. guards: names of tests that pass before and after. visible: tests that a solver may run."""

    model_config = ConfigDict(frozen=True, extra="allow")

    guards: tuple[str, ...] = ()
    visible: tuple[str, ...] = ()


class Metadata(BaseModel):
    """[metadata] is free; what is in it beside `forge` is in `model_extra`."""

    model_config = ConfigDict(frozen=True, extra="allow")

    forge: ForgeMetadata = ForgeMetadata()


class TaskConfig(Table):
    """The whole file. schema_version is what it says, under that key or under its old name `version`."""

    schema_version: str = "1.4"
    artifacts: tuple[Annotated[Artifact, BeforeValidator(_as_artifact)], ...] = ()
    task: TaskInfo | None = None
    metadata: Metadata = Metadata()
    agent: AgentConfig = AgentConfig()
    verifier: VerifierConfig = VerifierConfig()
    environment: EnvironmentConfig = EnvironmentConfig()
    solution: SolutionConfig = SolutionConfig()
    steps: tuple[Any, ...] = ()

    @model_validator(mode="before")
    @classmethod
    def _version_alias(cls, table: object) -> object:
        if isinstance(table, dict) and "version" in table:
            new = {key: value for key, value in table.items() if key != "version"}
            new.setdefault("schema_version", table["version"])
            return new
        return table

    @property
    def separate(self) -> bool:
        """Whether the verifier has a container of its own."""
        if self.verifier.environment_mode is None:
            return self.verifier.environment is not None
        return self.verifier.environment_mode is EnvironmentMode.SEPARATE

    @property
    def verifier_machine(self) -> EnvironmentConfig:
        """The machine of a separate verifier: its own table, else a copy of the solver's."""
        return self.verifier.environment or self.environment

    @property
    def verifier_image(self) -> str | None:
        """The ready image of a separate verifier, where one is named."""
        return self.verifier.environment.docker_image if self.verifier.environment else None

    @property
    def solver_network(self) -> NetworkMode:
        return self.agent.network_mode or self.environment.network_mode or NetworkMode.PUBLIC

    @property
    def verifier_network(self) -> NetworkMode:
        """Of a separate verifier: none, unless the verifier's own tables say otherwise."""
        own = self.verifier.environment.network_mode if self.verifier.environment else None
        return self.verifier.network_mode or own or NetworkMode.NO_NETWORK
