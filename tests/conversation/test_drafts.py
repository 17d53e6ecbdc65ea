"""Drafts on disk."""

from pathlib import Path

import pytest

from roamtui.conversation.drafts import DraftFile
from roamtui.conversation.log import ConversationStore
from tests.conversation.conversations import Recorder


def test_a_draft_that_is_loaded_twice_keeps_its_lock(store: ConversationStore) -> None:
    draft = DraftFile(store, "handbook.md", "0123456789ab")
    draft.write(["Why?"])
    assert draft.load() == draft.load() == ["Why?"]
    draft.close()
    assert DraftFile(store, "handbook.md", "0123456789ab").load() == ["Why?"]


def test_deleting_a_conversation_with_a_long_id_deletes_what_a_killed_program_left_of_its_draft(
    store: ConversationStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = "c" * 60
    log = store.start(name, Recorder(name).ask("Why?").events)
    log.save()
    log.close()
    with monkeypatch.context() as patched:
        patched.setattr(Path, "replace", lambda *_: None)
        DraftFile(store, "handbook.md", name).write(["Half"])
    assert [*store.drafts_folder.glob(".*")]
    store.delete(name)
    assert not [*store.drafts_folder.glob(".*")]
