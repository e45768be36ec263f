"""An engine that records what it builds: each candidate's images, so that they go when the candidate has ended, also
where another process than the one that built them sees it end; and the stand-ins, which the run's row names."""

import threading

from forge.factory.begin import note_substitutes
from forge.factory.passing_engine import PassingEngine
from forge.storage.ledger import Ledger
from sandbox.api import Engine, Image, ImageSpec, Owner

BUILT = "image"
"""The kind of the events that name a built image's tag."""


class TrackedEngine(PassingEngine):
    def __init__(self, engine: Engine, ledger: Ledger) -> None:
        super().__init__(engine)
        self._ledger = ledger
        self._lock = threading.Lock()
        self._built: dict[str, set[str]] = {}
        self._substitutes: set[tuple[str, str]] = set()

    def build(self, spec: ImageSpec, owner: Owner) -> Image:
        image = super().build(spec, owner)
        with self._lock:
            if not self._substitutes.issuperset(image.substitutes):
                self._substitutes.update(image.substitutes)
                note_substitutes(self._ledger, image.substitutes)
            tags = self._built.setdefault(owner.candidate, set())
            is_new = spec.docker_image is None and image.tag not in tags
            if is_new:
                tags.add(image.tag)
        if is_new:
            self._ledger.event(owner.candidate, BUILT, image.tag, key=f"{BUILT}/{image.tag}")
        return image

    def drop_built_for(self, candidate: str) -> None:
        """Remove a candidate's images, but those that another candidate of this process also built."""
        mine = {event.text for event in self._ledger.read.events(candidate) if event.kind == BUILT}
        with self._lock:
            self._built.pop(candidate, None)
            others = {tag for tags in self._built.values() for tag in tags}
        for tag in sorted(mine - others):
            self.drop(Image(id="", tag=tag))
