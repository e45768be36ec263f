"""What an exception of a model call means. Pure: it looks at class names, status and text, and imports no SDK."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime

from solvers import errors

LONGEST_REASON = 400
"""Characters of a provider's own words that an error repeats."""

_OVERFLOW = re.compile(
    r"context[ _]length|context[ _]window|maximum context|too many tokens|prompt is too long"
    r"|exceeds? the (available )?context|exceed context limit|input is too long|reduce the length of the messages"
    r"|token count exceeds",
    re.IGNORECASE,
)
_CLASS_NAMES = re.compile(r"^((litellm\.)?(\w*(Error|Exception)|Timeout( Error)?)\s*[:-]\s*)+")
_SECRET_NAME = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD)S?$", re.IGNORECASE)


@dataclass(frozen=True)
class Fault:
    """kind: the error to raise in the end. retry: it may pass. asked_sec: what the endpoint asked us to wait. cause:
    what to chain, where that is safe to show."""

    kind: type[errors.ModelError]
    reason: str
    retry: bool = False
    asked_sec: float | None = None
    cause: BaseException | None = None


def classify(error: BaseException, now: float) -> Fault:
    """What a failure inside litellm or the connection means. `now` in seconds since the epoch (for Retry-After
    dates)."""
    names = {kind.__name__ for kind in type(error).__mro__}
    status = _status(error)
    reason = _reason(error, status)
    if "ContextWindowExceededError" in names or (status in {400, 413, 422} and _OVERFLOW.search(str(error))):
        return Fault(errors.ContextOverflow, reason)
    if "LiteLLMUnknownProvider" in names or status == 404:
        return Fault(errors.ModelUnknown, reason)
    if status in {401, 402, 403}:
        return Fault(errors.ModelForbidden, reason)
    if status in {408, 409, 425, 429} or "RateLimitError" in names:
        return Fault(errors.ModelUnavailable, reason, retry=True, asked_sec=_retry_after(error, now))
    if status is not None and 400 <= status < 500 and "APIConnectionError" not in names:
        return Fault(errors.ModelRefused, reason)
    return Fault(errors.ModelUnavailable, reason, retry=True, asked_sec=_retry_after(error, now))


def secrets_of(environ: Mapping[str, str], named: str | None) -> frozenset[str]:
    """The values of all variables that look like secrets by their names, and of the one that is named."""
    found = {value for name, value in environ.items() if _SECRET_NAME.search(name) and len(value) >= 6}
    return frozenset(found | ({environ[named]} if named and environ.get(named) else set()))


def redacted(text: str, secrets: Iterable[str]) -> str:
    """The text without any of the secrets."""
    for value in sorted(secrets, key=len, reverse=True):
        text = text.replace(value, "[secret]")
    return text


def _status(error: BaseException) -> int | None:
    status = getattr(error, "status_code", None)
    return status if isinstance(status, int) else None


def _reason(error: BaseException, status: int | None) -> str:
    """One line: the class, the status where one was given, and the provider's own words."""
    name = type(error).__name__
    lines = _CLASS_NAMES.sub("", str(error).strip()[: 2 * LONGEST_REASON]).splitlines()
    words = lines[0][:LONGEST_REASON] if lines else ""
    return f"{name} {status}: {words}" if status is not None and name != "InternalServerError" else f"{name}: {words}"


def _retry_after(error: BaseException, now: float) -> float | None:
    """Seconds, from the Retry-After header (seconds or a date) of the response that the error carries."""
    headers = getattr(getattr(error, "response", None), "headers", None) or getattr(error, "headers", None)
    if not isinstance(headers, Mapping):
        return None
    value = {str(key).lower(): str(text) for key, text in headers.items()}.get("retry-after", "").strip()
    if re.fullmatch(r"\d+(\.\d+)?", value):
        return float(value)
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - now)
    except ValueError:
        return None
