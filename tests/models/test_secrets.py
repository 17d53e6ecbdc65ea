"""Secrets of the environment are in no text that is kept or shown."""

from __future__ import annotations

import pytest

from roamtui.models.secrets import MASK, redact_secrets


@pytest.mark.parametrize(
    ("name", "value", "is_secret"),
    [
        ("X_API_KEY", "12345678", True),
        ("x_api_key", "12345678", True),
        ("TOKEN", "12345678", True),
        ("A_SECRET", " 12345678\n", True),
        ("AWS_SECRET_ACCESS_KEY", "12345678", True),
        ("X_API_KEY", "1234567", False),
        ("AZURE_KEY_2", "12345678", True),
        ("MYKEY", "12345678", True),
        ("X_CREDENTIALS", "12345678", True),
        ("KEYMAP", "12345678", False),
        ("PATH", "12345678", False),
    ],
)
def test_variables_that_are_named_like_secrets_are_masked(name: str, value: str, is_secret: bool) -> None:  # noqa: FBT001
    assert redact_secrets("a12345678b", {name: value}) == (f"a{MASK}b" if is_secret else "a12345678b")


ENVIRON = {
    "OPENAI_API_KEY": "plain-value-1234",
    "MY_TOKEN": "tok",
    "EDITOR": "nano-editor",
    "LONG_SECRET": "plain-value",
}


@pytest.mark.parametrize(
    ("text", "redacted"),
    [
        ("wrong key plain-value-1234!", "wrong key [redacted]!"),
        ("a plain-value alone", "a [redacted] alone"),
        ("tok is too short, nano-editor no secret", "tok is too short, nano-editor no secret"),
        ("Incorrect: sk-proj-abcdefgh12345678.", "Incorrect: [redacted]"),
        ("Authorization: Bearer abc.def", "Authorization: Bearer [redacted]"),
        ("https://host/v1?key=AbC123&alt=sse", "https://host/v1?key=[redacted]&alt=sse"),
        ("a sketch of a skill", "a sketch of a skill"),
    ],
)
def test_no_key_stays(text: str, redacted: str) -> None:
    assert redact_secrets(text, ENVIRON) == redacted
