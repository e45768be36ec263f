"""The machine of the toy world: the fake engine, with what the search for leaks needs beyond its programs."""

import hashlib
from collections.abc import Callable, Mapping
from itertools import pairwise

from sandbox.fake import FakeEngine, FakeHost
from sandbox.fake_build import FakeImage
from sandbox.fake_files import FakeFiles
from sandbox.fake_process import Answer, Call, Program

ASKED, STAND_IN = "toy:base", "toy/stand-in:base"


def toy_engine(
    on_event: Callable[[str], None] | None = None,
    host: FakeHost | None = None,
    programs: Mapping[str, Program] | None = None,
) -> FakeEngine:
    """It has one base image, which stands in for the one that toy tasks name. programs: beside the toy's own."""
    bases = {STAND_IN: FakeImage(FakeFiles())}
    every = {**MORE, **(programs or {})}
    return FakeEngine(programs=every, bases=bases, substitutes={ASKED: STAND_IN}, on_event=on_event, host=host)


def _find(call: Call) -> Answer:
    """`find / ... -size Nc ... -exec sha256sum -z -- {} +`: digests and paths of the files of these sizes."""
    sizes = {int(size.removesuffix("c")) for option, size in pairwise(call.args) if option == "-size"}
    files = {path: call.files.read(path) for path in call.files.below("/") if call.files.is_file(path)}
    lines = [f"{hashlib.sha256(data).hexdigest()}  {path}\0" for path, data in files.items() if len(data) in sizes]
    return Answer(0, "".join(lines).encode())


MORE: Mapping[str, Program] = {"find": _find, "sha256sum": lambda _call: Answer()}
