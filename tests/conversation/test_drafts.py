"""Drafts on disk."""

from roamtui.conversation.drafts import DraftFile
from roamtui.conversation.log import ConversationStore


def test_a_draft_that_is_loaded_twice_keeps_its_lock(store: ConversationStore) -> None:
    draft = DraftFile(store, "handbook.md", "0123456789ab")
    draft.write(["Why?"])
    assert draft.load() == draft.load() == ["Why?"]
    draft.close()
    assert DraftFile(store, "handbook.md", "0123456789ab").load() == ["Why?"]
