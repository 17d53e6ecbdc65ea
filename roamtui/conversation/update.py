"""The one place where openness changes: a state and a command into a new state and what happened."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import assert_never

from roamtui.conversation.commands import (
    CloseAgentSections,
    CollapseSections,
    Command,
    ExpandSections,
    FoldNodes,
    Origin,
    PinSections,
    ReadSection,
    UndoBatch,
    UnfoldNodes,
)
from roamtui.conversation.events import (
    BatchUndone,
    CloseReason,
    ConversationEvent,
    ExpandResult,
    ExpandStatus,
    NodesFolded,
    NodesUnfolded,
    ReadingChanged,
    SectionsClosed,
    SectionsExpanded,
    SectionsKept,
    SectionsMarked,
    SectionsPinned,
)
from roamtui.conversation.open_section import OpenSection
from roamtui.conversation.state import Batch, ConversationState
from roamtui.conversation.transcript import Citation
from roamtui.document.document import hash_text
from roamtui.document.library import Library
from roamtui.document.node import NodeKind, Span
from roamtui.document.tokens import estimate_tokens
from roamtui.outline.expansion import Block, describe_no_room, expand
from roamtui.outline.labels import WHOLE_TOKENS_MAX, name_node
from roamtui.outline.pages import PAGE_TOKENS
from roamtui.outline.spans import subtract_bounds

ExpandEvents = tuple[SectionsExpanded | NodesUnfolded, ...]
Update = tuple[ConversationState, tuple[ConversationEvent, ...]]


_QUOTED_TOKENS_MAX = 1_000
"""Of a section that an answer quoted, to come before the next question unasked; a longer one waits until it is asked
for."""


def expand_for_agent(state: ConversationState, command: ExpandSections) -> tuple[ConversationState, ExpandEvents]:
    """Open a batch: deliver each section's text, unfold it with its ancestors, remember the batch for undo."""
    before = set(state.open_ids)
    results: list[ExpandResult] = []
    room = command.room_tokens
    delivered = state.delivered
    for requested in command.section_ids:
        block = expand(state.library, requested, delivered=delivered, nonce=state.nonce)
        cost = _count_cost(block)
        if room is not None and cost > room:
            text = _describe_no_room(state.library, requested, block, cost)
            results.append(_result(requested, block, ExpandStatus.NO_ROOM, text))
            continue
        if room is not None:
            room -= cost
        state = _deliver(state, block, Origin.AGENT)
        for span in block.spans:
            delivered.setdefault(span.doc, []).append((span.start, span.end))
        results.append(_result(requested, block, _status_of(block), block.text))
    shown = [
        r.section_id for r in results if r.section_id and r.status in (ExpandStatus.OPENED, ExpandStatus.ALREADY_OPEN)
    ]
    unfolding = find_unfolding(state, shown)
    opened = tuple(section_id for section_id in state.open_ids if section_id not in before)
    if opened or unfolding:
        batch = Batch(opened_ids=opened, unfolded_ids=unfolding)
        state = replace(state, unfolded=state.unfolded | set(unfolding), batches=(*state.batches, batch))
    events: list[SectionsExpanded | NodesUnfolded] = []
    if unfolding:
        events.append(NodesUnfolded(section_ids=unfolding, origin=Origin.AGENT))
    events.append(SectionsExpanded(results=tuple(results), origin=Origin.AGENT))
    return state, tuple(events)


def expand_for_person(state: ConversationState, command: ExpandSections) -> tuple[ConversationState, ExpandEvents]:
    """Open sections whose text goes to the model before the next question."""
    results: list[ExpandResult] = []
    for section_id in map(state.library.find_host, command.section_ids):
        if section_id not in state.library:
            results.append(ExpandResult(id=section_id, section_id=None, status=ExpandStatus.UNKNOWN, text=""))
            continue
        reason = _find_refusal(state.library, section_id)
        if reason:
            results.append(ExpandResult(id=section_id, section_id=section_id, status=ExpandStatus.FAILED, text=reason))
            continue
        found = state.find_open(section_id)
        if found is not None and not found.is_closing:
            status = ExpandStatus.ALREADY_OPEN
        else:
            status = ExpandStatus.OPENED
            state = _reopen(state, found) if found else _add(state, section_id, Origin.PERSON)
        results.append(ExpandResult(id=section_id, section_id=section_id, status=status, text=""))
    return state, (SectionsExpanded(results=tuple(results), origin=Origin.PERSON),)


