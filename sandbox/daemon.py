"""The engine's HTTP interface, as far as it is used here: each call typed, with a deadline, with our errors.

The client comes from the docker package (a requests session that knows the engine's socket), as a value.
"""

import base64
import io
import json
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, Protocol
from urllib.parse import quote

import requests

from sandbox.errors import EngineUnavailable, HostFull, SandboxError

_LONG_SEC = 300.0


class Refusal(SandboxError):
    """The engine answered with an error: its HTTP status and message."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class Client(Protocol):
    """What is used of docker.APIClient."""

    base_url: str

    @property
    def api_version(self) -> str: ...

    def request(self, *args: Any, **kwargs: Any) -> requests.Response: ...

    def exec_start(self, *args: Any, **kwargs: Any) -> Any: ...


class Stream:
    """A response that is still being read; `limit` sets how long the next read may take."""

    def __init__(self, response: requests.Response) -> None:
        self._response = response
        # The connection's socket, taken before the first read since it is released at the last.
        self._socket: socket.socket | None = getattr(getattr(response.raw, "connection", None), "sock", None)

    def limit(self, seconds: float) -> None:
        if self._socket is not None:
            self._socket.settimeout(max(0.01, seconds))

    def chunks(self, size: int | None = 1 << 16) -> Iterator[bytes]:
        with _our_errors():
            yield from self._response.iter_content(size)

    def hang_up(self) -> None:
        """End the transfer, also when another thread is reading: that one finds the end, and closes."""
        if self._socket is not None:
            with suppress(OSError):  # the peer was faster
                self._socket.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self.hang_up()
        self._response.close()


class Connection:
    """The two-way connection with a command that runs."""

    def __init__(self, held: Any) -> None:
        self._held = held  # keeps the response alive
        self._socket: socket.socket = getattr(held, "_sock", held)
        self._ahead: bytes | None = None

    def receive(self, seconds: float) -> bytes:
        """The next bytes, none at the end. Raises TimeoutError, OSError."""
        if self._ahead is None:
            self._ahead = self._read_ahead()
            if self._ahead:
                return self._ahead
        self._socket.settimeout(max(0.01, seconds))
        return self._socket.recv(1 << 16)

    def _read_ahead(self) -> bytes:
        """What came together with the response's headers stands in its reader, and no longer on the socket."""
        raw = getattr(getattr(self._held, "_response", None), "raw", None)
        reader = getattr(getattr(raw, "_fp", None), "fp", None)
        if not isinstance(reader, io.BufferedReader):
            return b""
        self._socket.settimeout(0)
        return reader.peek()

    def close(self) -> None:
        """Hang up, also when another thread is reading."""
        with suppress(OSError):  # the peer was faster
            self._socket.shutdown(socket.SHUT_RDWR)
        self._held.close()
        self._socket.close()


