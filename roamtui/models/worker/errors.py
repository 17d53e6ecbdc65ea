"""What a provider's or litellm's exception means to a person: one sentence that says what to do next.

Exceptions are told apart by what they carry and by what caused them, not by litellm's classes: it files a refused
connection and an overloaded provider alike under status 500.
"""

from __future__ import annotations

import json
import re
import socket
import ssl
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from roamtui.document.plain import plain_line, shorten
from roamtui.models.secrets import redact_secrets
from roamtui.models.worker.jobs import Fault, Target
from roamtui.sources.web.cache import read_retry_after

_MESSAGE = re.compile(r"""["'](?:message|error|detail)["']:\s*(?:"((?:[^"\\]|\\.)+)"|'((?:[^'\\]|\\.)+)')""")
_PREFIX = re.compile(r"^(?:litellm\.)?(?:\w+(?:Error|Exception)\b(?: - |: )\s*)+")
CONNECTION_TIMED_OUT = "nobody took the connection in time"
"""What a connection is given up with: aiohttp passes on nothing else of an error."""
_CHOOSE = "choose another model with --model"
_OVERFLOW = re.compile(
    r"context.{0,20}(length|window|size)|maximum.{0,20}tokens|too many (input )?tokens"
    r"|(prompt|input|request) is too long|request too large|too large for|exceeds? the.{0,30}(limit|context)",
    re.IGNORECASE,
)
_NO_CREDIT = re.compile(r"insufficient_quota|exceeded your current quota|credit balance|billing", re.IGNORECASE)
_DETAIL_LENGTH_MAX = 200


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
            if headers is not None and (text := headers.get("retry-after")):
                return read_retry_after(text)
    return None


class UnfinishedReplyError(Exception):
    """A reply ended without saying that it had."""


class EmptyReplyError(Exception):
    """A reply ended before it began."""


