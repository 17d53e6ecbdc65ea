"""Matches a saved conversation with the document as it is now."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from roamtui.conversation.codec import SavedConversation
from roamtui.conversation.commands import Origin
from roamtui.conversation.events import (
    CloseReason,
    ConversationEvent,
    NodesFolded,
    ReadingChanged,
    SavingReported,
    SectionsClosed,
    SectionsFoundAgain,
)
from roamtui.conversation.fold import apply_all
from roamtui.conversation.open_section import OpenSection
from roamtui.conversation.questions import close_marked
from roamtui.conversation.state import ConversationState, KeepOptions
from roamtui.conversation.update import Update, estimate_delivery, hash_own_text
from roamtui.document.library import Library


def resume_state(saved: SavedConversation, library: Library, options: KeepOptions) -> Update:
    """Return the state of a saved conversation over `library`.

    In a changed document what was open is found by id, then by its own text; what is found nowhere is closed, and an
    event says so; another one says what could not be read. What was marked when the program ended in the middle of a
    question is closed too.
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
        approved_origins=saved.approved_origins,
    )
    told: tuple[ConversationEvent, ...] = ()
    if saved.damage is not None:
        told = (SavingReported(message=saved.damage.message, conversation_id=saved.id),)
    closed = close_marked(state)
    state = apply_all(state, closed)
    unchanged = _find_unchanged(saved.document_hashes, library)
    if saved.content_hash == library.content_hash and saved.document_hashes.keys() <= unchanged:
        return state, (*told, *closed)
    state, events = _match_sections(state, unchanged)
    return state, (*told, *closed, *events)


def reload_state(state: ConversationState, library: Library) -> Update:
    """Return the state over the document as it is now, between questions; matched like a saved conversation."""
    before = state.library
    state = replace(state, library=library)
    hashes = {document.key: document.content_hash for document in before.documents}
    unchanged = _find_unchanged(hashes, library)
    delivered = {span.doc for section in state.open for span in section.deliveries}
    is_same = before.content_hash == library.content_hash and delivered <= unchanged
    is_read = state.reading is None or state.reading in library
    if is_same and is_read and all(node_id in library for node_id in state.open_ids):
        return state, ()
    return _match_sections(state, unchanged)


def _find_unchanged(hashes: Mapping[str, str], library: Library) -> frozenset[str]:
    """Return the keys of the documents whose text is still what it was."""
    return frozenset(doc.key for doc in library.documents if hashes.get(doc.key) == doc.content_hash)


def _match_sections(state: ConversationState, unchanged: frozenset[str]) -> Update:
    """Find each open section again; its text is delivered anew before the next question where its file has changed."""
    library = state.library
    ids_by_hash = _hash_sections(library) if any(open_id not in library for open_id in state.open_ids) else {}
    found: dict[str, OpenSection] = {}
    lost: list[str] = []
    for section in state.open:
        is_known = section.section_id in library
        if is_known and section.deliveries and all(span.doc in unchanged for span in section.deliveries):
            found[section.section_id] = section
            continue
        section_id = section.section_id if is_known else ids_by_hash.get(section.content_hash)
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
    events: list[ConversationEvent] = []
    if state.reading is not None and state.reading not in library:
        events.append(ReadingChanged(section_id=None))
    if gone := tuple(sorted(node_id for node_id in state.unfolded if node_id not in library)):
        events.append(NodesFolded(section_ids=gone, origin=Origin.PERSON))
    events.append(SectionsFoundAgain(sections=tuple(found.values())))
    if lost:
        events.append(SectionsClosed(section_ids=tuple(lost), origin=Origin.PERSON, reason=CloseReason.GONE))
    return apply_all(state, events), tuple(events)


def _hash_sections(library: Library) -> dict[str, str]:
    """Return the first section with each text; takes a while in a large library."""
    return {hash_own_text(library, section_id): section_id for section_id in reversed([*library.walk()])}
