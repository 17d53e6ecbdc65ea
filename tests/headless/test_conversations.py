"""Saved conversations, listed and printed."""

from __future__ import annotations

import json

import pytest

from roamtui.conversation.log import ConversationStore
from roamtui.headless.conversations import print_conversation, print_conversations
from roamtui.paths import conversations_path
from tests.conversation.conversations import Recorder, make_library


@pytest.fixture
def saved() -> None:
    store = ConversationStore(conversations_path())
    for conversation_id in ("ab12", "ab12cd", "ef34"):
        log = store.start(conversation_id, Recorder(conversation_id).ask(f"Why {conversation_id}?", "Alpha").events)
        log.save()
        log.close()


@pytest.mark.usefixtures("saved")
def test_conversations_are_listed_as_lines_or_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    print_conversations(as_json=False, lists_one_shots=False)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["ef34", "ab12cd", "ab12"]
    assert lines[0].endswith("  Why ef34?  (1 question, manual.md)")
    print_conversations(as_json=True, lists_one_shots=False)
    assert [row["id"] for row in json.loads(capsys.readouterr().out)] == ["ef34", "ab12cd", "ab12"]


@pytest.mark.usefixtures("saved")
def test_a_conversation_is_printed_as_a_page(capsys: pytest.CaptureFixture[str]) -> None:
    print_conversation("ef34", "html", lambda _source, **_given: make_library())
    page = capsys.readouterr().out
    assert "Why ef34?" in page
    assert "Alpha" in page
