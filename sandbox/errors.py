"""What can go wrong with a machine.

SandboxError
├── EngineUnavailable     no engine answers
├── BuildFailed           the image does not build: the context's fault
│   └── BuildTimedOut
├── ContextRefused        what is asked for is not to be had (heredocs, links out of the tree, an unknown user ...)
├── ImageMissing          an image can be neither found, pulled nor substituted
├── StartFailed           the engine cannot start this container, and does not say that the image is why
├── SandboxGone           the container has ended; `reason` says why
├── CopyRefused           a tree that is read back is hostile or too large
├── PathMissing           a path that is read back does not exist
└── HostFull              the host's disk or inodes are spent
"""


class SandboxError(Exception):
    """Base of all errors of this floor."""


class EngineUnavailable(SandboxError):
    pass


class BuildFailed(SandboxError):
    """The image does not build. `log` is the whole build log as kept (capped)."""

    def __init__(self, message: str, log: str = "") -> None:
        super().__init__(message)
        self.log = log

    def last_lines(self, count: int = 20) -> str:
        return "\n".join(self.log.rstrip().splitlines()[-count:])


class BuildTimedOut(BuildFailed):
    pass


class ContextRefused(SandboxError):
    pass


class ImageMissing(SandboxError):
    pass


class StartFailed(SandboxError):
    pass


class SandboxGone(SandboxError):
    """The container is no longer running. `reason` is an EndReason's value, or "unknown"."""

    def __init__(self, message: str, reason: str = "unknown") -> None:
        super().__init__(message)
        self.reason = reason


class CopyRefused(SandboxError):
    """`path` in the container was refused, for `why`."""

    def __init__(self, path: str, why: str) -> None:
        super().__init__(f"{path}: {why}")
        self.path = path
        self.why = why


class PathMissing(SandboxError):
    def __init__(self, path: str) -> None:
        super().__init__(f"{path}: no such file or directory in the sandbox")
        self.path = path


class HostFull(SandboxError):
    pass
