"""An engine that passes every call on to another one: what is changed on the way is said by its subclasses."""

from collections.abc import Sequence

from sandbox.api import Engine, Image, ImageSpec, Machine, Owner, Sandbox, Swept


class PassingEngine:
    """sandbox.api.Engine."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def build(self, spec: ImageSpec, owner: Owner) -> Image:
        return self._engine.build(spec, owner)

    def start(self, image: Image, machine: Machine, owner: Owner) -> Sandbox:
        return self._engine.start(image, machine, owner)

    def image_files(self, image: Image) -> Sequence[str]:
        return self._engine.image_files(image)

    def drop(self, image: Image) -> None:
        self._engine.drop(image)

    def sweep(self, run: str) -> Swept:
        return self._engine.sweep(run)

    def cancel(self) -> None:
        self._engine.cancel()

    def close(self) -> None:
        self._engine.close()
