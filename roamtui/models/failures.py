"""Translate exceptions of providers and litellm into one sentence that says what to do next.

Exceptions are classified by the classes of their causes and by the status that the server sent. Words of
messages count only where no class or status says that a request is too long.
"""

import math
import re
import ssl
from collections.abc import Container, Mapping, Sequence

from roamtui.models.http_clients import RedirectRefusedError, ReplyTooLargeError
from roamtui.models.local_servers import find_server
from roamtui.models.providers import get_recommended_key_variable
from roamtui.models.redaction import redact_secrets
from roamtui.models.worker_protocol import ModelFailure, ResolvedModel
from roamtui.plain import sanitise_line, shorten
from roamtui.web.page import parse_retry_after

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
_RETRY_IN = re.compile(r"(?:retry|try again) in (?P<seconds>\d+(?:\.\d+)?)s\b")
_WINDOW_SIZE = re.compile(
    r"(?:n_ctx\W+|max_seq_len\W+|(?:context|model) (?:length|size|window)(?: is| of)?(?: only)?\W+"
    r"|prompt length is |[<>]=?\s*|cannot exceed "
    r"|\bexceeds? (?=[^(\"]{0,60}(?:token|context))[^\d(\"]{0,60}"
    r"|tokens allowed\W+|less than |model with |max (?:size|input tokens)\W+|(?:limit|model)(?: is|:) )"
    r"(?P<size>\d{4,9})\b(?! \+)",
    re.IGNORECASE,
)
"""The size of the window in what servers say of a request that is too long."""
_REQUEST_SIZE = re.compile(
    r"(?:n_prompt_tokens\W+|resulted in |too long: |request has |requested[^(]{0,40}\(|token count(?: of)?\W+"
    r"|(?:request|input) \(|given: |received |contains |passed )(?P<size>\d{3,9})\b",
    re.IGNORECASE,
)
_DETAIL_LENGTH_MAX = 200
_HOST_LENGTH_MAX = 100


class UnfinishedReplyError(Exception):
    """A reply ended without a finish reason."""


_ASK_AGAIN = "Ask again, or choose another model with --model."
_CHECK_CERTIFICATE = (
    "Check --api-base. If you trust the authority of this certificate, name its file in the environment "
    "variable SSL_CERT_FILE."
)
_CAUSES = (
    (
        "ImportError",
        "{who} needs a Python package that is not installed ({detail})",
        "Install it in the same environment as roamtui, or choose another model with --model.",
        False,
        False,
    ),
    (
        # StopAsyncIteration: from litellm 1.109, instead of our own error
        (
            "UnfinishedReplyError StopAsyncIteration ReadError RemoteProtocolError ClientPayloadError "
            "ConnectionResetError"
        ),
        "{who} stopped in the middle of its reply",
        "Ask again. If this happens again, check --api-base.",
        True,
        True,
    ),
    (
        "ConnectTimeout ConnectError ConnectionTimeoutError SSLError ConnectionError gaierror",
        "{where} cannot be reached",
        "Start the server there, or check the network and --api-base.",
        False,
        False,
    ),
    ("TimeoutError ReadTimeout WriteTimeout", "{who} timed out", _ASK_AGAIN, False, True),
    (
        "AttributeError JSONDecodeError KeyError TypeError UnicodeDecodeError ValidationError",
        "{who} sent a reply that cannot be read",
        _ASK_AGAIN,
        False,
        True,
    ),
)
"""Names of the classes of causes, with the reason, the advice, whether the failure is transient, and whether
the provider may charge for the request.

The first row with a matching cause counts, unless the server sent a status or a reason.
"""


def to_failure(
    error: BaseException, resolved: ResolvedModel, environ: Mapping[str, str], start: bytes = b""
) -> ModelFailure:
    """Translate an exception of a request to the model `resolved` into words for a person.

    `start` is how the reply begins, if nothing could be read from it.
    """
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
                source, target = (shorten(sanitise_line(host), _HOST_LENGTH_MAX) for host in cause.hosts)
                reason = f"{source} redirects requests to {target}, and roamtui does not follow redirects"
                advice = f"If you trust {target}, set --api-base to its URL."
                return ModelFailure(reason=reason, advice=advice)
            case ReplyTooLargeError():
                reason = f"{resolved.title} sent a reply that is too large"
                return ModelFailure(reason=reason, advice=_ASK_AGAIN)
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
    if not is_explained and (failure := _explain_start(start, chain, resolved, environ)):
        return failure
    causes = () if is_explained else _CAUSES
    for names, reason, advice, is_transient, may_cost in causes:
        if not kinds.isdisjoint(names.split()):
            words = {"who": resolved.title, "where": where, "detail": _clean(str(chain[-1]), environ)}
            return ModelFailure(
                reason=reason.format_map(words),
                advice=advice,
                is_transient=is_transient,
                may_cost=may_cost,
            )
    return _explain_status(chain, kinds, text, resolved, environ)


