"""Takes a conversation up again: its events over the document as it is now."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from roamtui.conversation.commands import Origin
from roamtui.conversation.events import (
    CloseReason,
    ConversationEvent,
    ConversationForked,
    DocumentRead,
    NodesFolded,
    QuestionAnswered,
    QuestionAsked,
    QuestionsTakenBack,
    ReadingChanged,
    SectionsClosed,
    SectionsDelivered,
    SectionsExpanded,
    SectionsFoundAgain,
)
from roamtui.conversation.fold import apply_all, fold
from roamtui.conversation.open_section import OpenSection
from roamtui.conversation.questions import finish_question
from roamtui.conversation.state import ConversationState, KeepOptions
from roamtui.conversation.transcript import Stopped
from roamtui.conversation.update import Update, estimate_delivery, hash_own_text
from roamtui.document.library import Library
from roamtui.document.loader import find_address


def resume_state(events: Iterable[ConversationEvent], library: Library, options: KeepOptions) -> Update:
    """Return the state of a conversation over `library`, and what happens while it is taken up.

    A question in the middle of which the program ended is cancelled. In a changed document what was open is found by
    id, then by its own text; what is found nowhere is closed, and an event says so.
    """
    state = fold(library, events, options)
    ended: tuple[ConversationEvent, ...] = ()
    if state.is_asking:
        exchange = state.transcript.exchanges[-1]
        steps = exchange.ending.steps
        outcome = QuestionAnswered(answer=exchange.answer, stopped=Stopped.CANCELLED, steps=steps, is_cut=True)
        state, ended = finish_question(state, outcome)
    state, matched = reload_state(state, library)
    return state, (*ended, *matched)


def reload_state(state: ConversationState, library: Library) -> Update:
    """Return the state over the document as it is now, between questions.

    Each open section is found again; its text is delivered anew before the next question where its file has changed.
    """
    state = replace(state, library=library)
    unchanged = frozenset(
        document.key for document in library.documents if state.documents.get(document.key) == document.content_hash
    )
    delivered = {span.doc for section in state.open for span in section.deliveries}
    named = (*state.open_ids, *(() if state.reading is None else (state.reading,)))
    is_same = state.content_hash == library.content_hash and delivered <= unchanged
    if is_same and all(node_id in library for node_id in named):
        return state, ()
    ids_by_hash = hash_sections(library) if any(open_id not in library for open_id in state.open_ids) else {}
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


def hash_sections(library: Library) -> dict[str, str]:
    """Return the first section with each text; takes a while in a large library."""
    return {hash_own_text(library, section_id): section_id for section_id in reversed([*library.walk()])}


def fork_events(
    events: Sequence[ConversationEvent], conversation_id: str, before: int
) -> tuple[ConversationEvent, ...]:
    """Return what happened before a question as another conversation, which goes its own way from there.

    Its texts are marked with a nonce of its own, so that its transcript is built anew.
    """
    starts: list[int] = []
    for index, event in enumerate(events):
        if isinstance(event, QuestionAsked):
            starts.append(index)
        elif isinstance(event, QuestionsTakenBack):
            del starts[event.first - 1 :]
    kept = events[: starts[before - 1]]
    return (*kept, ConversationForked(conversation_id=conversation_id))


def note_document(state: ConversationState, events: Iterable[ConversationEvent]) -> tuple[DocumentRead, ...]:
    """Return what must be known to go on with a conversation later, where the state does not know it yet.

    Args:
        state: After the events.
        events: What happened: text that they deliver, and sections that they name, are to be found again.
    """
    library = state.library
    delivering = (event for event in events if isinstance(event, SectionsExpanded | SectionsDelivered))
    deliveries = [delivery for event in delivering for delivery in event.deliveries]
    keys = dict.fromkeys(span.doc for delivery in deliveries for span in delivery.spans)
    hashes = {key: library.document(key).content_hash for key in keys}
    named = dict.fromkeys((*(one.section_id for one in deliveries), *_list_named(events)))
    links = {one: tuple(list_links_to(library, one)) for one in named if one in library and one not in state.links}
    read = DocumentRead(
        source=identify_source(library),
        content_hash=library.content_hash,
        documents=tuple((key, digest) for key, digest in hashes.items() if state.documents.get(key) != digest),
        links=tuple((section_id, above) for section_id, above in links.items() if above),
    )
    is_known = read.source == state.source and read.content_hash == state.content_hash
    return () if is_known and not read.documents and not read.links else (read,)


def _list_named(events: Iterable[ConversationEvent]) -> Iterator[str]:
    for event in events:
        match event:
            case ReadingChanged(section_id=str(section_id)):
                yield section_id
            case QuestionAnswered(citations=citations):
                yield from (citation.section_id for citation in citations)
            case SectionsFoundAgain(sections=sections):
                yield from (section.section_id for section in sections)
            case _:
                pass


def list_links_to(library: Library, node_id: str) -> Iterator[str]:
    """Yield the links that lead to a node, those above it and itself, whose pages are there."""
    for one in (*library.ancestors(node_id), node_id):
        if find_address(library, one) and library.is_loaded(one):
            yield one


def list_needed_links(state: ConversationState) -> tuple[str, ...]:
    """Return the links whose pages hold what is open, read or cited, each after those that lead to it."""
    cited = (one.section_id for exchange in state.transcript.exchanges for one in exchange.citations)
    named = ("", *state.open_ids, *(() if state.reading is None else (state.reading,)), *cited)
    return tuple(dict.fromkeys(link for node_id in named for link in state.links.get(node_id, ())))


def identify_source(library: Library) -> str:
    """Return what conversations of one source have in common: its name, or its content where it came by a pipe."""
    name = f"-{library.root.content_hash}" if library.source == "-" else library.source
    return name.encode("utf-8", "backslashreplace").decode("utf-8")  # a file's name may hold bytes that are no UTF-8


def is_gone(source: str) -> bool:
    """Return whether none of the files and folders that a source names is there any more."""
    is_file = "://" not in source and not source.startswith("-")
    return is_file and not any(os.path.lexists(name) for name in (source, *source.split(", ")))
