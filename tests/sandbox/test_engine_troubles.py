"""What an engine in trouble answers, and whose fault that is. The engine is a table of answers."""

from collections.abc import Sequence
from pathlib import Path

import pytest
import requests

from sandbox.api import EndReason
from sandbox.bases import Bases
from sandbox.build_lock import BuildLock
from sandbox.container import DockerSandbox, close_all
from sandbox.daemon import Refusal
from sandbox.errors import EngineUnavailable, HostFull, SandboxGone
from sandbox.sweeping import Sweeper
from sandbox.transfers import Transfers
from sandbox.watching import HostSpace, Watcher
from tests.sandbox.stub_daemon import Answer, stub_daemon

STUCK: Answer = (500, {"message": "driver failed to remove root filesystem: device or resource busy"})
LISTED = [{"Id": "a", "Labels": {}, "Image": "i"}, {"Id": "b", "Labels": {}, "Image": "i"}]
SILENCE = requests.ReadTimeout("nothing came")


def removed(seen: Sequence[str]) -> list[str]:
    return [asked.rpartition("/")[2] for asked in seen if asked.startswith("DELETE")]


def test_a_sweep_goes_on_past_what_cannot_be_removed_and_says_so(tmp_path: Path) -> None:
    daemon, client = stub_daemon(
        {
            "GET /containers/json": (200, LISTED),
            "DELETE /containers/a": STUCK,
            "GET /networks": (200, [{"Id": "n", "Labels": {}}]),
            "GET /images/json": (200, [{"Id": "i"}]),
        }
    )
    with pytest.raises(Refusal, match="busy"):
        Sweeper(daemon, BuildLock(tmp_path / "lock")).run("r")
    assert removed(client.seen) == ["a", "b", "n", "a", "b", "i"]


def test_closing_goes_on_past_what_cannot_be_closed_and_says_so() -> None:
    daemon, client = stub_daemon({"DELETE /containers/b": STUCK})
    forgotten: list[DockerSandbox] = []
    with pytest.raises(Refusal, match="busy"):
        close_all([DockerSandbox(daemon, name, 10, forgotten.append) for name in "abc"])
    assert sorted(removed(client.seen)) == ["a", "b", "c"]
    assert len(forgotten) == 3


@pytest.mark.parametrize(("used_mb", "free_mb"), [(5, 1), (50, 1), (50, 5000)])
def test_who_is_ended_for_the_hosts_sake_is_not_to_blame(used_mb: int, free_mb: int) -> None:
    state = {"Running": True, "Status": "running"}
    daemon, client = stub_daemon({"GET /containers/a/json": (200, {"State": state, "SizeRw": used_mb << 20})})
    sandbox = DockerSandbox(daemon, "a", 10, lambda _: None)
    watcher = Watcher(daemon, lambda: [sandbox], 1.0, lambda: HostSpace(free_mb, None), 1000)
    watcher.look()
    assert "POST /containers/a/kill" in client.seen
    with pytest.raises(SandboxGone if used_mb > 10 else HostFull, match="disk"):
        sandbox.exec("true", timeout_sec=1)
    assert sandbox.ended is (EndReason.DISK if used_mb > 10 else EndReason.HOST_FULL)


def test_a_registry_that_is_silent_is_why_there_is_no_image() -> None:
    daemon, _ = stub_daemon(
        {"GET /images/.*": (404, {"message": "no such image"}), "POST /images/create": SILENCE, "GET /info": (200, {})}
    )
    assert "no answer in time" in Bases(daemon, {}, Transfers()).base("x:1", 5).why


def test_an_engine_that_is_silent_is_not_a_missing_image() -> None:
    gone = requests.ConnectionError("connection refused")
    daemon, _ = stub_daemon(
        {"GET /images/.*": (404, {"message": "no such image"}), "POST /images/create": SILENCE, "GET /info": gone}
    )
    with pytest.raises(EngineUnavailable):
        Bases(daemon, {}, Transfers()).base("x:1", 5)
