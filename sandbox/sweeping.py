"""Removing what was left behind: containers, networks, and what builds leave in the engine."""

from collections.abc import Callable, Iterable
from typing import Any

from sandbox.api import Swept
from sandbox.build_lock import BuildLock
from sandbox.daemon import Daemon, Refusal
from sandbox.labels import BUILD_LABEL, OWNER, REPOSITORY, RUN, owner_is_another, owner_is_dead

# How long a sweep waits for running builds to end before it leaves what builds have left to the next sweep.
_WAIT_SEC = 5.0

Found = dict[str, Any]
"""An entry of one of the engine's lists."""


class Sweeper:
    """What the engine refuses to remove keeps nothing else from being removed; the Refusal is raised at the end."""

    def __init__(self, daemon: Daemon, build_lock: BuildLock) -> None:
        self._daemon = daemon
        self._build_lock = build_lock

    def run(self, run: str) -> Swept:
        """Everything labelled with a run, and what builds that run no more have left.

        A run of the same name in another folder is another run: what belongs to another process that lives stays."""
        label = f"{RUN}={run}"
        return self._swept(_not_of_others(self._daemon.containers(label)), _not_of_others(self._daemon.networks(label)))

    def dead(self) -> Swept:
        """Everything labelled with an owner that no longer lives on this host, and what builds have left."""
        return self._swept(_of_the_dead(self._daemon.containers(OWNER)), _of_the_dead(self._daemon.networks(OWNER)))

    def clean_images(self) -> int:
        """Remove every image that was built here, unless a container uses it; how many."""
        removal = _Removal()
        with self._build_lock.removing(_WAIT_SEC) as alone:
            if not alone:
                return 0
            tags = [tag for found in self._daemon.images(reference=[REPOSITORY]) for tag in found["RepoTags"] or ()]
            count = removal.of(tags, self._daemon.remove_image) + self._dangling(removal)
        removal.finish()
        return count

    def _swept(self, containers: Iterable[Found], networks: Iterable[Found]) -> Swept:
        removal = _Removal()
        ended = removal.of(_ids(containers), self._daemon.remove_container)
        unlinked = removal.of(_ids(networks), self._daemon.remove_network)
        # Of builds only while none is running, which could be standing on it.
        with self._build_lock.removing(_WAIT_SEC) as alone:
            steps = self._build_steps() if alone else []
            ended += removal.of(_ids(steps), self._daemon.remove_container)
            images = self._dangling(removal) if alone else 0
        removal.finish()
        return Swept(ended, unlinked, images)

    def _build_steps(self) -> list[Found]:
        """Containers of builds. One that runs a finished image was started by hand: its label is the image's."""
        return [found for found in self._daemon.containers(BUILD_LABEL) if not found["Image"].startswith(REPOSITORY)]

    def _dangling(self, removal: "_Removal") -> int:
        found = self._daemon.images(label=[BUILD_LABEL], dangling=["true"])
        return removal.of(_ids(found), self._daemon.remove_image)


class _Removal:
    """Removes one after the other, and keeps the first refusal for the end."""

    def __init__(self) -> None:
        self._refusal: Refusal | None = None

    def of(self, names: Iterable[str], remove: Callable[[str], None]) -> int:
        """How many were removed, without what somebody else has removed or still uses."""
        count = 0
        for name in names:
            try:
                remove(name)
            except Refusal as error:
                if error.status not in (404, 409):
                    self._refusal = self._refusal or error
            else:
                count += 1
        return count

    def finish(self) -> None:
        if self._refusal is not None:
            raise self._refusal


def _of_the_dead(found: Iterable[Found]) -> list[Found]:
    return [one for one in found if owner_is_dead(one["Labels"][OWNER])]


def _not_of_others(found: Iterable[Found]) -> list[Found]:
    return [one for one in found if not owner_is_another(one["Labels"].get(OWNER, ""))]


def _ids(found: Iterable[Found]) -> list[str]:
    return [one["Id"] for one in found]
