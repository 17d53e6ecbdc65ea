"""Decides what a command opens, closes, pins or unfolds. All such decisions are made here, without side effects."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import assert_never

from roamtui.conversation.commands import (
    CloseAgentOpened,
    CloseSections,
    Command,
    ExpandSections,
    FoldNodes,
    Origin,
    PinSections,
    ReadSection,
    Undo,
)
from roamtui.conversation.events import (
    CloseReason,
    ConversationEvent,
    Delivery,
    ExpandResult,
    ExpandStatus,
    NodesFolded,
    ReadingSectionChanged,
    SectionsClosed,
    SectionsExpanded,
    SectionsKept,
    SectionsMarked,
    SectionsPinned,
    UndoApplied,
)
from roamtui.conversation.state import ConversationState
from roamtui.conversation.transcript import Citation, OpenSection
from roamtui.document.document import hash_text
from roamtui.document.library import Library
from roamtui.document.node import NodeKind
from roamtui.document.tokens import estimate_tokens
from roamtui.outline.expansion import ExpandedBlock, format_no_room, render_section
from roamtui.outline.labels import WHOLE_TOKENS_MAX, format_node_title
from roamtui.outline.spans import PAGE_TOKENS, add_delivered, subtract_delivered

Events = tuple[ConversationEvent, ...]
_QUOTED_TOKENS_MAX = 1_000
"""Maximum tokens of a section that is delivered with the next question only because an answer quoted it.

