"""Conversations as JSON."""

from __future__ import annotations

import json

from roamtui.export.json import render_json
from tests.conversation.conversations import Recorder, find


def test_a_conversation_is_one_object_that_utf_8_can_encode() -> None:
    state = Recorder().ask("Why 標 \ud800?", "Alpha", answer="Because.").state
    text = render_json(state, "manual.md")
    assert "標 \\ud800?" in text.encode().decode()
    conversation = json.loads(text)
    assert (conversation["source"], conversation["open"]) == ("manual.md", [find(state, "Alpha")])
    (exchange,) = conversation["exchanges"]
    assert (exchange["question"], exchange["answer"]) == ("Why 標 \ud800?", "Because.")
    assert [event["kind"] for event in exchange["events"]] == ["sections_expanded"]
    assert "deliveries" not in exchange["events"][0]
