from __future__ import annotations

import pytest

from roamtui.models.worker.redaction import redact_secrets

ENVIRON = {
    "OPENAI_API_KEY": "plain-value-1234",
    "MY_TOKEN": "tok",
    "EDITOR": "nano-editor",
    "LONG_SECRET": "plain-value",
}


@pytest.mark.parametrize(
    ("text", "redacted"),
    [
        ("wrong key plain-value-1234!", "wrong key ***!"),
        ("a plain-value alone", "a *** alone"),
        ("tok is too short, nano-editor no secret", "tok is too short, nano-editor no secret"),
        ("Incorrect: sk-proj-abcdefgh12345678.", "Incorrect: ***"),
        ("Authorization: Bearer abc.def", "Authorization: Bearer ***"),
        ("https://host/v1?key=AbC123&alt=sse", "https://host/v1?key=***&alt=sse"),
        ("a sketch of a skill", "a sketch of a skill"),
    ],
)
def test_no_key_stays(text: str, redacted: str) -> None:
    assert redact_secrets(text, ENVIRON) == redacted