The agent can request the text of a larger one.
"""


def expand_for_agent(state: ConversationState, command: ExpandSections) -> SectionsExpanded:
    """Open sections for the agent: deliver their texts, and unfold them and their ancestors."""
    library, room, delivered = state.library, command.room_tokens, state.collect_delivered()
    tokens = {section.section_id: section.tokens if section.deliveries else 0 for section in state.open_sections}
    results: list[ExpandResult] = []
    deliveries: list[Delivery] = []
    used_ids: list[str] = []
    for requested in command.section_ids:
        block = render_section(library, requested, delivered=delivered, nonce=state.nonce)
        section_id, text, cost = block.section_id, block.text, _count_block_tokens(block)
        if block.is_failed:
            status = ExpandStatus.FAILED
        elif section_id is None and not block.is_listing:
            status = ExpandStatus.UNKNOWN
        elif room is not None and cost > room:
            status, text = ExpandStatus.NO_ROOM, f"[{requested}]: no room for its ~{cost} tokens now."
            if section_id is not None:
                text = format_no_room(library, section_id, cost)
        else:
            status = ExpandStatus.OPENED if cost else ExpandStatus.ALREADY_OPEN
        new_tokens = block.tokens if status is ExpandStatus.OPENED else 0
        results.append(ExpandResult(id=requested, section_id=section_id, status=status, text=text, tokens=new_tokens))
        if status is ExpandStatus.NO_ROOM:
            continue
        room = None if room is None else room - cost
        add_delivered(delivered, block.spans)
        if section_id is None or block.is_listing:
            continue
        if section_id in tokens or block.spans:
            deliveries.append(_make_delivery(library, section_id, block, tokens.get(section_id)))
            tokens[section_id] = deliveries[-1].tokens
        else:
            used_ids += library.ancestors(section_id)
    return _make_expansion(state, tuple(results), tuple(deliveries), used_ids)


def _make_expansion(
    state: ConversationState,
    results: tuple[ExpandResult, ...],
    deliveries: tuple[Delivery, ...],
    used_ids: Iterable[str],
) -> SectionsExpanded:
    library = state.library
    unfolding: dict[str, None] = {}
    for result in results:
        if result.section_id and result.status in (ExpandStatus.OPENED, ExpandStatus.ALREADY_OPEN):
            for node_id in _iter_with_titles(library, (*library.ancestors(result.section_id), result.section_id)):
                if node_id not in state.unfolded and library.children(node_id):
                    unfolding[node_id] = None
    open_ids = {*state.open_ids, *(delivery.section_id for delivery in deliveries)}
    return SectionsExpanded(
        results=results,
        origin=Origin.AGENT,
        deliveries=deliveries,
        used_ids=tuple(section_id for section_id in dict.fromkeys(used_ids) if section_id in open_ids),
        unfolded_ids=tuple(unfolding),
    )


def _iter_with_titles(library: Library, node_ids: Iterable[str]) -> Iterator[str]:
    """Yield the nodes, and after each file its title section.

    If only the file were unfolded, the tree would show nothing below it but the title.
    """
    for node_id in node_ids:
        yield node_id
        file = library.loaded_document(node_id)
        if file is not None and file.title_row is not None:
            yield file.ids[file.title_row]


def expand_for_person(state: ConversationState, command: ExpandSections) -> SectionsExpanded:
    """Open sections for a person. The model gets their text with the next question."""
    library = state.library
    results: list[ExpandResult] = []
    deliveries: dict[str, Delivery] = {}
    for section_id in map(library.get_canonical_link, command.section_ids):
        if section_id not in library:
            results.append(ExpandResult(id=section_id, section_id=None, status=ExpandStatus.UNKNOWN))
            continue
        node, already_open = library.node(section_id), state.get_open(section_id)
        status, text = ExpandStatus.FAILED, ""
        if node.kind is NodeKind.FOLDER:
            text = f"{format_node_title(node)} is a folder: open the files in it."
        elif not node.is_loaded:
            text = node.problem or "It is not loaded."
        elif section_id in deliveries or (already_open is not None and not already_open.is_closing):
            status = ExpandStatus.ALREADY_OPEN
        else:
            status = ExpandStatus.OPENED
            # if the section was marked for closing, a delivery without text removes the mark
            reopened = already_open and Delivery(section_id=section_id, tokens=already_open.tokens)
            deliveries[section_id] = reopened or _make_opening(library, section_id)
        results.append(ExpandResult(id=section_id, section_id=section_id, status=status, text=text))
    opened = tuple(deliveries.values())
    return SectionsExpanded(results=tuple(results), origin=Origin.PERSON, deliveries=opened)


def open_quoted_sections(state: ConversationState, citations: Iterable[Citation]) -> Events:
    """Open the sections that an answer quotes from search results. The model gets their text with the next question."""
    delivered = state.collect_delivered()
    ids: dict[str, None] = {}
    for citation in citations:
        section_id, span = citation.section_id, citation.span
        if (
            citation.is_verified
            and span is not None
            and subtract_delivered(span, delivered)
            and state.get_open(section_id) is None
        ):
            ids[section_id] = None
    if not ids:
        return ()
    results = tuple(
        ExpandResult(id=section_id, section_id=section_id, status=ExpandStatus.OPENED) for section_id in ids
    )
    return (_make_expansion(state, results, tuple(_make_opening(state.library, one) for one in ids), ids),)


def deliver_pending(state: ConversationState, room_tokens: int | None) -> tuple[tuple[Delivery, ...], tuple[str, ...]]:
    """Deliver open sections that have no text in the transcript yet.

    A section for which there is not enough room stays open without text, and is tried again with the next question. A
    section whose text is already in the transcript, as part of another section, is only named.

    Returns:
        The deliveries, and the text blocks for the model.
    """
    texts: list[str] = []
    deliveries: list[Delivery] = []
    room, delivered = room_tokens, state.collect_delivered()
    for section in state.open_sections:
        if section.deliveries or section.is_closing or section.section_id not in state.library:
            continue
        block = render_section(state.library, section.section_id, delivered=delivered, nonce=state.nonce)
        cost = _count_block_tokens(block)
        is_empty = not block.spans and not section.tokens
        if is_empty or (section.opened_by is Origin.AGENT and cost > _QUOTED_TOKENS_MAX):
            continue
        if room is not None and cost > room:
            texts.append(format_no_room(state.library, section.section_id, cost))
            continue
        room = None if room is None else room - cost
        add_delivered(delivered, block.spans)
        if block.section_id is not None and not block.is_listing:
            deliveries.append(_make_delivery(state.library, block.section_id, block, 0))
        texts.append(block.text)
    return tuple(deliveries), tuple(texts)


def estimate_delivery_tokens(library: Library, section_id: str) -> int:
    """Estimate how many tokens are delivered when a section is opened.

    That is its whole subtree if this is small, otherwise its first page.
    """
    node = library.node(section_id)
    return node.tokens if node.tokens <= WHOLE_TOKENS_MAX else min(node.own_tokens, PAGE_TOKENS)


def _count_block_tokens(block: ExpandedBlock) -> int:
    """Estimate the tokens of a block that delivers text or lists children. Other blocks, such as hints, count as 0."""
    return estimate_tokens(block.text) if block.spans or block.is_listing else 0


def hash_own_text(library: Library, section_id: str) -> str:
    """Hash a section's own text without trailing blank lines, which depend on the section that follows."""
    return hash_text(library.text_at(library.get_own_content_span(section_id)).rstrip())


