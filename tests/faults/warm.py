"""Imported by the server that programs are forked from: what takes seconds to load is loaded once, also what the SDK of
models loads at its first call only."""

import forge.cli.tools  # noqa: F401
from solvers.config import DoorConfig
from solvers.door import ModelDoor
from solvers.model import Message, Request
from solvers.scripted import Scripted

WARM = "rehearsal/warm"

with ModelDoor(DoorConfig(), None, {WARM: Scripted(["warm"])}) as door:
    door.bind("warm/call")(Request(WARM, (Message("user", "warm"),)), deadline_sec=60.0)
