import http.client
import json

import pytest

from solvers.scripted import Scripted
from solvers.serve import ProgramServer


def ask(server: ProgramServer, method: str, path: str, body: bytes = b"", **headers: str) -> tuple[int, object]:
    host = server.api_base.removeprefix("http://").removesuffix("/v1")
    connection = http.client.HTTPConnection(host, timeout=30)
    try:
        connection.request(method, path, body, headers)
        response = connection.getresponse()
        return response.status, json.loads(response.read())
    finally:
        connection.close()


def chat(server: ProgramServer, **body: object) -> tuple[int, object]:
    return ask(server, "POST", "/v1/chat/completions", json.dumps(body).encode())


def test_models_are_listed():
    with ProgramServer({"a/b": Scripted(["x"])}) as server:
        status, listed = ask(server, "GET", "/v1/models")
    assert (status, listed) == (200, {"object": "list", "data": [{"id": "a/b", "object": "model"}]})


def test_a_chat_is_answered():
    with ProgramServer({"one": Scripted(["hello"])}) as server:
        status, answer = chat(server, model="one", messages=[{"role": "user", "content": "hi"}])
    assert status == 200
    assert isinstance(answer, dict)
    assert answer["choices"][0]["message"] == {"role": "assistant", "content": "hello"}
    assert answer["usage"] == {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3}


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"{", 404),
        (b"[]", 404),
        (b'{"model": "two", "messages": []}', 404),
        (b'{"model": "one"}', 400),
        (b'{"model": "one", "messages": [{"role": "user", "content": [1]}]}', 400),
        (b'{"model": "one", "messages": [{"role": "user"}]}', 400),
    ],
)
def test_requests_that_are_none(body: bytes, status: int):
    with ProgramServer({"one": Scripted(["hello"])}) as server:
        assert ask(server, "POST", "/v1/chat/completions", body)[0] == status


def test_other_paths_and_wrong_keys():
    with ProgramServer({"one": Scripted(["hello"])}, key="k") as server:
        assert ask(server, "POST", "/v1/completions", b"{}")[0] == 404
        assert ask(server, "GET", "/")[0] == 404
        body = json.dumps({"model": "one", "messages": []}).encode()
        assert ask(server, "POST", "/v1/chat/completions", body)[0] == 401
        assert ask(server, "POST", "/v1/chat/completions", body, Authorization="Bearer k")[0] == 200


def test_a_bug_in_a_program_is_a_server_error():
    def bug(messages: object, seed: object) -> str:
        raise KeyError("oops")

    with ProgramServer({"one": bug}) as server:
        status, answer = chat(server, model="one", messages=[])
    assert status == 500
    assert "KeyError: 'oops'" in json.dumps(answer)


def test_the_address_is_known_only_while_it_runs():
    with pytest.raises(RuntimeError):
        _ = ProgramServer({}).api_base
