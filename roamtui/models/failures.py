"""Translate exceptions of providers and litellm into a failure: what happened, and what to do next.

Exceptions are classified by the classes of their causes and by the status that the server sent. The words of
a message count only to notice that a request was too long, if no class or status says so.
"""

import json
import math
import re
import ssl
import time
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from email.utils import parsedate_to_datetime

from roamtui.models.http_clients import RedirectRefusedError, ReplyTooLargeError
from roamtui.models.local_servers import LARGER_WINDOW, get_server
from roamtui.models.providers import get_recommended_key_variable
from roamtui.models.redaction import redact_secrets
from roamtui.models.worker_protocol import ModelFailure, ResolvedModel
from roamtui.sanitiser import sanitise_line
from roamtui.text import shorten

_JSON_MESSAGE = re.compile(
    r"""["'](?:message|error|detail)["']:\s*(?:"((?:[^"\\]|\\.)+)"|'((?:[^'\\]|\\.)+)')"""
)
_ERROR_PREFIX = re.compile(r"^(?:litellm\.)?(?:\w+(?:Error|Exception)\b(?: - |: )\s*)+")
_OVERFLOW = re.compile(
    r"context.{0,20}(length|window|size|limit)|maximum.{0,20}tokens|too many (input )?tokens|max_seq_len"
    r"|(prompt|input|request) is too long|request too large|too large for"
    r"|exceeds? the (?!.{0,20}\b(rate|quota)\b).{0,40}(token|context)"
    r"|reduce the length|(model|prompt|input|max) length|model token limit|`inputs` (tokens|must)",
    re.IGNORECASE,
)
_WINDOW_SIZE = re.compile(
    r"(?:max|limit|context|n_ctx|model with|exceed|allowed|[<>]=?)\D{0,24}"
    r"(?<!by )(?<!\w:)(?<![\w.-])(\d{4,9})\b(?!-| \+| ?>)",
    re.IGNORECASE,
)
"""The size of the window, after a word for a limit. A number that is greater (>) is the request's."""
_RATE = re.compile(r"\bper min|\bTPM\b", re.IGNORECASE)
_SEPARATOR = re.compile(r"(?<=\d),(?=\d{3}\b)")
_NUMBER = re.compile(r"(?<!\w:)(?<![\w.-])\d{4,9}\b(?!-)")
"""A number that is neither a port nor a part of a model's name."""
_SECONDS = re.compile(r"\d{1,9}(?:\.\d+)?", re.ASCII)
_DETAIL_LENGTH_MAX = 200


class UnfinishedReplyError(Exception):
    """A reply ended without a finish reason."""


_ASK_AGAIN = "Ask again, or choose another model with --model."
_CHECK_CERTIFICATE = (
    "Check --api-base. If you trust the authority of this certificate, name its file in the environment "
    "variable SSL_CERT_FILE."
)
# Names of classes of exceptions. StopAsyncIteration is from litellm 1.109, instead of our own error.
_BROKEN_OFF = frozenset(
    {
        "UnfinishedReplyError",
        "StopAsyncIteration",
        "ReadError",
        "RemoteProtocolError",
        "ClientPayloadError",
        "ConnectionResetError",
        "HttpProcessingError",
    }
)
_UNREACHABLE = frozenset(
    {"ConnectTimeout", "ConnectError", "ConnectionTimeoutError", "SSLError", "ConnectionError", "gaierror"}
)
_TIMED_OUT = frozenset({"TimeoutError", "ReadTimeout", "WriteTimeout"})
_UNREADABLE = frozenset(
    {
        "AttributeError",
        "DecodingError",
        "JSONDecodeError",
        "KeyError",
        "TypeError",
        "UnicodeDecodeError",
        "ValidationError",
    }
)


