"""task.toml: every table, refusals with their key, warnings."""

import contextlib
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forge.domain.configtext import config_warnings, parse_config, refuse_unauthored
from forge.domain.refused import TaskRefused
from forge.domain.taskconfig import NetworkMode, megabytes

FULL = """\
schema_version = "1.4"
artifacts = ["/app/out", { source = "/app/db", destination = "db", exclude = ["*.tmp"], service = "main" }]

[task]
name = "org/name"
version = "1.0.0"
description = "text"
authors = [{ name = "A", email = "a@example.org" }]
keywords = ["k"]

[metadata]
anything = { goes = ["here", 1, 2.5, 2020-01-01] }

[metadata.forge]
guards = ["test_a"]
visible = []
licence = "CC0-1.0"

[agent]
timeout_sec = 900
user = 1000
network_mode = "public"
allowed_hosts = []

[verifier]
timeout_sec = 300
env = { A = "1", B = "${B:-two}" }
user = "root"
network_mode = "no-network"
environment_mode = "separate"
collect = [{ command = "pg_dump > /logs/artifacts/db.sql", service = "main", timeout_sec = 5, user = "postgres" }]

[verifier.environment]
docker_image = "registry.example.org/verifier:1"

[environment]
build_timeout_sec = 60
docker_image = "registry.example.org/task:1"
os = "linux"
cpus = 2
memory_mb = 4096
storage_mb = 10240
gpus = 0
env = { LANG = "C.UTF-8" }
workdir = "/app"
network_mode = "no-network"
allowed_hosts = []
mcp_servers = []
skills_dir = "/skills"

[environment.healthcheck]
command = "true"
interval_sec = 1
timeout_sec = 2
start_period_sec = 3
start_interval_sec = 4
retries = 5

[solution]
env = { KEY = "value" }
"""


def test_every_key_is_read() -> None:
    config = parse_config(FULL)
    assert [artifact.source for artifact in config.artifacts] == ["/app/out", "/app/db"]
    assert config.artifacts[1].exclude == ("*.tmp",)
    assert config.verifier.env == {"A": "1", "B": "two"}
    assert config.verifier.collect[0].user == "postgres"
    assert config.environment.healthcheck is not None
    assert config.environment.healthcheck.retries == 5
    assert config.metadata.forge.guards == ("test_a",)
    assert config.separate
    assert config.solver_network is NetworkMode.PUBLIC
    assert config_warnings(FULL) == ("task.toml: environment.skills_dir: skills are not handed to solvers",)
    refuse_unauthored(FULL)


def test_an_empty_file_has_the_formats_defaults() -> None:
    config = parse_config("")
    assert (config.verifier.timeout_sec, config.environment.build_timeout_sec) == (600, 600)
    assert (config.agent.timeout_sec, config.environment.cpus, config.environment.memory_mb) == (None, None, None)
    assert not config.separate
    assert config.solver_network is NetworkMode.PUBLIC
    assert config.verifier_network is NetworkMode.NO_NETWORK