def _explain_start(
    start: bytes, chain: Sequence[BaseException], resolved: ResolvedModel, environ: Mapping[str, str]
) -> ModelFailure | None:
    """Explain a reply that is no stream, or return None if it may be one."""
    who = resolved.title
    text = start.decode("utf-8", "replace").strip()
    if text.startswith("<"):
        reason = f"{who} sent a web page instead of a model's reply"
        advice = "Check --api-base, and whether your network asks you to log in."
        return ModelFailure(reason=reason, advice=advice)
    is_unfinished = any(isinstance(error, UnfinishedReplyError | StopAsyncIteration) for error in chain)
    if not (is_unfinished and text.startswith("{")):
        return None
    if message := _clean(_find_json_message(text), environ).rstrip("."):
        return ModelFailure(reason=f"The request to {who} failed: {message}", advice=_ASK_AGAIN)
    reason = f"{who} sent its whole reply at once instead of streaming it"
    return ModelFailure(reason=reason, advice=f"Turn on streaming at the server. {_ASK_AGAIN}")


def _explain_status(
    chain: Sequence[BaseException],
    kinds: Container[str],
    text: str,
    resolved: ResolvedModel,
    environ: Mapping[str, str],
) -> ModelFailure:
    """Explain a failure by litellm's class and by the status, with the words of the server."""
    who = resolved.title
    status = _get_http_status(chain)
    model = _clean(resolved.model.partition("/")[2] or resolved.model, environ)
    is_too_long = status == 413 or "ContextWindowExceededError" in kinds
    if is_too_long or (status in (400, 422, 429, 500, None) and _OVERFLOW.search(text) is not None):
        window = _find_size(_WINDOW_SIZE, text)
        size = f" of {window:,} tokens" if window else ""
        return ModelFailure(
            reason=f'The request exceeds the context window{size} of "{model}"',
            advice=_advise_on_window(resolved),
            is_overflow=True,
            window_tokens=window,
            request_tokens=_find_size(_REQUEST_SIZE, text),
        )
    said = _find_words(chain, text, environ)
    is_transient = False
    wait = None
    advice = "Choose another model with --model."
    if status == 402:
        reason = f"Your key for {who} has no credit left"
        advice = "Add credit, or choose another model with --model."
    elif status in (401, 403) or "AuthenticationError" in kinds:
        key = f"the key in {resolved.key_variable}" if resolved.key_variable else "your key"
        reason = f'{who} does not accept {key} for "{model}" ({status or 401}{said})'
        advice = "Check the key, or choose another model with --model."
    elif status == 404:
        reason = f'{who} has no model "{model}" ({status}{said})'
        advice = "Check the name, or choose another model with --model."
        if resolved.is_ollama:
            advice = f'Run "ollama pull {model}", or choose another model with --model.'
    elif status is not None and (status in (408, 409, 425, 429) or status >= 500):
        problem = "is receiving too many requests" if status == 429 else "is unavailable"
        reason = f"{who} {problem} ({status}{said})"
        is_transient = True
        wait = _get_retry_after(chain, text)
        minutes = math.ceil((wait or 0) / 60)
        when = f"Wait {minutes} minutes" if minutes > 1 else "Wait a minute"
        advice = f"{when} and ask again, or choose another model with --model."
    elif "tool_use_failed" in text:
        reason = f'{who} could not read a tool call of "{model}"'
        is_transient = True
        advice = _ASK_AGAIN
    else:
        if status is not None and resolved.key_variable is None and find_server(resolved.provider) is None:
            variable = get_recommended_key_variable(resolved.model)
            advice = f"If {who} needs a key, set {variable}, or choose another model with --model."
        failed = f"The request to {who} failed"
        reason = f"{failed if status is None else f'{who} refused the request ({status})'}{said}"
    return ModelFailure(reason=reason, advice=advice, is_transient=is_transient, wait_seconds=wait)


def _find_size(pattern: re.Pattern[str], text: str) -> int | None:
    match = pattern.search(text)
    return int(match["size"]) if match else None


def _advise_on_window(resolved: ResolvedModel) -> str:
    """Say how to set a larger window at the server, or in the settings if roamtui does not know it."""
    server = find_server(resolved.provider)
    if server is not None:
        owner, setting = server.title, server.window_setting
    elif resolved.api_base is not None:
        owner, setting = "the server", "llama.cpp: --ctx-size"
    else:
        return "Set window_tokens in config.toml to the size of its context window, or choose another model."
    larger = f"Give {owner} a larger window ({setting})"
    return f"{larger}, or set window_tokens in config.toml to its present size."


def _find_words(chain: Sequence[BaseException], text: str, environ: Mapping[str, str]) -> str:
    """Return what a server says about its failure, after a colon; empty if it only repeats the status."""
    bodies = (getattr(error, "body", None) for error in chain)
    messages = (body.get("message") for body in bodies if isinstance(body, dict))
    message = next((str(message) for message in messages if message), "") or _find_json_message(text)
    if not message and not _list_http_errors(chain):
        message = str(chain[-1]) or type(chain[-1]).__name__  # sent within a reply
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
    return (match[1] or match[2]) if match else ""


def _get_retry_after(chain: Sequence[BaseException], text: str) -> float | None:
    for error in chain:
        headers = getattr(getattr(error, "response", None), "headers", None)
        if headers is not None and (value := headers.get("retry-after")):
            return parse_retry_after(value)
    named = _RETRY_IN.search(text)
    return float(named["seconds"]) if named else None


def _clean(text: str, environ: Mapping[str, str]) -> str:
    """Make text of a provider safe to quote: short, on one line, without keys and control characters."""
    return shorten(sanitise_line(redact_secrets(text, environ)), _DETAIL_LENGTH_MAX)