def to_failure(error: BaseException, resolved: ResolvedModel, environ: Mapping[str, str]) -> ModelFailure:
    """Translate an exception of a request to the model `resolved` into words for a person."""
    chain: list[BaseException] = []  # the error and its causes, nearest first
    pending: list[object] = [error]
    while pending:
        current = pending.pop(0)
        if isinstance(current, BaseException) and current not in chain:
            chain.append(current)
            pending += [getattr(current, "original_exception", None), current.__cause__, current.__context__]
    where = resolved.address or resolved.title
    for cause in chain:
        match cause:
            case RedirectRefusedError():
                target = _clean(cause.target, environ)
                reason = f"{where} redirects requests to {target}, and roamtui does not follow redirects"
                advice = "If you trust that server, set --api-base to its URL."
                return ModelFailure(reason=reason, advice=advice)
            case ReplyTooLargeError():
                reason = f"{resolved.title} sent a reply that is too large"
                return ModelFailure(reason=reason, advice=_ASK_AGAIN, may_cost=True)
            case ssl.SSLCertVerificationError(verify_message=str(problem)):
                reason = f"{where} has no valid certificate ({_clean(problem, environ).rstrip('.')})"
                return ModelFailure(reason=reason, advice=_CHECK_CERTIFICATE)
            case _:
                pass
    kinds = {kind.__name__ for cause in chain for kind in type(cause).__mro__}
    # new versions of openai leave the body out of their words
    bodies = (getattr(cause, "body", None) for cause in chain)
    text = " ".join(map(str, (*chain, *filter(None, bodies))))
    is_explained = bool(_list_http_errors(chain) or _find_json_message(text))
    if not is_explained and (failure := _explain_cause(kinds, resolved, where)) is not None:
        return failure
    return _explain_status(chain, kinds, text, resolved, environ)


def _explain_cause(kinds: Collection[str], resolved: ResolvedModel, where: str) -> ModelFailure | None:
    """Explain a failure by the classes of its causes, or return None if they say nothing."""
    who = resolved.title
    if not _BROKEN_OFF.isdisjoint(kinds):
        advice = "Ask again. If this happens again, check --api-base, and whether the server streams."
        reason = f"{who} sent no complete reply"
        return ModelFailure(reason=reason, advice=advice, is_transient=True, may_cost=True)
    if not _UNREACHABLE.isdisjoint(kinds):
        is_own_server = resolved.api_base is not None or resolved.is_ollama
        own_advice = "Start the server there, or check the network and --api-base."
        advice = own_advice if is_own_server else "Check the network."
        return ModelFailure(reason=f"{where} cannot be reached", advice=advice)
    if not _TIMED_OUT.isdisjoint(kinds):
        return ModelFailure(reason=f"{who} timed out", advice=_ASK_AGAIN, may_cost=True)
    if not _UNREADABLE.isdisjoint(kinds):
        reason = f"{who} sent a reply that cannot be read"
        return ModelFailure(reason=reason, advice=_ASK_AGAIN, may_cost=True)
    return None


def _explain_status(
    chain: Sequence[BaseException],
    kinds: Collection[str],
    text: str,
    resolved: ResolvedModel,
    environ: Mapping[str, str],
) -> ModelFailure:
    """Explain a failure by litellm's class and by the status, with the words of the server."""
    who = resolved.title
    status = _get_http_status(chain)
    model = _clean(resolved.model.partition("/")[2] or resolved.model, environ)
    is_too_long = status == 413 or "ContextWindowExceededError" in kinds
    limit, request = _read_sizes(text)
    exceeds_limit = limit is not None and request > limit  # then waiting does not help
    may_be_too_long = status in (400, 422, 500, None) or (status == 429 and exceeds_limit)
    if is_too_long or (may_be_too_long and _OVERFLOW.search(text) is not None):
        return _explain_overflow(model, text, resolved)
    said = _find_words(chain, text, environ)
    is_transient = False
    wait = None
    advice = "Choose another model with --model."
    if status in (401, 403) or "AuthenticationError" in kinds:
        key = f"the key in {resolved.key_variable}" if resolved.key_variable else "your key"
        reason = f'{who} does not accept {key} for "{model}" ({status or 401}{said})'
        advice = "Check the key, or choose another model with --model."
    elif status == 404:
        reason = f'{who} has no model "{model}" ({status}{said})'
        place = " and --api-base" if resolved.api_base else ""
        advice = f"Check the name{place}, or choose another model with --model."
        if resolved.is_ollama:
            advice = f'Run "ollama pull {model}", or choose another model with --model.'
    elif status is not None and (status in (408, 409, 425, 429) or status >= 500):
        problem = "is receiving too many requests" if status == 429 else "is unavailable"
        reason = f"{who} {problem} ({status}{said})"
        is_transient = True
        wait = _get_retry_after(chain)
        minutes = math.ceil((wait or 0) / 60)
        when = f"Wait {minutes} minutes" if minutes > 1 else "Wait a minute"
        advice = f"{when} and ask again, or choose another model with --model."
    else:
        is_transient = "tool_use_failed" in text  # Groq could not read what the model wrote
        if status is not None and resolved.key_variable is None and get_server(resolved.provider) is None:
            variable = get_recommended_key_variable(resolved.model)
            advice = f"If {who} needs a key, set {variable}, or choose another model with --model."
        failed = f"The request to {who} failed"
        reason = f"{failed if status is None else f'{who} refused the request ({status})'}{said}"
    return ModelFailure(reason=reason, advice=advice, is_transient=is_transient, wait_seconds=wait)