def open_quoted(state: ConversationState, citations: Iterable[Citation]) -> tuple[ConversationState, ExpandEvents]:
    """Open the sections that an answer quotes from what a search showed: their text comes before the next question."""
    ids = dict.fromkeys(
        citation.section_id
        for citation in citations
        if citation.is_verified and citation.span is not None and _is_missing(state, citation.span)
    )
    ids = {section_id: None for section_id in ids if state.find_open(section_id) is None}
    if not ids:
        return state, ()
    for section_id in ids:
        state = _add(state, section_id, Origin.AGENT)
    unfolding = find_unfolding(state, ids)
    batch = Batch(opened_ids=tuple(ids), unfolded_ids=unfolding)
    state = replace(state, unfolded=state.unfolded | set(unfolding), batches=(*state.batches, batch))
    results = tuple(ExpandResult(id=i, section_id=i, status=ExpandStatus.OPENED, text="") for i in ids)
    opened = SectionsExpanded(results=results, origin=Origin.AGENT)
    if not unfolding:
        return state, (opened,)
    return state, (NodesUnfolded(section_ids=unfolding, origin=Origin.AGENT), opened)


def _is_missing(state: ConversationState, span: Span) -> bool:
    return bool(subtract_bounds(span.start, span.end, state.delivered.get(span.doc, ())))


def _find_refusal(library: Library, section_id: str) -> str:
    """Return why a person cannot open a node, an empty string where they can."""
    node = library.node(section_id)
    if node.kind is NodeKind.FOLDER:
        return f"{name_node(node)} is a folder: open the files in it."
    return "" if node.is_loaded else node.problem or "It is not loaded."


def deliver_pending(state: ConversationState, room_tokens: int | None) -> tuple[ConversationState, tuple[str, ...]]:
    """Deliver what a person opened since the last question. Return the blocks that the model reads before the next.

    What has no room stays open without text, and is tried again before the question after. What stands in the
    transcript already, inside another section, is named once.
    """
    texts: list[str] = []
    room = room_tokens
    for section in state.open:
        if section.deliveries or section.is_closing:
            continue
        block = expand(state.library, section.section_id, delivered=state.delivered, nonce=state.nonce)
        if not block.spans and not section.tokens:
            continue
        cost = _count_cost(block)
        if section.opened_by is Origin.AGENT and cost > _QUOTED_TOKENS_MAX:
            continue
        if room is not None and cost > room:
            texts.append(describe_no_room(state.library, section.section_id, cost))
            continue
        if room is not None:
            room -= cost
        state = _deliver(state, block, section.opened_by)
        texts.append(block.text)
    return state, tuple(texts)


def find_unfolding(state: ConversationState, section_ids: Iterable[str]) -> tuple[str, ...]:
    """Return the nodes that must be unfolded to show these and their children, top first."""
    wanted: dict[str, None] = {}
    for section_id in section_ids:
        for node_id in add_titles(state.library, (*state.library.ancestors(section_id), section_id)):
            if node_id not in state.unfolded and state.library.children(node_id):
                wanted[node_id] = None
    return tuple(wanted)


def add_titles(library: Library, node_ids: Iterable[str]) -> Iterator[str]:
    """Yield the nodes, and after a file the heading that holds all of it: unfolding one alone would show but that."""
    for node_id in node_ids:
        yield node_id
        file = library.file(node_id)
        if file is not None and file.title_row is not None:
            yield file.ids[file.title_row]


def estimate_delivery(library: Library, section_id: str) -> int:
    """Return the tokens that opening a section will cost: the subtree where it is small, else its first page."""
    node = library.node(section_id)
    return node.tokens if node.tokens <= WHOLE_TOKENS_MAX else min(node.own_tokens, PAGE_TOKENS)


def unmark(section: OpenSection) -> OpenSection:
    """Return a section that stays open after the question."""
    return replace(section, is_closing=False, closing_by=None)


def _count_cost(block: Block) -> int:
    """Return what a block takes of the room: all that the model reads where it delivers or lists, else nothing."""
    return estimate_tokens(block.text) if block.spans or block.is_listing else 0


def _describe_no_room(library: Library, requested: str, block: Block, cost: int) -> str:
    if block.section_id is not None:
        return describe_no_room(library, block.section_id, cost)
    return f"[{requested}]: no room for its ~{cost} tokens now."


