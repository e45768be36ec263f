"""Which declared paths may cross to a verifier."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forge.domain.artifacts import artifact_problem, crossing, excluded
from forge.domain.taskconfig import Artifact


@pytest.mark.parametrize(
    "source", ["/app", "/app/", "/app/out.txt", "/etc/nginx", "/usr/local/share/x", "/srv", "/root/a"]
)
def test_ordinary_paths_cross(source: str) -> None:
    assert artifact_problem(source) is None


@pytest.mark.parametrize(
    "source",
    [
        *("/", "/tests", "/tests/x", "/logs", "/logs/verifier", "/logs/verifier/reward.txt"),
        *("/usr", "/usr/bin", "/bin", "/lib", "/etc", "/usr/local", "/proc/1", "/dev/null", "/sys"),
        *("app", "./app", "/app/../tests", "//tests", "/app//x", "/app/.", "../x", "/tests/", "/app/a\0b"),
    ],
)
def test_paths_that_could_decide_the_verdict_do_not(source: str) -> None:
    assert artifact_problem(source) is not None


@given(st.lists(st.sampled_from(["tests", "logs", "verifier", "app", "..", ".", "", "usr", "bin"]), max_size=5))
def test_no_spelling_reaches_the_tests(parts: list[str]) -> None:
    source = "/" + "/".join(parts)
    if artifact_problem(source) is None:
        kept = source.rstrip("/") + "/"
        assert not any(f"{own}/".startswith(kept) or kept.startswith(f"{own}/") for own in ("/tests", "/logs/verifier"))


def test_crossing_keeps_the_outermost_and_names_the_refused() -> None:
    artifacts = [Artifact(source=s) for s in ("/app/out", "/app", "/tests", "/app/", "/srv/x")]
    paths, refused = crossing(artifacts)
    assert paths == ("/app", "/srv/x", "/logs/artifacts")
    assert [path for path, _ in refused] == ["/tests"]


@pytest.mark.parametrize(
    ("path", "out"),
    [
        ("/app/a.log", True),
        ("/app/deep/b.log", True),
        ("/app/cache", True),
        ("/app/cache/x/y", True),
        ("/app/src/cache.py", False),
        ("/app", False),
        ("/application/a.log", False),
        ("/app/keep/c.log", False),
    ],
)
def test_excluded(path: str, out: bool) -> None:
    artifacts = [Artifact(source="/app", exclude=("*.log", "cache/")), Artifact(source="/app/keep")]
    assert excluded(artifacts, path) is out
