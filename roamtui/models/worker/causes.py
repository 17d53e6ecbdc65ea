"""What an exception carries: its causes, the status that a server sent, the wait that it asked for, the host."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from time import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator


_MESSAGE = re.compile(r"""["'](?:message|error|detail)["']:\s*(?:"((?:[^"\\]|\\.)+)"|'((?:[^'\\]|\\.)+)')""")
_PREFIX = re.compile(r"^(?:litellm\.)?(?:\w+(?:Error|Exception)\b(?: - |: )\s*)+")


def walk_causes(error: BaseException) -> Iterator[BaseException]:
    """Yield `error` and all that led to it, nearest first."""
    seen: set[int] = set()
    waiting = [error]
    while waiting:
        current = waiting.pop(0)
        if id(current) in seen:
            continue
        seen.add(id(current))
        yield current
        causes = (getattr(current, "original_exception", None), current.__cause__, current.__context__)
        waiting.extend(cause for cause in causes if isinstance(cause, BaseException))


def find_status(chain: tuple[BaseException, ...]) -> int | None:
    """Return the status that the server sent, None where no server had a part in the failure.

    litellm's own exceptions carry a guess in any case; it counts where a server reports an error within a reply.
    """
    sent = [error for error in chain if "HTTPStatusError" in type(error).__name__]
    if not sent and any(_is_builtin(error) for error in chain):
        return None
    for error in (*sent, *reversed(chain)):
        response = getattr(error, "response", None)
        status = getattr(response, "status_code", None) or getattr(error, "status_code", None)
        if isinstance(status, int):
            return status
    return None


def find_host(chain: tuple[BaseException, ...]) -> str | None:
    """Return host and port of the request that failed; litellm's own exceptions name a made-up one."""
    for error in chain:
        if type(error).__module__.split(".")[0] != "httpx":
            continue
        try:
            url: Any = getattr(error, "request").url  # noqa: B009 -- its type is not known here
        except (AttributeError, RuntimeError):
            continue
        return str(url.host) if url.port is None else f"{url.host}:{url.port}"
    return None


def find_detail(chain: tuple[BaseException, ...]) -> str:
    """Return what the server said about the failure, else what the exception says."""
    for error in chain:
        body = getattr(error, "body", None)
        if isinstance(body, Mapping) and isinstance(body.get("message"), str):
            return str(body["message"])
    text = str(chain[0])
    if found := _MESSAGE.search(text):
        return _unescape(found[1]) if found[1] else found[2]
    if _is_builtin(chain[-1]):
        text = str(chain[-1])
    return _PREFIX.sub("", text) or type(chain[-1]).__name__


def _is_builtin(error: BaseException) -> bool:
    return type(error).__module__ == "builtins"


def _unescape(text: str) -> str:
    try:
        return str(json.loads(f'"{text}"'))
    except ValueError:
        return text


def find_wait_seconds(chain: tuple[BaseException, ...]) -> float | None:
    """Return how long the server asks to wait, None where it does not say."""
    for error in chain:
        response: Any = getattr(error, "response", None)
        for headers in (getattr(error, "litellm_response_headers", None), getattr(response, "headers", None)):
            if headers is not None and (wait := _parse_wait(headers)) is not None:
                return wait
    return None


def _parse_wait(headers: Mapping[str, str]) -> float | None:
    value = headers.get("retry-after")
    if not value:
        return None
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time())
    except ValueError:
        return None
