"""When the engine's runtime fails to begin a command: what is tried again, and what is the command's own fault."""

import pytest

from sandbox.api import ExecResult
from sandbox.execution import start_may_pass

BROKE = (
    b"OCI runtime exec failed: exec failed: unable to start container process: read init-p: connection reset by peer"
)


def result(code: int | None, stderr: bytes) -> ExecResult:
    return ExecResult(code, b"", stderr, 0.1)


def test_a_runtime_that_broke_down_is_asked_again():
    assert start_may_pass(result(126, BROKE + b": unknown\r\n"))


@pytest.mark.parametrize(
    ("code", "stderr"),
    [
        (0, BROKE),
        (None, BROKE),
        (1, BROKE),
        (126, b"OCI runtime exec failed: exec failed: unable to start container process: chdir to cwd: no such file"),
        (126, b"unable to find user nosuch: no matching entries in passwd file"),
        (126, b"read init-p: connection reset by peer"),
        (127, b"bash: line 1: nosuch: command not found"),
    ],
)
def test_what_a_command_brought_on_itself_is_not(code: int | None, stderr: bytes):
    assert not start_may_pass(result(code, stderr))
