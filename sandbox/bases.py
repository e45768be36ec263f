"""Base images: found in the engine, else pulled, else replaced by a configured stand-in."""

import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass

from sandbox.daemon import Daemon, Refusal
from sandbox.errors import EngineUnavailable
from sandbox.messages import messages
from sandbox.transfers import Transfers

# For the first answer of a registry; what follows has the build's own time.
_PULL_ANSWER_SEC = 20.0


@dataclass(frozen=True)
class Base:
    """What became of an image that a context names: the name to use and its id, or why there is none."""

    used: str = ""
    id: str = ""
    why: str = ""


class Bases:
    def __init__(self, daemon: Daemon, substitutes: Mapping[str, str], transfers: Transfers) -> None:
        self._daemon = daemon
        self._transfers = transfers
        self._substitutes = substitutes
        self._lock = threading.Lock()
        self._name_locks: dict[str, threading.Lock] = {}
        self._unavailable: dict[str, str] = {}

    def base(self, name: str, seconds: float) -> Base:
        """The image of a name. That it can be neither found nor pulled is asked once; ids are looked up each time."""
        with self._lock:
            lock = self._name_locks.setdefault(name, threading.Lock())
        with lock:
            why = self._unavailable.get(name)
            if why is None:
                found = self.find(name)
                if found:
                    return Base(name, found)
                why = self._pull(name, seconds)
                if not why:
                    return Base(name, self.find(name))
                self._unavailable[name] = why
        return self._stand_in(name, why)

    def find(self, name: str) -> str:
        """The id of an image in the engine, "" when there is none, or the name is none."""
        try:
            return str(self._daemon.inspect_image(name)["Id"])
        except Refusal as error:
            if error.status not in (400, 404):
                raise
            return ""

    def _stand_in(self, name: str, why: str) -> Base:
        stand_in = self._substitutes.get(name)
        if stand_in is None:
            return Base(why=f"it is not in the engine, pulling failed: {why}; no substitute is configured")
        found = self.find(stand_in)
        if not found:
            return Base(why=f"pulling failed: {why}; its substitute {stand_in} is not in the engine")
        return Base(stand_in, found)

    def _pull(self, name: str, seconds: float) -> str:
        """Pull an image; why it failed, "" when it did not."""
        deadline = time.monotonic() + seconds
        try:
            stream = self._daemon.pull(name, min(seconds, _PULL_ANSWER_SEC))
            with self._transfers.going_on(stream):
                for message in messages(stream, deadline):
                    if "error" in message:
                        return str(message["error"]).strip()
        except Refusal as error:
            return str(error)
        except (EngineUnavailable, TimeoutError):
            self._transfers.check()
            self._daemon.info()  # raises where it is the engine, and not the registry, that is silent
            return "no answer in time"
        return ""
