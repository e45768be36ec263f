"""Programs behind an OpenAI-compatible HTTP endpoint on loopback: POST /v1/chat/completions, GET /v1/models.

With it the same conversation can be had through a real socket. What goes wrong on real endpoints is at hand too: each
request takes the next of the faults that were handed in, None for none, and is answered normally after the last.
"""

import json
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, ClassVar, Protocol, Self

from solvers.model import Message, Program
from solvers.tokens import estimated_tokens

MOST_REQUEST_BYTES = 64 << 20


@dataclass(frozen=True)
class Answer:
    """What goes out: an HTTP status, extra headers, a body."""

    status: int
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)


class Fault(Protocol):
    """Sends something else than the answer."""

    def send(self, handler: BaseHTTPRequestHandler, answer: Answer, closing: threading.Event) -> None: ...


@dataclass(frozen=True)
class Refuse:
    """An error status instead of the answer."""

    status: int
    message: str = "refused"
    headers: Mapping[str, str] = field(default_factory=dict)

    def send(self, handler: BaseHTTPRequestHandler, answer: Answer, closing: threading.Event) -> None:
        _send(handler, _error(self.status, self.message, self.headers))


@dataclass(frozen=True)
class Drop:
    """The connection ends without a word."""

    def send(self, handler: BaseHTTPRequestHandler, answer: Answer, closing: threading.Event) -> None:
        handler.close_connection = True


@dataclass(frozen=True)
class Drip:
    """The answer, one byte every gap_sec."""

    gap_sec: float

    def send(self, handler: BaseHTTPRequestHandler, answer: Answer, closing: threading.Event) -> None:
        _send_head(handler, answer)
        for position in range(len(answer.body)):
            if closing.wait(self.gap_sec):
                break
            handler.wfile.write(answer.body[position : position + 1])
            handler.wfile.flush()


@dataclass(frozen=True)
class Hold:
    """Nothing, until `released` is set or the server closes; then the answer."""

    released: threading.Event
    poll_sec: float = 0.01

    def send(self, handler: BaseHTTPRequestHandler, answer: Answer, closing: threading.Event) -> None:
        while not self.released.wait(self.poll_sec):
            if closing.is_set():
                break
        _send(handler, answer)


@dataclass(frozen=True)
class Garble:
    """A body that is not JSON."""

    body: bytes = b'{"choices": [{"message": {"content": "cut o'

    def send(self, handler: BaseHTTPRequestHandler, answer: Answer, closing: threading.Event) -> None:
        _send(handler, Answer(200, self.body))


@dataclass(frozen=True)
class Change:
    """The answer with top-level keys replaced, or left out where the value is None."""

    keys: Mapping[str, Any]

    def send(self, handler: BaseHTTPRequestHandler, answer: Answer, closing: threading.Event) -> None:
        changed = {**json.loads(answer.body), **self.keys}
        _send(handler, _json(200, {key: value for key, value in changed.items() if value is not None}))


@dataclass(frozen=True)
class Seen:
    """One request as it came: path, headers (lower-case names), the parsed body."""

    path: str
    headers: Mapping[str, str]
    body: Any


