"""Secrets of the environment are in no text that is kept or shown."""

from __future__ import annotations

import json

import pytest

from roamtui.models.secrets import MASK, Secrets, redact_secrets

KEY = 'sk-"quoted"\\é-0123456789'
SECRETS = Secrets.from_environ({"OPENAI_API_KEY": KEY, "GITHUB_TOKEN": "ghp_abcdefgh", "HOME": "/home/somebody"})


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
    assert Secrets.from_environ({name: value}).redact("a12345678b") == (f"a{MASK}b" if is_secret else "a12345678b")


def test_every_text_of_a_nested_value_is_masked() -> None:
    value = {"a": [f"x{KEY}", {"b": f"{KEY}{KEY}"}], "n": 1, "none": None}
    assert SECRETS.redact(value) == {"a": [f"x{MASK}", {"b": f"{MASK}{MASK}"}], "n": 1, "none": None}


@pytest.mark.parametrize("is_ascii", [True, False])
def test_a_secret_within_json_within_a_text_is_masked(is_ascii: bool) -> None:  # noqa: FBT001
    arguments = json.dumps({"query": f"who owns {KEY}?"}, ensure_ascii=is_ascii)
    assert SECRETS.redact(arguments) == f'{{"query": "who owns {MASK}?"}}'


def test_the_longer_of_two_secrets_is_masked_whole() -> None:
    secrets = Secrets.from_environ({"A_TOKEN": "abcdefgh", "B_TOKEN": "abcdefghijkl"})
    assert secrets.redact("abcdefghijkl abcdefgh") == f"{MASK} {MASK}"


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
