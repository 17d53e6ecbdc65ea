"""Saved conversations, listed and printed by the beginning of their ids."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from roamtui.conversation.log import ConversationStore
from roamtui.document.library import Library
from roamtui.document.library_source import LibrarySource
from roamtui.errors import SourceError, StoreError, UsageError
from roamtui.headless.conversations import print_conversation, print_conversations
from tests.conversation.conversations import Recorder, make_library


@pytest.fixture
def store(tmp_path: Path) -> ConversationStore:
    store = ConversationStore(tmp_path / "conversations")
    for conversation_id in ("ab12", "ab12cd", "ef34"):
        log = store.start(conversation_id, Recorder(conversation_id).ask(f"Why {conversation_id}?", "Alpha").events)
        log.save()
        log.close()
    return store


def _open_source(_source: str, *, added: tuple[LibrarySource, ...]) -> Library:  # noqa: ARG001 - an argument of `reopen_source`
    return make_library()


def test_conversations_are_listed_as_lines_or_as_json(
    store: ConversationStore, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    print_conversations(store, as_json=False)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["ef34", "ab12cd", "ab12"]
    assert lines[0].endswith("  Why ef34?  (1 question, manual.md)")
    print_conversations(store, as_json=True)
    assert [row["id"] for row in json.loads(capsys.readouterr().out)] == ["ef34", "ab12cd", "ab12"]
    for as_json, expected in ((False, "No conversations yet.\n"), (True, "[]\n")):
        print_conversations(ConversationStore(tmp_path / "none"), as_json=as_json)
        assert capsys.readouterr().out == expected


@pytest.mark.parametrize(("prefix", "found"), [("e", "ef34"), ("ab12c", "ab12cd"), ("ab12", "ab12")])
def test_the_beginning_of_an_id_is_enough_and_a_complete_one_counts(
    store: ConversationStore, capsys: pytest.CaptureFixture[str], prefix: str, found: str
) -> None:
    print_conversation(store, prefix, "md", _open_source)
    assert f"Why {found}?" in capsys.readouterr().out


def test_a_beginning_of_several_ids_or_of_none_is_refused(store: ConversationStore) -> None:
    with pytest.raises(UsageError, match=r'^several conversations begin with "ab": ab12cd, ab12\.$'):
        print_conversation(store, "ab", "md", _open_source)
    with pytest.raises(StoreError):
        print_conversation(store, "ff", "md", _open_source)


def test_the_page_is_written_without_sections_if_the_source_cannot_be_opened(
    store: ConversationStore, capsys: pytest.CaptureFixture[str]
) -> None:
    print_conversation(store, "ef34", "html", _open_source)
    whole = capsys.readouterr()
    assert "alpha-1" in whole.out

    def refuse(_source: str, *, added: tuple[LibrarySource, ...]) -> Library:  # noqa: ARG001 - an argument of `reopen_source`
        raise SourceError("It is gone.")

    print_conversation(store, "ef34", "html", refuse)
    page = capsys.readouterr()
    assert page.err == "roamtui: without the sections: It is gone.\n"
    assert "Why ef34?" in page.out
    assert "alpha-1" not in page.out
