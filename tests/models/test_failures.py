"""Failures that no server on loopback can show; all others are tested through the real client."""

import socket
import ssl
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from urllib.parse import quote

import pytest

from roamtui.models.failures import to_failure
from roamtui.models.worker_protocol import ModelFailure, ResolvedModel
from tests.case_files import read_rows

GROQ = ResolvedModel(model="groq/llama", provider="groq", key_variable="GROQ_API_KEY")


class HTTPStatusError(Exception):
    """Carries what httpx's own carries."""

    def __init__(self, status: int, text: str = "", **headers: str) -> None:
        super().__init__(text)
        self.response = FakeResponse(status, {name.replace("_", "-"): value for name, value in headers.items()})


class FakeResponse:
    def __init__(self, status_code: int, headers: dict[str, str]) -> None:
        self.status_code = status_code
        self.headers = headers


def explain(cause: BaseException, target: ResolvedModel = GROQ) -> ModelFailure:
    """Return the explanation of an error that was wrapped as litellm wraps it, under a status of its own."""
    error = FakeLitellmError("litellm.InternalServerError: GroqException - wrapped")
    error.__cause__ = cause
    return to_failure(error, target, {})


class FakeLitellmError(Exception):
    status_code = 500


@pytest.mark.parametrize(
    ("cause", "reason", "is_transient"),
    [
        (ConnectionResetError(), "Groq sent no complete reply", True),
        (StopAsyncIteration(), "Groq sent no complete reply", True),
        (TimeoutError(), "Groq timed out", False),
        (TypeError("x"), "Groq sent a reply that cannot be read", False),
        (KeyError("x"), "Groq sent a reply that cannot be read", False),
        (UnicodeDecodeError("utf-8", b"", 0, 1, "x"), "Groq sent a reply that cannot be read", False),
        (ImportError("Missing boto3"), "The request to Groq failed: Missing boto3", False),
        (HTTPStatusError(401), 'Groq does not accept the key in GROQ_API_KEY for "llama" (401)', False),
    ],
)
def test_a_cause_has_its_words_and_only_what_may_pass_is_tried_again(
    cause: Exception, reason: str, *, is_transient: bool
) -> None:
    failure = explain(cause)
    assert (failure.reason, failure.is_transient) == (reason, is_transient)


def test_what_is_wrong_with_a_certificate_is_named() -> None:
    error = ssl.SSLCertVerificationError(1, "certificate verify failed")
    error.verify_message = "Hostname mismatch, certificate is not valid for 'a.example'."
    failure = explain(error, ResolvedModel(model="openai/x", provider="openai", api_base="https://a.example/v1"))
    assert failure.reason == (
        "a.example has no valid certificate (Hostname mismatch, certificate is not valid for 'a.example')"
    )
    assert not failure.is_transient


def test_only_a_server_of_the_person_is_to_be_started() -> None:
    own = ResolvedModel(model="openai/x", provider="openai", api_base="http://127.0.0.1:9/v1")
    assert explain(socket.gaierror("no"), own).advice.startswith("Start the server there")
    assert explain(socket.gaierror("no")).advice == "Check the network."


def test_a_server_that_refuses_a_request_without_a_key_may_need_one() -> None:
    proxy = ResolvedModel(model="litellm_proxy/gpt", provider="litellm_proxy", api_base="http://127.0.0.1:4000")
    refused = HTTPStatusError(400, '{"error": {"message": "No connected db."}}')
    failure = explain(refused, proxy)
    assert failure.reason.endswith("refused the request (400): No connected db")
    assert "needs a key, set LITELLM_PROXY_API_KEY, or choose another model" in failure.advice
    assert "needs a key" not in explain(refused).advice, "it has one"
    assert "needs a key" not in explain(refused, ResolvedModel(model="ollama_chat/x", provider="ollama_chat")).advice


@pytest.mark.parametrize(("text", "window_tokens"), read_rows("models/failures", "too_long"))
def test_ways_to_say_that_a_request_is_too_long_and_for_which_window(text: str, window_tokens: int) -> None:
    failure = explain(HTTPStatusError(400, text))
    assert (failure.is_overflow, failure.window_tokens or 0) == (True, window_tokens)


@pytest.mark.parametrize("text", read_rows("models/failures", "not_too_long"))
def test_another_limit_of_tokens_is_not_the_window(text: str) -> None:
    assert not explain(HTTPStatusError(400, text)).is_overflow


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ("AuthenticationError", 'Groq does not accept the key in GROQ_API_KEY for "llama" (400)'),
        ("ContextWindowExceededError", 'The request exceeds the context window of "llama"'),
    ],
)
def test_the_class_that_litellm_gives_an_error_counts_before_its_status(kind: str, reason: str) -> None:
    error = type(kind, (FakeLitellmError,), {})("litellm: wrapped")
    error.__cause__ = HTTPStatusError(400)
    assert to_failure(error, GROQ, {}).reason == reason


def test_a_key_that_no_server_has_seen_is_told_with_what_was_raised() -> None:
    error = type("AuthenticationError", (FakeLitellmError,), {})("litellm: wrapped")
    error.__cause__ = ValueError("no credentials")
    words = 'Groq does not accept the key in GROQ_API_KEY for "llama" (401: no credentials)'
    assert to_failure(error, GROQ, {}).reason == words


def test_what_the_server_says_is_told_and_not_how_its_reply_was_read() -> None:
    cause = KeyError("message")
    cause.__cause__ = ValueError("Got unexpected response from Ollama: {'error': 'out of memory'}")
    assert explain(cause).reason == "The request to Groq failed: out of memory"


def test_a_key_is_masked_however_the_server_escapes_it() -> None:
    key = "a/key+of=sixteen"
    forms = (key, key.replace("/", r"\/"), key.replace("+", r"\u002b"), key.replace("+", r"\\u002B"))
    for form in (*forms, quote(key), quote(key, safe="").lower()):
        failure = to_failure(
            HTTPStatusError(400, f'{{"message": "no \\"{form}\\" here"}}'), GROQ, {"GROQ_API_KEY": key}
        )
        assert failure.reason == 'Groq refused the request (400): no "[redacted]" here'


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("1.5", 1.5),
        ("Mon, 30 Nov 2015 08:00:00 GMT", 0),
        ("soon", None),
        pytest.param("9" * 400, None, id="huge"),
    ],
)
def test_a_wait_may_be_a_number_or_a_date(value: str, seconds: float | None) -> None:
    assert explain(HTTPStatusError(429, retry_after=value)).wait_seconds == seconds


def test_who_must_wait_for_hours_is_told() -> None:
    until = format_datetime(datetime.now(UTC) + timedelta(seconds=7200), usegmt=True)
    for value in ("7200", until):
        failure = explain(HTTPStatusError(429, retry_after=value))
        assert failure.wait_seconds == pytest.approx(7200, abs=60)
        assert failure.advice == "Wait 120 minutes and ask again, or choose another model with --model."


def test_too_many_requests_are_no_full_window_unless_the_request_exceeds_the_limit() -> None:
    failure = explain(HTTPStatusError(429, "Rate limit reached: the prompt length counts. Try again in 20 s."))
    assert (failure.is_overflow, failure.is_transient) == (False, True)
    used = "The prompt length exceeds what is left of tokens per min: Limit 30000, Used 29000, Requested 2000"
    assert explain(HTTPStatusError(429, used)).is_transient
    large = "Request too large on tokens per min (TPM): Limit 30000, Requested 40000"
    assert explain(HTTPStatusError(429, large)).is_overflow
