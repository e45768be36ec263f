"""The engine's progress messages: JSON lines in a stream that is bounded in time."""

import json
import time
from collections.abc import Iterator

from sandbox.daemon import Stream
from sandbox.errors import EngineUnavailable


def messages(stream: Stream, deadline: float) -> Iterator[dict[str, object]]:
    """The lines as they come; `deadline` is on the monotonic clock. Raises TimeoutError then."""
    rest = b""
    chunks = stream.chunks(None)
    while True:
        left = deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError
        stream.limit(left)
        try:
            chunk = next(chunks, None)
        except EngineUnavailable as error:
            if time.monotonic() >= deadline - 0.05:
                raise TimeoutError from error
            raise
        if chunk is None:
            return
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            if line.strip():
                yield json.loads(line)


def capped(lines: list[str], cap: int) -> str:
    """The text of all lines, its middle left out beyond `cap` characters."""
    text = "".join(lines)
    if len(text) <= cap:
        return text
    return f"{text[: cap // 2]}\n[... {len(text) - cap} characters left out ...]\n{text[-cap // 2 :]}"
