"""Secrets are masked wherever they stand, also where they come in pieces."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamtui.models.redacting import MASK, Secrets

KEY = 'sk-"quoted"\\é-0123456789'
SECRETS = Secrets.of({"OPENAI_API_KEY": KEY, "GITHUB_TOKEN": "ghp_abcdefgh", "HOME": "/home/somebody"})


@pytest.mark.parametrize(
    ("name", "value", "is_secret"),
    [
        ("X_API_KEY", "12345678", True),
        ("API_KEY", "12345678", True),
        ("x_api_key", "12345678", True),
        ("A_TOKEN", "12345678", True),
        ("TOKEN", "12345678", True),
        ("A_SECRET", " 12345678\n", True),
        ("AWS_SECRET_ACCESS_KEY", "12345678", True),
        ("DB_PASSWORD", "12345678", True),
        ("X_API_KEY", "1234567", False),
        ("X_API_KEYS", "12345678", True),
        ("AZURE_KEY_2", "12345678", True),
        ("MYKEY", "12345678", True),
        ("X_CREDENTIALS", "12345678", True),
        ("KEYMAP", "12345678", False),
        ("TOKENIZER", "12345678", False),
        ("PATH", "12345678", False),
    ],
)
def test_variables_that_are_named_like_secrets_are_masked(name: str, value: str, is_secret: bool) -> None:  # noqa: FBT001
    assert Secrets.of({name: value}).redact("a12345678b") == (f"a{MASK}b" if is_secret else "a12345678b")


def test_every_text_of_a_nested_value_is_masked() -> None:
    value = {"a": [f"x{KEY}", {"b": f"{KEY}{KEY}"}], "n": 1, "none": None}
    assert SECRETS.redact(value) == {"a": [f"x{MASK}", {"b": f"{MASK}{MASK}"}], "n": 1, "none": None}


@pytest.mark.parametrize("is_ascii", [True, False])
def test_a_secret_within_json_within_a_text_is_masked(is_ascii: bool) -> None:  # noqa: FBT001
    arguments = json.dumps({"query": f"who owns {KEY}?"}, ensure_ascii=is_ascii)
    assert SECRETS.redact(arguments) == f'{{"query": "who owns {MASK}?"}}'


def test_the_longer_of_two_secrets_is_masked_whole() -> None:
    secrets = Secrets.of({"A_TOKEN": "abcdefgh", "B_TOKEN": "abcdefghijkl"})
    assert secrets.redact("abcdefghijkl abcdefgh") == f"{MASK} {MASK}"


def test_without_secrets_nothing_changes() -> None:
    assert Secrets.of({}).redact("sk-0123456789") == "sk-0123456789"
    assert Secrets.of({}).count_open("sk-") == 0


def test_the_end_of_a_text_may_begin_a_secret() -> None:
    assert SECRETS.count_open("this is ghp_abc") == len("ghp_abc")
    assert SECRETS.count_open("this is ghp_abX") == 0
    assert SECRETS.count_open("ghp_abcdefgh.") == 0


@given(st.lists(st.text("sk-ghp_abcdef xyz", max_size=5), max_size=8), st.data())
def test_pieces_stay_as_many_and_hold_no_secret_together(texts: list[str], data: st.DataObject) -> None:
    secret = SECRETS.values[-1]
    at = data.draw(st.integers(0, len(texts)))
    text = "".join([*texts[:at], secret, *texts[at:]])
    ends = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=9)))
    pieces = tuple(text[start:end] for start, end in zip([0, *ends], [*ends, len(text)], strict=True))
    redacted = SECRETS.redact_pieces(pieces)
    assert len(redacted) == len(pieces)
    assert "".join(redacted) == text.replace(secret, MASK)
    assert all(new == old or len(old) != len(new) or MASK in new for old, new in zip(pieces, redacted, strict=True))
