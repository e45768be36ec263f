"""Which declared artifacts may cross from the solver's container to the verifier's, and what is left out of them."""

from collections.abc import Sequence
from fnmatch import fnmatchcase
from posixpath import basename, normpath

from forge.domain.taskconfig import Artifact

CONVENTIONAL = "/logs/artifacts"
"""The folder that always crosses, declared or not, when it is there."""

# Whoever could replace one of these in the verifier's container would decide the verdict
_OWN = ("/tests", "/logs/verifier")
_SYSTEM = (
    "/bin", "/sbin", "/lib", "/lib64", "/usr/bin", "/usr/sbin", "/usr/lib", "/usr/local/bin",
    "/etc/ld.so.preload", "/etc/ld.so.cache", "/etc/passwd", "/proc", "/sys", "/dev",
)  # fmt: skip
_KERNEL = ("/proc", "/sys", "/dev")


def artifact_problem(source: str) -> str | None:
    """Why a declared path cannot cross, None where it can."""
    if not source.startswith("/") or "\0" in source:
        return "not an absolute path"
    if normpath(source) != source.rstrip("/") or source.startswith("//"):
        return "not a plain path: write it without '.', '..' and double slashes"
    path = source.rstrip("/")
    for own in (*_OWN, *_KERNEL):
        if _within(path, own):
            return f"lies in {own}, which never crosses"
    for guarded in (*_OWN, *_SYSTEM):
        if _within(guarded, path):
            return f"holds {guarded}, which never crosses; declare what is below"
    return None


def crossing(artifacts: Sequence[Artifact]) -> tuple[tuple[str, ...], tuple[tuple[str, str], ...]]:
    """(paths to collect, the conventional folder last; (path, why) of those refused)."""
    refused = {a.source: why for a in artifacts if (why := artifact_problem(a.source)) is not None}
    paths = dict.fromkeys(a.source.rstrip("/") for a in artifacts if a.source not in refused)
    paths[CONVENTIONAL] = None
    return _outermost(tuple(paths)), tuple(refused.items())


def excluded(artifacts: Sequence[Artifact], path: str) -> bool:
    """Whether a collected path, or a folder above it, is left out by the artifact that it belongs to."""
    owners = [a for a in artifacts if _within(path, a.source.rstrip("/"))]
    return bool(owners) and all(_matches(path, a) for a in owners)


def _matches(path: str, artifact: Artifact) -> bool:
    source = artifact.source.rstrip("/")
    relative = path[len(source) :].strip("/")
    parts = relative.split("/") if relative else []
    prefixes = ["/".join(parts[: count + 1]) for count in range(len(parts))]
    patterns = [pattern.strip("/") for pattern in artifact.exclude]
    return any(
        fnmatchcase(prefix, pattern) or fnmatchcase(basename(prefix), pattern)
        for prefix in prefixes
        for pattern in patterns
    )


def _within(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/") or folder in ("", "/")


def _outermost(paths: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(p for p in paths if not any(p != other and _within(p, other) for other in paths))