class ProgramServer:
    """Use it in a `with` block. programs: model name as a client sends it -> program. key: what clients have to send.

    seen: all requests to /v1/chat/completions, in their order."""

    def __init__(
        self, programs: Mapping[str, Program], faults: Sequence[Fault | None] = (), key: str | None = None
    ) -> None:
        self._programs, self._faults, self._key = dict(programs), list(faults), key
        self._server: _Server | None = None
        self._workers: ThreadPoolExecutor | None = None
        self._closing = threading.Event()
        self._lock = threading.Lock()
        self.seen: list[Seen] = []

    @property
    def api_base(self) -> str:
        """Raises RuntimeError outside of the `with` block."""
        if self._server is None:
            raise RuntimeError("the server is not running")
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    def __enter__(self) -> Self:
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.owner = self
        self._workers = ThreadPoolExecutor(16, thread_name_prefix="served")
        threading.Thread(target=self._server.serve_forever, args=(0.02,), name="serve", daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closing.set()
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
        if self._workers is not None:
            self._workers.shutdown(wait=False, cancel_futures=True)

    def answer(self, seen: Seen) -> Answer:
        """The answer to a chat request."""
        sent = seen.headers.get("authorization", "").removeprefix("Bearer ")
        if self._key is not None and sent != self._key:
            return _error(401, f"Incorrect API key provided: {sent}")
        name = seen.body.get("model") if isinstance(seen.body, dict) else None
        program = self._programs.get(str(name))
        if program is None:
            return _error(404, f"The model {name!r} does not exist")
        if self._workers is None or not _is_chat(seen.body):
            return _error(400, "messages: a list of {role, content} is required")
        messages = tuple(Message(message["role"], message["content"]) for message in seen.body["messages"])
        future = self._workers.submit(program, messages, seen.body.get("seed"))
        if (error := future.exception()) is not None:
            return _error(500, f"{type(error).__name__}: {error}")
        return _json(200, _completion(str(name), messages, future.result()))

    def next_fault(self, seen: Seen) -> Fault | None:
        with self._lock:
            self.seen.append(seen)
            return self._faults.pop(0) if self._faults else None

    def models(self) -> Answer:
        return _json(200, {"object": "list", "data": [{"id": name, "object": "model"} for name in self._programs]})

    @property
    def closing(self) -> threading.Event:
        return self._closing


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128
    owner: ProgramServer

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes away is no event."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server
    disable_nagle_algorithm: ClassVar[bool] = True

    def do_GET(self) -> None:
        owner = self.server.owner
        _send(self, owner.models() if self.path == "/v1/models" else _error(404, f"no such path: {self.path}"))

    def do_POST(self) -> None:
        owner = self.server.owner
        length = int(self.headers.get("content-length") or 0)
        if length > MOST_REQUEST_BYTES:
            self.close_connection = True
            _send(self, _error(413, "the request is too large"))
            return
        seen = Seen(self.path, {name.lower(): value for name, value in self.headers.items()}, self._body(length))
        if self.path != "/v1/chat/completions":
            _send(self, _error(404, f"no such path: {self.path}"))
            return
        fault, answer = owner.next_fault(seen), owner.answer(seen)
        if fault is None:
            _send(self, answer)
        else:
            fault.send(self, answer, owner.closing)

    def log_message(self, format: str, *args: Any) -> None:
        """Says nothing."""

    def _body(self, length: int) -> Any:
        try:
            return json.loads(self.rfile.read(length))
        except ValueError:
            return None


def _is_chat(body: Any) -> bool:
    messages = body.get("messages")
    return isinstance(messages, list) and all(
        isinstance(message, dict) and isinstance(message.get("role"), str) and isinstance(message.get("content"), str)
        for message in messages
    )


def _completion(model: str, messages: Sequence[Message], text: str) -> dict[str, Any]:
    prompt, completion = sum(estimated_tokens(message.content) for message in messages), estimated_tokens(text)
    return {
        "id": "chatcmpl-program",
        "object": "chat.completion",
        "created": 0,
        "model": model,
        "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
        "usage": {
            "prompt_tokens": prompt,
            "completion_tokens": completion,
            "total_tokens": prompt + completion,
        },
    }


def _error(status: int, message: str, headers: Mapping[str, str] | None = None) -> Answer:
    return _json(status, {"error": {"message": message, "type": "error", "code": status}}, headers or {})


def _json(status: int, content: Any, headers: Mapping[str, str] | None = None) -> Answer:
    return Answer(status, json.dumps(content).encode(), headers or {})


def _send(handler: BaseHTTPRequestHandler, answer: Answer) -> None:
    _send_head(handler, answer)
    handler.wfile.write(answer.body)


def _send_head(handler: BaseHTTPRequestHandler, answer: Answer) -> None:
    handler.send_response(answer.status)
    for name, value in {"Content-Type": "application/json", **answer.headers}.items():
        handler.send_header(name, value)
    handler.send_header("Content-Length", str(len(answer.body)))
    handler.end_headers()