def _make_delivery(library: Library, section_id: str, block: ExpandedBlock, tokens_before: int | None) -> Delivery:
    # `tokens_before` is the number of tokens of the section that were delivered before, or None if it was not open.
    content_hash = hash_own_text(library, section_id) if tokens_before is None else ""
    tokens = block.tokens + (tokens_before or 0)
    return Delivery(section_id=section_id, tokens=tokens, spans=block.spans, content_hash=content_hash)


def _make_opening(library: Library, section_id: str) -> Delivery:
    """Make a delivery that only opens a section. Its text follows with a later delivery."""
    tokens = estimate_delivery_tokens(library, section_id)
    return Delivery(section_id=section_id, tokens=tokens, content_hash=hash_own_text(library, section_id))


def update(state: ConversationState, command: Command) -> Events:
    """Decide what a command of the agent or a person changes.

    Args:
        state: The state before the command. In its library, the sections that the command opens must be loaded.
        command: The command.

    Returns:
        The events that carry out the command.
    """
    events: Events = ()
    match command:
        case ExpandSections(origin=Origin.AGENT):
            events = (expand_for_agent(state, command),)
        case ExpandSections():
            events = (expand_for_person(state, command),)
        case CloseSections():
            events = _close_requested(state, command)
        case PinSections(section_ids=requested, is_pinned=is_pinned):
            canonical_ids = tuple(map(state.library.get_canonical_link, requested))
            missing = tuple(section_id for section_id in canonical_ids if state.get_open(section_id) is None)
            deliveries: tuple[Delivery, ...] = ()
            if is_pinned and missing:
                expanded = expand_for_person(state, ExpandSections(section_ids=missing, origin=Origin.PERSON))
                deliveries = expanded.deliveries
                failed = tuple(result for result in expanded.results if result.status is not ExpandStatus.OPENED)
                events = (replace(expanded, results=failed, deliveries=()),) if failed else ()
            open_ids = {*state.open_ids, *(delivery.section_id for delivery in deliveries)}
            if ids := tuple(section_id for section_id in canonical_ids if section_id in open_ids):
                events = (*events, SectionsPinned(section_ids=ids, is_pinned=is_pinned, deliveries=deliveries))
        case FoldNodes(section_ids=requested, is_folded=False):
            known_ids = (node_id for node_id in requested if node_id in state.library)
            with_titles = _iter_with_titles(state.library, known_ids)
            unfolding = tuple(node_id for node_id in with_titles if node_id not in state.unfolded)
            events = (NodesFolded(section_ids=unfolding, is_folded=False),) if unfolding else ()
        case FoldNodes(section_ids=requested):
            events = _fold(state, requested)
        case ReadSection(section_id=section_id):
            events = (ReadingSectionChanged(section_id=section_id),)
        case Undo():
            events = _undo(state, command)
        case CloseAgentOpened(origin=origin):
            by_agent = [section.section_id for section in state.open_sections if _is_wanted_by_agent_only(section)]
            folded = _fold(state, sorted(state.unfolded_by_agent))
            events = (*make_close_events(state, by_agent, origin, CloseReason.ASKED), *folded)
        case _:
            assert_never(command)
    return events


