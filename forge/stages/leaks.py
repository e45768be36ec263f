"""Whether a solver could find tests or solution in its image."""

from collections.abc import Iterator

from forge.domain.structure import Finding, comparable_files, leaked_contents, leaked_names
from forge.domain.task import Task
from sandbox.api import Engine, Image, Sandbox

_SCAN_SEC = 300.0
_DONE = "scan complete"


def leak_findings(engine: Engine, task: Task, image: Image, sandbox: Sandbox) -> Iterator[Finding]:
    """Look through the layers by name and through an untouched container by content. Raises SandboxError."""
    yield from leaked_names(task, engine.image_files(image))
    sizes = sorted({len(file.data) for file in comparable_files(task).values()})
    if not sizes:
        return
    result = sandbox.exec(_scan(sizes), timeout_sec=_SCAN_SEC, user="root", workdir="/", output_limit=8 << 20)
    lines = result.stdout.decode("utf-8", "surrogateescape").split("\0")
    if _DONE not in lines[-1] or result.stdout_truncated:
        said = result.stderr[-2_000:].decode(errors="replace")
        yield Finding("scan_failed", "the container could not be searched for tests and solution", said)
        return
    yield from leaked_contents(task, (_digest_and_path(line) for line in lines[:-1]))


def _scan(sizes: list[int]) -> str:
    """Digests and paths of all files of these sizes, and a last word that comes only when both tools are there: 127 is
    the shell's word for a missing one, while find exits 1 for any file that went away."""
    of_size = " -o ".join(f"-size {size}c" for size in sizes)
    unreal = r"\( -path /proc -o -path /sys -o -path /dev \) -prune"
    search = rf"find / {unreal} -o -type f \( {of_size} \) -exec sha256sum -z -- {{}} +"
    return f"sha256sum -z /dev/null >/dev/null && {{ {search}; [ $? -ne 127 ]; }} && echo '{_DONE}'"


def _digest_and_path(line: str) -> tuple[str, str]:
    """A line of sha256sum: digest, two characters, path."""
    digest, _, path = line.partition("  ")
    return digest, path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
