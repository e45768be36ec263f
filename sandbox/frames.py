"""The engine's multiplexed stream: a header (stream, 3 zero bytes, 4 bytes big-endian length), then a payload."""

from collections.abc import Iterator

STDOUT = 1
STDERR = 2
_HEADER = 8


class FrameParser:
    """Splits a byte stream that arrives in any chunks into (stream, part of a payload) pairs, copying nothing twice."""

    def __init__(self) -> None:
        self._header = bytearray()
        self._stream = STDOUT
        self._left = 0

    def feed(self, chunk: bytes) -> Iterator[tuple[int, bytes]]:
        """The payload parts in one more chunk, in order. Consume it wholly before feeding again."""
        view = memoryview(chunk)
        while view:
            if self._left:
                part, view = view[: self._left], view[self._left :]
                self._left -= len(part)
                yield self._stream, bytes(part)
                continue
            missing = _HEADER - len(self._header)
            self._header += view[:missing]
            view = view[missing:]
            if len(self._header) == _HEADER:
                self._stream = self._header[0]
                self._left = int.from_bytes(self._header[4:], "big")
                self._header.clear()