def _read_sizes(text: str) -> tuple[int | None, int]:
    """Return the limit that a server names, if any, and the largest number of its message, or 0."""
    plain = _SEPARATOR.sub("", text)
    limit = _WINDOW_SIZE.search(plain)
    return int(limit[1]) if limit else None, max(map(int, _NUMBER.findall(plain)), default=0)


def _explain_overflow(model: str, text: str, resolved: ResolvedModel) -> ModelFailure:
    limit, request = _read_sizes(text)
    window = None if _RATE.search(text) else limit
    size = f" of {window:,} tokens" if window else ""
    larger = "Choose another model"
    if resolved.api_base is not None:
        larger = f"Give {LARGER_WINDOW}"
    return ModelFailure(
        reason=f'The request exceeds the context window{size} of "{model}"',
        advice=f"{larger}, or set window_tokens in config.toml to the size of the window.",
        is_overflow=True,
        window_tokens=window,
        request_tokens=request if window and request > window else None,
    )


def _find_words(chain: Sequence[BaseException], text: str, environ: Mapping[str, str]) -> str:
    """Return what a server says about its failure, after a colon; empty if it only repeats the status."""
    bodies = [getattr(error, "body", None) for error in chain]
    messages = (body.get("message") for body in bodies if isinstance(body, dict))
    message = next((str(message) for message in messages if message), "") or _find_json_message(text)
    if not message and not _list_http_errors(chain):  # sent within a reply
        texts = (body for body in bodies if isinstance(body, str))
        message = next(texts, "") or str(chain[-1]) or type(chain[-1]).__name__
    words = _clean(_ERROR_PREFIX.sub("", message), environ).rstrip(".")
    return f": {words}" if words else ""


def _get_http_status(chain: Sequence[BaseException]) -> int | None:
    # litellm's own exceptions always have a guessed status. It is right if a server reports an error within a
    # reply.
    sent = _list_http_errors(chain)
    if not sent and any(type(error).__module__ == "builtins" for error in chain):
        return None
    for error in (*sent, *reversed(chain)):
        response = getattr(error, "response", None)
        status = getattr(response, "status_code", None) or getattr(error, "status_code", None)
        if isinstance(status, int):
            return status
    return None


def _list_http_errors(chain: Sequence[BaseException]) -> list[BaseException]:
    """List the errors that have the status that a server sent. litellm has its own class for these."""
    return [error for error in chain if "HTTPStatusError" in type(error).__name__]


def _find_json_message(text: str) -> str:
    match = _JSON_MESSAGE.search(text)
    if match is None:
        return ""
    with suppress(ValueError):  # the words may be no JSON, but Python's
        return str(json.loads(f'"{match[1] or ""}"', strict=False)) or match[2]
    return match[1]


def _get_retry_after(chain: Sequence[BaseException]) -> float | None:
    """Return how many seconds a Retry-After header asks to wait, or None."""
    responses = (getattr(error, "response", None) for error in chain)
    headers = (getattr(response, "headers", None) or {} for response in responses)
    named = next(filter(None, (header.get("retry-after") for header in headers)), "")
    if _SECONDS.fullmatch(named):
        return float(named)
    with suppress(ValueError, OverflowError):
        return max(0.0, parsedate_to_datetime(named).timestamp() - time.time())
    return None


def _clean(text: str, environ: Mapping[str, str]) -> str:
    """Make text of a provider safe to quote: short, on one line, without keys and control characters."""
    start = text[: 100 * _DETAIL_LENGTH_MAX]  # a key at its end is not shown
    return shorten(sanitise_line(redact_secrets(start, environ)), _DETAIL_LENGTH_MAX)