@pytest.mark.parametrize(
    ("text", "separate"),
    [
        ("[verifier.environment]\ncpus = 1", True),
        ('[verifier]\nenvironment_mode = "shared"\n[verifier.environment]\ncpus = 1', False),
        ('[verifier]\nenvironment_mode = "separate"', True),
        ("[verifier]", False),
    ],
)
def test_unset_mode_is_separate_only_with_an_environment(text: str, separate: bool) -> None:
    assert parse_config(text).separate is separate


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("[[steps]]\nname = 'a'", "steps"),
        ("[environment]\ngpus = 1", "environment.gpus"),
        ("[environment]\nos = 'windows'", "environment.os"),
        ("[environment]\nnetwork_mode = 'allowlist'", "environment.network_mode"),
        ("[agent]\nnetwork_mode = 'allowlist'", "agent.network_mode"),
        ("[verifier]\nnetwork_mode = 'allowlist'", "verifier.network_mode"),
        ("[verifier.environment]\ngpus = 2", "verifier.environment.gpus"),
        ("[environment]\nmcp_servers = [{name = 'x'}]", "environment.mcp_servers"),
        ("artifacts = [{source = '/a', service = 'db'}]", "artifacts[0].service"),
        ("[verifier]\ncollect = [{command = 'a', service = 'db'}]", "verifier.collect[0].service"),
        ("[verifier]\nnetwork_mode = 'no-network'", "verifier.network_mode"),
        ("[environment]\ncpus = 'two'", "environment.cpus"),
        ("[environment]\nmemory_mb = -1", "environment.memory_mb"),
        ("[environment]\nmemory = 'lots'", "environment"),
        ("[environment]\nallow_internet = 'yes'", "environment"),
        ("[verifier]\nenv = {KEY = '${SECRET}'}", "verifier.env"),
        ("[verifier]\ntimeout_sec = inf", "verifier.timeout_sec"),
        ("[verifier]\ntimeout_sec = 1e300", "verifier.timeout_sec"),
        ("[agent]\ntimeout_sec = 86401", "agent.timeout_sec"),
        ("[environment]\ncpus = 1e-12", "environment.cpus"),
        ("[environment]\nmemory_mb = 5", "environment.memory_mb"),
        ("[environment]\nworkdir = 'app'", "environment.workdir"),
        ("[environment]\nenv = {'A=B' = 'x'}", "environment.env"),
        ("[environment]\nenv = {'' = 'x'}", "environment.env"),
        ('[solution]\nenv = {A = "a\\u0000b"}', "solution.env"),
        (f"number = {'9' * 5000}", ""),
        ("[task]\nversion = '1'", "task.name"),
        ("artifacts = [3]", "artifacts[0]"),
        ("verifier = 3", "verifier"),
    ],
)
def test_what_is_not_run_is_refused_by_its_key(text: str, key: str) -> None:
    with pytest.raises(TaskRefused) as refused:
        parse_config(text)
    assert (refused.value.file, refused.value.key) == ("task.toml", key)
    assert str(refused.value).startswith(f"task.toml: {key}: " if key else "task.toml: not TOML: ")


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("surprise = 1", "surprise"),
        ("[verifier]\nsurprise = 1", "verifier.surprise"),
        ("[environment.healthcheck]\ncommand = 'a'\nsurprise = 1", "environment.healthcheck.surprise"),
        ("artifacts = ['/b', {source = '/a', surprise = 1}]", "artifacts[1].surprise"),
        ("[task]\nname = 'a/b'\nauthors = [{name = 'a', surprise = 1}]", "task.authors[0].surprise"),
    ],
)
def test_unknown_keys_are_named_and_refused_in_what_we_write(text: str, key: str) -> None:
    assert config_warnings(text) == (f"task.toml: {key}: unknown key",)
    with pytest.raises(TaskRefused) as refused:
        refuse_unauthored(text)
    assert refused.value.key == key


SEPARATE = '[verifier]\nenvironment_mode = "separate"\n'


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("", "verifier.environment_mode"),
        ('[verifier]\nenvironment_mode = "shared"', "verifier.environment_mode"),
        (f"{SEPARATE}network_mode = 'public'", "verifier.network_mode"),
        (f"{SEPARATE}environment.network_mode = 'public'", "verifier.network_mode"),
        (f"{SEPARATE}timeout_sec = 3601", "verifier.timeout_sec"),
        (f"{SEPARATE}[agent]\ntimeout_sec = 3601", "agent.timeout_sec"),
        (f"{SEPARATE}[environment]\nbuild_timeout_sec = 3601", "environment.build_timeout_sec"),
        (f"{SEPARATE}environment.build_timeout_sec = 3601", "verifier.environment.build_timeout_sec"),
        (SEPARATE + "[[verifier.collect]]\ncommand = 'a'\n" * 61, "verifier.collect"),
    ],
)
def test_what_makes_verdicts_doubtful_or_endless_is_refused_in_what_we_write(text: str, key: str) -> None:
    refuse_unauthored(SEPARATE)
    parse_config(text)
    with pytest.raises(TaskRefused) as refused:
        refuse_unauthored(text)
    assert refused.value.key == key


@pytest.mark.parametrize(
    ("size", "expected"),
    [("2G", 2048), ("512M", 512), ("1.5 GB", 1536), ("100k", 1), (1 << 30, 1024), ("1TiB", 1 << 20)],
)
def test_sizes(size: object, expected: int) -> None:
    assert megabytes(size) == expected


@given(st.text(max_size=200))
def test_any_text_is_read_or_refused(text: str) -> None:
    with contextlib.suppress(TaskRefused):
        config = parse_config(text)
        assert set(config.model_extra or {}) <= set(tomllib.loads(text.removeprefix("\ufeff")))