def _close_requested(state: ConversationState, command: CloseSections) -> Events:
    """Close sections. The agent cannot close pinned sections or those cited in the last two questions."""
    is_agent = command.origin is Origin.AGENT
    declined: list[tuple[str, str]] = []
    closing: list[str] = []
    for section_id in map(state.library.get_canonical_link, command.section_ids):
        section = state.get_open(section_id)
        if section is None:
            declined.append((section_id, "not open"))
        elif is_agent and section.is_pinned:
            declined.append((section_id, "pinned"))
        elif is_agent and section.last_cited and section.last_cited >= state.question_number - 1:
            declined.append((section_id, "just cited"))
        else:
            closing.append(section_id)
    events = make_close_events(state, closing, command.origin, CloseReason.ASKED)
    return (*events, SectionsKept(reasons=tuple(declined), origin=command.origin)) if declined else events


def fold_uncited(state: ConversationState) -> Events:
    """Fold what earlier answers unfolded, except the way to sections that are cited, pinned or being read."""
    library = state.library
    cited = (citation.section_id for exchange in state.transcript.exchanges for citation in exchange.citations)
    pinned = (section.section_id for section in state.open_sections if section.is_pinned)
    named = {*cited, *pinned, *filter(None, (state.reading_id,))}
    kept = {above for node_id in named if node_id in library for above in (node_id, *library.ancestors(node_id))}
    return _fold(state, sorted(state.unfolded_by_agent - kept))


def _fold(state: ConversationState, node_ids: Iterable[str]) -> Events:
    ids = tuple(node_id for node_id in node_ids if node_id in state.unfolded)
    return (NodesFolded(section_ids=ids, is_folded=True),) if ids else ()


def _undo(state: ConversationState, command: Undo) -> Events:
    """Undo the last step, leaving out whatever no longer applies.

    For sections that close, the usual rules apply: their text stays in the prompt until the next rebuild; during a
    question they are only marked. The text of a reopened section comes with the next question.
    """
    if not state.undo_stack:
        return ()
    step = state.undo_stack[-1]
    restored = []
    for earlier in step.before:
        if earlier.section_id in state.library:
            current = state.get_open(earlier.section_id) or replace(earlier, deliveries=())
            is_closing = earlier.is_closing and state.is_asking
            closing_by = earlier.closing_by if is_closing else None
            restored.append(replace(current, is_pinned=earlier.is_pinned, is_closing=is_closing, closing_by=closing_by))
    closing = [section for section in state.open_sections if section.section_id in step.opened_ids]
    folded = _fold(state, step.unfolded_ids)
    section_ids = tuple(section.section_id for section in (*closing, *restored))
    verb = "folding" if folded else ""
    if section_ids:
        is_reopened = any(state.get_open(section.section_id) is None for section in restored)
        verb = "opening" if closing else "closing" if is_reopened else "changing"
    closed: Events = ()
    if state.is_asking:
        restored += (replace(section, is_closing=True, closing_by=command.origin) for section in closing)
    elif closing:
        ids = tuple(section.section_id for section in closing)
        closed = (SectionsClosed(section_ids=ids, origin=command.origin, reason=CloseReason.UNDO),)
    return (*closed, *folded, UndoApplied(verb=verb, section_ids=section_ids, restored=tuple(restored)))


def _is_wanted_by_agent_only(section: OpenSection) -> bool:
    return section.opened_by is Origin.AGENT and not section.is_pinned


def make_close_events(
    state: ConversationState, section_ids: Iterable[str], origin: Origin, reason: CloseReason
) -> Events:
    """Close sections now; while a question is running, mark them to be closed when it ends."""
    wanted = set(section_ids)
    ids = tuple(section_id for section_id in state.open_ids if section_id in wanted)
    if not ids:
        return ()
    if state.is_asking:
        return (SectionsMarked(section_ids=ids, origin=origin),)
    return (SectionsClosed(section_ids=ids, origin=origin, reason=reason),)