def hash_own_text(library: Library, section_id: str) -> str:
    """Return a digest of a section's own text without the blank lines at its end, which depend on what follows it."""
    return hash_text(library.text_at(library.shown_own_span(section_id)).rstrip())


def _status_of(block: Block) -> ExpandStatus:
    if block.is_failed:
        return ExpandStatus.FAILED
    if block.section_id is None and not block.is_listing:
        return ExpandStatus.UNKNOWN
    return ExpandStatus.OPENED if block.spans or block.is_listing else ExpandStatus.ALREADY_OPEN


def _result(requested: str, block: Block, status: ExpandStatus, text: str) -> ExpandResult:
    tokens = block.tokens if status is ExpandStatus.OPENED else 0
    return ExpandResult(id=requested, section_id=block.section_id, status=status, text=text, tokens=tokens)


def _deliver(state: ConversationState, block: Block, origin: Origin) -> ConversationState:
    """Record what a block delivers; a section that is open already counts as used again."""
    if block.section_id is None or block.is_listing:
        return state
    found = state.find_open(block.section_id)
    if found is None:
        if not block.spans:
            return _touch_holders(state, block.section_id)
        state = _add(state, block.section_id, origin)
        found = state.open[-1]
    used = replace(
        found,
        deliveries=(*found.deliveries, *block.spans),
        tokens=block.tokens + (found.tokens if found.deliveries else 0),
        last_used=state.question_number,
    )
    return _replace_open(state, used if used.closing_by is Origin.PERSON else unmark(used))


def _touch_holders(state: ConversationState, section_id: str) -> ConversationState:
    """Count a request for text that an open ancestor holds as a use of the ancestor."""
    for ancestor in state.library.ancestors(section_id):
        found = state.find_open(ancestor)
        if found is not None:
            state = _replace_open(state, replace(found, last_used=state.question_number))
    return state


def _add(state: ConversationState, section_id: str, origin: Origin) -> ConversationState:
    section = OpenSection(
        section_id=section_id,
        opened_by=origin,
        opened_at=state.question_number,
        last_used=state.question_number,
        tokens=estimate_delivery(state.library, section_id),
        content_hash=hash_own_text(state.library, section_id),
    )
    return replace(state, open=(*state.open, section))


def _reopen(state: ConversationState, section: OpenSection) -> ConversationState:
    return _replace_open(state, replace(unmark(section), last_used=state.question_number))


def _replace_open(state: ConversationState, section: OpenSection) -> ConversationState:
    sections = tuple(section if other.section_id == section.section_id else other for other in state.open)
    return replace(state, open=sections)


def update(state: ConversationState, command: Command) -> Update:  # noqa: PLR0911 - one case a command
    """Return the state after a command, and the events that tell what changed.

    Args:
        state: Its library must have loaded what the command opens.
        command: From the agent or a person alike.
    """
    match command:
        case ExpandSections(origin=Origin.AGENT):
            return expand_for_agent(state, command)
        case ExpandSections():
            return expand_for_person(state, command)
        case CollapseSections():
            return _collapse(state, command)
        case PinSections():
            return _pin(state, command)
        case UnfoldNodes():
            return _unfold(state, command)
        case FoldNodes():
            return _fold(state, command.section_ids, command.origin)
        case ReadSection(section_id=section_id):
            return replace(state, reading=section_id), (ReadingChanged(section_id=section_id),)
        case UndoBatch():
            return _undo(state, command)
        case CloseAgentSections():
            return _close_agent_sections(state, command)
        case _:
            assert_never(command)


def close(state: ConversationState, section_ids: Iterable[str], origin: Origin, reason: CloseReason) -> Update:
    """Close sections: at once, or, during a question, when it has ended."""
    wanted = set(section_ids)
    ids = tuple(section_id for section_id in state.open_ids if section_id in wanted)
    if not ids:
        return state, ()
    if state.is_asking:
        return _change_open(state, ids, lambda section: _mark(section, origin)), (
            SectionsMarked(section_ids=ids, origin=origin),
        )
    had_text = any(section.deliveries for section in state.open if section.section_id in wanted)
    closed = replace(
        state,
        open=tuple(section for section in state.open if section.section_id not in wanted),
        needs_rebuild=state.needs_rebuild or had_text,
    )
    return closed, (SectionsClosed(section_ids=ids, origin=origin, reason=reason),)


