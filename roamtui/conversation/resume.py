"""Matches a saved conversation with the document as it is now."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from roamtui.conversation.commands import Origin
from roamtui.conversation.events import CloseReason, ConversationEvent, SectionsClosed
from roamtui.conversation.opening import estimate_delivery, hash_own_text
from roamtui.conversation.questions import close_marked
from roamtui.conversation.state import ConversationState, KeepOptions, OpenSection

if TYPE_CHECKING:
    from roamtui.conversation.codec import SavedConversation
    from roamtui.document.library import Library


def resume_state(
    saved: SavedConversation, library: Library, options: KeepOptions
) -> tuple[ConversationState, tuple[ConversationEvent, ...]]:
    """Return the state of a saved conversation over `library`.

    In a changed document what was open is found by id, then by its own text; what is found nowhere is closed, and an
    event says so. What was marked when the program ended in the middle of a question is closed too.
    """
    state = ConversationState(
        id=saved.id,
        library=library,
        options=options,
        transcript=saved.transcript,
        open=saved.open,
        unfolded=saved.unfolded,
        reading=saved.reading if saved.reading is not None and saved.reading in library else None,
        batches=saved.batches,
        needs_rebuild=saved.needs_rebuild,
        model=saved.model,
        title=saved.title,
    )
    state, closed = close_marked(state)
    if saved.content_hash == library.root.content_hash:
        return state, closed
    state, events = _match_sections(state)
    return state, (*closed, *events)


def _match_sections(state: ConversationState) -> tuple[ConversationState, tuple[ConversationEvent, ...]]:
    """Find each open section again; its text is delivered anew before the next question."""
    library = state.library
    ids_by_hash = {hash_own_text(library, section_id): section_id for section_id in reversed([*library.walk()])}
    found: dict[str, OpenSection] = {}
    lost: list[str] = []
    for section in state.open:
        section_id = section.section_id if section.section_id in library else ids_by_hash.get(section.content_hash)
        if section_id is None:
            lost.append(section.section_id)
        else:
            found[section_id] = replace(
                section,
                section_id=section_id,
                deliveries=(),
                tokens=estimate_delivery(library, section_id),
                content_hash=hash_own_text(library, section_id),
            )
    state = replace(
        state,
        open=tuple(found.values()),
        unfolded=frozenset(node_id for node_id in state.unfolded if node_id in library),
        batches=(),
        needs_rebuild=True,
    )
    if not lost:
        return state, ()
    return state, (SectionsClosed(section_ids=tuple(lost), origin=Origin.PERSON, reason=CloseReason.GONE),)