class SilentModelError(Exception):
    """Nothing came for too long."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"{seconds:g} seconds")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Case:
    """One failure, with all that sentences about it need."""

    chain: tuple[BaseException, ...]
    text: str
    target: Target
    environ: Mapping[str, str]

    @property
    def who(self) -> str:
        return self.target.title

    @property
    def where(self) -> str:
        return self.target.address or find_host(self.chain) or self.who

    @property
    def model(self) -> str:
        return self.clean(self.target.model.partition("/")[2] or self.target.model)

    def find(self, kinds: tuple[type[BaseException] | str, ...]) -> BaseException | None:
        """Return the first cause that is of one of these classes, each given as such or by its name."""
        for error in self.chain:
            names = {type(error).__name__, CONNECTION_TIMED_OUT if CONNECTION_TIMED_OUT in str(error) else ""}
            if any(kind in names if isinstance(kind, str) else isinstance(error, kind) for kind in kinds):
                return error
        return None

    def clean(self, text: str) -> str:
        """Return foreign text fit for a sentence: short, on one line, without keys or control characters."""
        return shorten(plain_line(redact_secrets(text, self.environ)), _DETAIL_LENGTH_MAX)


def explain_missing_keys(target: Target) -> Fault:
    """Return why a provider without a key is not even asked."""
    return Fault(reason=f"{' or '.join(target.missing_keys)} is not set", advice=f"export it or {_CHOOSE}")


def explain_unknown_model(model: str, *, is_embedder: bool = False) -> Fault:
    """Return why the name of a model or an embedder leads nowhere."""
    examples = "openai/gpt-4.1-mini, or use --model offline"
    if is_embedder:
        examples = "ollama/snowflake-arctic-embed2, or local:FOLDER"
    reason = f'"{shorten(plain_line(model), 80)}" names no provider that is known'
    return Fault(reason=reason, advice=f"write provider/model, such as {examples}")


def explain_failed_import(error: BaseException) -> Fault:
    """Return why no provider at all can be asked."""
    return Fault(
        reason=f"litellm cannot be loaded ({shorten(plain_line(str(error)), _DETAIL_LENGTH_MAX)})",
        advice="install roamtui again, or use --model offline",
    )


def explain_error(error: BaseException, target: Target, environ: Mapping[str, str]) -> Fault:
    """Return what `error`, raised while `target` was asked, means to a person."""
    chain = tuple(walk_causes(error))
    case = _Case(chain=chain, text=" ".join(map(str, chain)), target=target, environ=environ)
    for kinds, reason, advice, patience in _CAUSES:
        if found := case.find(kinds):
            start = "start Ollama" if target.is_ollama else "start the server"
            words = {"who": case.who, "where": case.where, "start": start, "detail": case.clean(str(found))}
            return Fault(
                reason=reason.format_map(words),
                advice=advice.format_map(words),
                is_retryable=patience != _NEVER,
                is_passing=patience == _SOON,
            )
    return _explain_status(case)


_NEVER, _LATER, _SOON = range(3)
"""Whether the same request may work later, or so soon that it is sent again unasked."""
_AGAIN = "check the network and ask again"
_CAUSES: tuple[tuple[tuple[type[BaseException] | str, ...], str, str, int], ...] = (
    ((SilentModelError,), "{who} sent nothing for {detail}", f"ask again or {_CHOOSE}", _LATER),
    ((EmptyReplyError,), "{who} sent no reply", "ask again, or check --api-base if you gave it", _SOON),
    (
        (ImportError,),
        "{who} needs a Python package that is not installed ({detail})",
        f"install it beside roamtui or {_CHOOSE}",
        _NEVER,
    ),
    (
        (ssl.SSLError, "ClientConnectorCertificateError"),
        "No secure connection to {where} could be made",
        "check the address, its certificate and the clock of this machine",
        _NEVER,
    ),
    ((socket.gaierror,), "{where} cannot be found", "check the network, and --api-base if you gave it", _NEVER),
    ((ConnectionRefusedError,), "Nothing answers at {where}", "{start} there or check --api-base", _NEVER),
    (("ConnectTimeout", "ConnectionTimeoutError", CONNECTION_TIMED_OUT), "{where} does not answer", _AGAIN, _LATER),
    (
        ("ReadTimeout", "WriteTimeout", "PoolTimeout", TimeoutError),
        "{where} took too long",
        f"ask again or {_CHOOSE}",
        _LATER,
    ),
    (
        (UnfinishedReplyError, "ReadError", "RemoteProtocolError", "ClientPayloadError"),
        "The reply of {who} broke off",
        "ask again",
        _SOON,
    ),
    (("ConnectError", "WriteError", ConnectionError), "The connection to {where} failed", _AGAIN, _SOON),
)
"""Classes that may be among the causes, and what that means; the first that is there decides."""


def _explain_status(case: _Case) -> Fault:
    status = find_status(case.chain)
    is_too_long = status in (400, 413, 422, 429, 500, None) and _OVERFLOW.search(case.text) is not None
    if is_too_long or status == 413 or case.find(("ContextWindowExceededError",)):
        reason = f'The conversation is longer than "{case.model}" can take'
        return Fault(reason=reason, advice=f"close some sections or {_CHOOSE}", is_overflow=True)
    if status in (401, 403):
        return _explain_refused_key(case, status)
    if status == 404:
        first = f'run "ollama pull {case.model}"' if case.target.is_ollama else "check the name"
        return Fault(reason=f'{case.who} has no model "{case.model}"', advice=f"{first} or {_CHOOSE}")
    if status == 402 or (status == 429 and _NO_CREDIT.search(case.text)):
        return Fault(reason=f"Your account at {case.who} has no credit left", advice=f"add some or {_CHOOSE}")
    if status is not None and (status in (408, 409, 425, 429) or status >= 500):
        return _explain_busy(case, status)
    return _explain_refusal(case, status)


def _explain_refused_key(case: _Case, status: int) -> Fault:
    target = case.target
    if target.missing_keys:
        advice = f"export {target.missing_keys[0]} or {_CHOOSE}"
        return Fault(reason=f"{case.who} asks for a key ({status})", advice=advice)
    key = f"the key in {target.key_name}" if target.key_name else "your key"
    if status == 403:
        reason = f'{case.who} denies "{case.model}" to {key} (403)'
        return Fault(reason=reason, advice=f"check what the key may do or {_CHOOSE}")
    reason = f"{case.who} does not accept {key} ({status})"
    return Fault(reason=reason, advice=f"check it or {_CHOOSE}")


def _explain_busy(case: _Case, status: int) -> Fault:
    trouble = "has too many requests" if status == 429 else "cannot answer now"
    return Fault(
        reason=f"{case.who} {trouble} ({status})",
        advice=f"wait a minute and ask again or {_CHOOSE}",
        is_retryable=True,
        is_passing=True,
        wait_seconds=find_wait_seconds(case.chain),
    )


def _explain_refusal(case: _Case, status: int | None) -> Fault:
    detail = case.clean(find_detail(case.chain)).rstrip(".")
    if status is None:
        return Fault(reason=f"The request to {case.who} failed: {detail}", advice=_CHOOSE)
    return Fault(reason=f"{case.who} refused the request ({status}): {detail}", advice=_CHOOSE)