def _mark(section: OpenSection, origin: Origin) -> OpenSection:
    by = Origin.PERSON if section.closing_by is Origin.PERSON else origin
    return replace(section, is_closing=True, closing_by=by)


def _collapse(state: ConversationState, command: CollapseSections) -> Update:
    kept: list[tuple[str, str]] = []
    closing: list[str] = []
    for section_id in map(state.library.find_host, command.section_ids):
        reason = _reason_to_keep(state, section_id, command.origin)
        if reason:
            kept.append((section_id, reason))
        else:
            closing.append(section_id)
    state, events = close(state, closing, command.origin, CloseReason.ASKED)
    if kept:
        events = (*events, SectionsKept(reasons=tuple(kept), origin=command.origin))
    return state, events


def _reason_to_keep(state: ConversationState, section_id: str, origin: Origin) -> str:
    """Return why a section stays open although somebody would close it, an empty string where it does not."""
    section = state.find_open(section_id)
    if section is None:
        return "not open"
    if origin is Origin.PERSON:
        return ""
    if section.is_pinned:
        return "pinned"
    if section.last_cited and section.last_cited >= state.question_number - 1:
        return "just cited"
    return ""


def _pin(state: ConversationState, command: PinSections) -> Update:
    events: tuple[ConversationEvent, ...] = ()
    command = replace(command, section_ids=tuple(map(state.library.find_host, command.section_ids)))
    missing = tuple(section_id for section_id in command.section_ids if state.find_open(section_id) is None)
    if command.is_pinned and missing:
        state, events = expand_for_person(state, ExpandSections(section_ids=missing, origin=Origin.PERSON))
    ids = tuple(section_id for section_id in command.section_ids if state.find_open(section_id) is not None)
    if not ids:
        return state, events
    is_pinned = command.is_pinned
    state = _change_open(state, ids, lambda section: replace(section, is_pinned=is_pinned))
    if is_pinned:
        state = _change_open(state, ids, unmark)
    return state, (*events, SectionsPinned(section_ids=ids, is_pinned=is_pinned))


def _unfold(state: ConversationState, command: UnfoldNodes) -> Update:
    known = (i for i in command.section_ids if i in state.library)
    ids = tuple(i for i in add_titles(state.library, known) if i not in state.unfolded)
    if not ids:
        return state, ()
    state = replace(state, unfolded=state.unfolded | set(ids))
    return state, (NodesUnfolded(section_ids=ids, origin=command.origin),)


def _fold(state: ConversationState, section_ids: Iterable[str], origin: Origin) -> Update:
    ids = tuple(section_id for section_id in section_ids if section_id in state.unfolded)
    if not ids:
        return state, ()
    return replace(state, unfolded=state.unfolded - set(ids)), (NodesFolded(section_ids=ids, origin=origin),)


def _undo(state: ConversationState, command: UndoBatch) -> Update:
    if not state.batches:
        return state, ()
    batch = state.batches[-1]
    state = replace(state, batches=state.batches[:-1])
    opened = set(batch.opened_ids)
    ids = [s.section_id for s in state.open if s.section_id in opened and _is_agents(s)]
    state, closed = close(state, ids, command.origin, CloseReason.UNDO)
    state, folded = _fold(state, batch.unfolded_ids, command.origin)
    return state, (*closed, *folded, BatchUndone(section_ids=batch.opened_ids))


def _close_agent_sections(state: ConversationState, command: CloseAgentSections) -> Update:
    ids = [s.section_id for s in state.open if _is_agents(s)]
    unfolded = [node_id for batch in state.batches for node_id in batch.unfolded_ids]
    state = replace(state, batches=())
    state, closed = close(state, ids, command.origin, CloseReason.ASKED)
    state, folded = _fold(state, unfolded, command.origin)
    return state, (*closed, *folded)


def _is_agents(section: OpenSection) -> bool:
    """Return whether the agent alone wants a section open."""
    return section.opened_by is Origin.AGENT and not section.is_pinned


def _change_open(
    state: ConversationState, section_ids: Iterable[str], change: Callable[[OpenSection], OpenSection]
) -> ConversationState:
    wanted = set(section_ids)
    sections = tuple(change(section) if section.section_id in wanted else section for section in state.open)
    return replace(state, open=sections)