class Daemon:
    def __init__(self, client: Client) -> None:
        self._client = client

    # containers

    def create_container(self, body: Mapping[str, Any]) -> str:
        return str(self._json("POST", "/containers/create", json=dict(body))["Id"])

    def start_container(self, container: str) -> None:
        self._send("POST", f"/containers/{container}/start", timeout=_LONG_SEC)

    def inspect_container(self, container: str, *, size: bool = False) -> dict[str, Any]:
        found: dict[str, Any] = self._json("GET", f"/containers/{container}/json", params={"size": int(size)})
        return found

    def limit_pids(self, container: str, pids: int) -> None:
        self._send("POST", f"/containers/{container}/update", json={"PidsLimit": pids})

    def kill_container(self, container: str) -> None:
        self._send("POST", f"/containers/{container}/kill")

    def remove_container(self, container: str) -> None:
        self._send("DELETE", f"/containers/{container}", params={"force": 1, "v": 1})

    def containers(self, *labels: str) -> list[dict[str, Any]]:
        filters = json.dumps({"label": list(labels)})
        found: list[dict[str, Any]] = self._json("GET", "/containers/json", params={"all": 1, "filters": filters})
        return found

    def changed_paths(self, container: str) -> list[str]:
        """Absolute paths that differ from the image."""
        return [change["Path"] for change in self._json("GET", f"/containers/{container}/changes") or []]

    # files

    def stat(self, container: str, path: str) -> dict[str, Any]:
        """name, size, mode (Go's bits), linkTarget of a path, links not followed at its end."""
        response = self._send("HEAD", f"/containers/{container}/archive", params={"path": path})
        coded = response.headers["X-Docker-Container-Path-Stat"]
        found: dict[str, Any] = json.loads(base64.b64decode(coded))
        return found

    def read_archive(self, container: str, path: str) -> Stream:
        return self._stream("GET", f"/containers/{container}/archive", params={"path": path})

    def write_archive(self, container: str, data: Any) -> None:
        params = {"path": "/"}
        self._send("PUT", f"/containers/{container}/archive", params=params, data=data, timeout=_LONG_SEC)

    # commands

    def exec_create(self, container: str, body: Mapping[str, Any]) -> str:
        return str(self._json("POST", f"/containers/{container}/exec", json=dict(body))["Id"])

    def exec_start(self, exec_id: str) -> "Connection":
        """The connection with the command's streams. The caller closes it."""
        with _our_errors():
            return Connection(self._client.exec_start(exec_id, socket=True))

    def exec_inspect(self, exec_id: str) -> dict[str, Any]:
        found: dict[str, Any] = self._json("GET", f"/exec/{exec_id}/json")
        return found

    # images

    def inspect_image(self, name: str) -> dict[str, Any]:
        found: dict[str, Any] = self._json("GET", f"/images/{_path(name)}/json")
        return found

    def images(self, **filters: list[str]) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self._json("GET", "/images/json", params={"filters": json.dumps(filters)})
        return found

    def remove_image(self, name: str, *, prune: bool = True) -> None:
        """Remove a tag, with its last tag the image; with `prune` also untagged parents that have no other child."""
        params = {"noprune": int(not prune)}
        self._send("DELETE", f"/images/{_path(name)}", params=params, timeout=_LONG_SEC)

    def save_image(self, name: str) -> Stream:
        return self._stream("GET", f"/images/{_path(name)}/get")

    def pull(self, name: str, seconds: float) -> Stream:
        """Start pulling; `seconds` is for the first answer."""
        return self._stream("POST", "/images/create", params=_pull_params(name), timeout=seconds)

    def build(self, context: Any, params: Mapping[str, Any], seconds: float) -> Stream:
        headers = {"Content-Type": "application/x-tar"}
        return self._stream("POST", "/build", params=dict(params), data=context, headers=headers, timeout=seconds)

    # networks

    def networks(self, *labels: str) -> list[dict[str, Any]]:
        filters = json.dumps({"label": list(labels)})
        found: list[dict[str, Any]] = self._json("GET", "/networks", params={"filters": filters})
        return found

    def remove_network(self, network: str) -> None:
        self._send("DELETE", f"/networks/{network}")

    def info(self) -> dict[str, Any]:
        found: dict[str, Any] = self._json("GET", "/info")
        return found

    def _send(self, method: str, path: str, *, timeout: float = 60.0, **options: Any) -> requests.Response:
        url = f"{self._client.base_url}/v{self._client.api_version}{path}"
        with _our_errors():
            response = self._client.request(method, url, timeout=timeout, **options)
        if response.status_code >= 400:
            _refuse(response)
        return response

    def _json(self, method: str, path: str, **options: Any) -> Any:
        response = self._send(method, path, **options)
        with _our_errors():
            return response.json()

    def _stream(self, method: str, path: str, *, timeout: float = _LONG_SEC, **options: Any) -> Stream:
        return Stream(self._send(method, path, timeout=timeout, stream=True, **options))


def _path(name: str) -> str:
    return quote(name, safe="/:@")


def _pull_params(name: str) -> dict[str, str]:
    if "@" in name:
        repository, digest = name.split("@", 1)
        return {"fromImage": repository, "tag": digest}
    head, _, last = name.rpartition("/")
    base, _, tag = last.partition(":")
    return {"fromImage": f"{head}/{base}" if head else base, "tag": tag or "latest"}


@contextmanager
def _our_errors() -> Iterator[None]:
    try:
        yield
    except requests.HTTPError as error:
        if error.response is None:
            raise EngineUnavailable(str(error)) from error
        _refuse(error.response)
    except requests.RequestException as error:
        raise EngineUnavailable(f"the Docker engine does not answer: {error}") from error


def _refuse(response: requests.Response) -> None:
    try:
        message = str(response.json().get("message", response.text))
    except ValueError:
        message = response.text or response.reason
    finally:
        response.close()
    if "no space left on device" in message or "disk quota exceeded" in message:
        raise HostFull(f"the engine's disk is full: {message}")
    raise Refusal(response.status_code, message)
