from __future__ import annotations

import sys

from roamtui.agent.room import estimate_request
from roamtui.conversation.transcript import Message, Role
from roamtui.document.tokens import estimate_tokens
from roamtui.models.base import Request


def test_an_estimate_is_remembered_without_its_text() -> None:
    text = " ".join(map(str, range(2_000)))
    request = Request(messages=(Message(role=Role.USER, text=text),))
    before = sys.getrefcount(text)
    first = estimate_request(request)
    assert sys.getrefcount(text) == before
    assert estimate_request(request) == first > estimate_tokens(text)
