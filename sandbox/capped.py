"""Output kept within a cap while it streams: its head and its tail."""


class CappedOutput:
    """Keeps all of a stream that is at most `cap` bytes long, else its first and its last half cap."""

    def __init__(self, cap: int) -> None:
        self._head_size = cap - cap // 2
        self._tail_size = cap // 2
        self._head = bytearray()
        self._tail = bytearray()
        self.total = 0

    @property
    def truncated(self) -> bool:
        return self.total > self._head_size + self._tail_size

    def add(self, part: bytes) -> None:
        self.total += len(part)
        room = self._head_size - len(self._head)
        if room > 0:
            self._head += part[:room]
            part = part[room:]
        self._tail += part
        if len(self._tail) > 2 * self._tail_size + 65536:
            del self._tail[: len(self._tail) - self._tail_size]

    def value(self) -> bytes:
        """What is kept: at most the cap."""
        spare = len(self._tail) - self._tail_size
        return bytes(self._head) + bytes(self._tail[max(0, spare) :])
