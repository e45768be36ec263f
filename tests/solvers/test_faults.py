from collections.abc import Mapping

import pytest

from solvers import errors
from solvers.faults import classify, redacted, secrets_of


class Response:
    def __init__(self, headers: Mapping[str, str]) -> None:
        self.headers = headers


class StatusError(Exception):
    def __init__(self, message: str, status: int | None, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.status_code = status
        self.response = Response(headers or {})


class RateLimitError(StatusError):
    pass


class ContextWindowExceededError(StatusError):
    pass


@pytest.mark.parametrize(
    ("status", "kind", "retry"),
    [
        (400, errors.ModelRefused, False),
        (401, errors.ModelForbidden, False),
        (402, errors.ModelForbidden, False),
        (403, errors.ModelForbidden, False),
        (404, errors.ModelUnknown, False),
        (408, errors.ModelUnavailable, True),
        (409, errors.ModelUnavailable, True),
        (422, errors.ModelRefused, False),
        (429, errors.ModelUnavailable, True),
        (500, errors.ModelUnavailable, True),
        (503, errors.ModelUnavailable, True),
        (529, errors.ModelUnavailable, True),
        (None, errors.ModelUnavailable, True),
    ],
)
def test_status_decides(status: int | None, kind: type[errors.ModelError], retry: bool):
    fault = classify(StatusError("no", status), 0.0)
    assert (fault.kind, fault.retry) == (kind, retry)


def test_context_overflow_by_class_and_by_words():
    assert classify(ContextWindowExceededError("x", 400), 0.0).kind is errors.ContextOverflow
    for words in (
        "This model's maximum context length is 8192 tokens",
        "the request exceeds the available context size",
        "input length and `max_tokens` exceed context limit: 199000 + 8000 > 200000",
        "Input is too long for requested model.",
        "The input token count exceeds the maximum number of tokens allowed (1048576).",
    ):
        assert classify(StatusError(words, 400), 0.0).kind is errors.ContextOverflow
    assert classify(StatusError("maximum context length", 500), 0.0).kind is errors.ModelUnavailable


def test_retry_after_in_seconds_as_date_and_as_nonsense():
    asked = {
        "7": 7.0,
        "0.5": 0.5,
        "Thu, 01 Jan 1970 00:01:40 GMT": 60.0,
        "Thu, 01 Jan 1970 00:00:10 GMT": 0.0,
        "soon": None,
        "": None,
    }
    for text, expected in asked.items():
        assert classify(RateLimitError("slow down", 429, {"Retry-After": text}), 40.0).asked_sec == expected
    assert classify(RateLimitError("slow down", 429), 0.0).asked_sec is None


def test_reason_is_one_short_line_without_repeated_class_names():
    fault = classify(StatusError("litellm.APIError: APIError: OpenAIException - refused\nat line 3", 402), 0.0)
    assert fault.reason == "StatusError 402: refused"
    assert len(classify(StatusError("x" * 10_000, 400), 0.0).reason) < 500


def test_secrets_are_cut_out():
    environ = {
        "A_API_KEY": "sk-abcdef",
        "B_TOKEN": "tok-123456",
        "HOME": "/home/someone",
        "MINE": "k1",
        "SHORT_KEY": "x",
    }
    secrets = secrets_of(environ, "MINE")
    assert secrets == {"sk-abcdef", "tok-123456", "k1"}
    assert redacted("keys sk-abcdef, tok-123456 and k1 at /home/someone", secrets) == (
        "keys [secret], [secret] and [secret] at /home/someone"
    )
