"""An engine's HTTP interface that answers from a table, for what a real engine does not do when asked."""

import json
import re
from typing import Any

import requests

from sandbox.daemon import Daemon

Answer = tuple[int, Any] | requests.RequestException


class StubClient:
    """answers: pattern of "METHOD /path" -> (status, JSON body), or what is raised; the first that fits counts.

    seen: all requests, in their order. What no pattern fits is answered with 204."""

    base_url = "http://stub"
    api_version = "1.41"

    def __init__(self, answers: dict[str, Answer]) -> None:
        self._answers = answers
        self.seen: list[str] = []

    def request(self, method: str, url: str, **options: object) -> requests.Response:
        asked = f"{method} {url.removeprefix('http://stub/v1.41')}"
        self.seen.append(asked)
        found = next((answer for pattern, answer in self._answers.items() if re.fullmatch(pattern, asked)), (204, None))
        if isinstance(found, requests.RequestException):
            raise found
        response = requests.Response()
        response.status_code, body = found
        response._content = json.dumps(body).encode()
        return response

    def exec_start(self, *args: object, **options: object) -> object:
        raise NotImplementedError


def stub_daemon(answers: dict[str, Answer]) -> tuple[Daemon, StubClient]:
    client = StubClient(answers)
    return Daemon(client), client
