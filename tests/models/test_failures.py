"""Failures that no server on loopback can show; all others are tested through the real client."""

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
    ("cause", "is_transient"),
    [
        (ConnectionResetError(), True),
        (ImportError("boto3"), False),
        (TimeoutError(), False),
        (HTTPStatusError(401), False),
    ],
)
def test_only_what_may_pass_is_tried_again(cause: Exception, *, is_transient: bool) -> None:
    assert explain(cause).is_transient is is_transient


@pytest.mark.parametrize(("text", "is_overflow"), read_rows("models/failures", "too_long"))
def test_ways_to_say_that_a_request_is_too_long(text: str, *, is_overflow: bool) -> None:
    assert explain(HTTPStatusError(400, text)).is_overflow is is_overflow
