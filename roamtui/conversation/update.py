"""The one place where openness changes: a state and a command into a new state and what happened."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
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
    UndoDeed,
    UnfoldNodes,
)
from roamtui.conversation.events import (
    CloseReason,
    ConversationEvent,
    DeedDone,
    DeedUndone,
    Delivery,
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
from roamtui.conversation.state import ConversationState, apply_all
from roamtui.conversation.transcript import Citation, Deed, OpenSection
from roamtui.document.document import hash_text
from roamtui.document.library import Library
from roamtui.document.node import NodeKind
from roamtui.document.tokens import estimate_tokens
from roamtui.outline.expansion import Block, describe_no_room, expand
from roamtui.outline.labels import WHOLE_TOKENS_MAX, name_node
from roamtui.outline.spans import PAGE_TOKENS, subtract_bounds

ExpandEvents = tuple[SectionsExpanded | NodesUnfolded, ...]
Events = tuple[ConversationEvent, ...]
Update = tuple[ConversationState, Events]


_QUOTED_TOKENS_MAX = 1_000
"""Of a section that an answer quoted, to come before the next question unasked; a longer one waits until it is asked
for."""


def expand_for_agent(state: ConversationState, command: ExpandSections) -> ExpandEvents:
    """Open a batch: deliver each section's text, unfold it with its ancestors."""
    results: list[ExpandResult] = []
    deliveries: list[Delivery] = []
    used: list[str] = []
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
        for span in block.spans:
            delivered.setdefault(span.doc, []).append((span.start, span.end))
        results.append(_result(requested, block, _status_of(block), block.text))
        if block.section_id is None or block.is_listing:
            continue
        before = _find_tokens(state, block.section_id, deliveries)
        if before is None and not block.spans:
            used += state.library.ancestors(block.section_id)
        else:
            deliveries.append(_deliver(state, block, before))
    shown = [
        r.section_id for r in results if r.section_id and r.status in (ExpandStatus.OPENED, ExpandStatus.ALREADY_OPEN)
    ]
    return _tell_expansion(state, tuple(results), tuple(deliveries), shown, used)


def _tell_expansion(
    state: ConversationState,
    results: tuple[ExpandResult, ...],
    deliveries: tuple[Delivery, ...],
    shown: Iterable[str],
    used: Iterable[str] = (),
) -> ExpandEvents:
    """Return the events of a batch of the agent."""
    unfolding = find_unfolding(state, shown)
    is_open = {*state.open_ids, *(delivery.section_id for delivery in deliveries)}
    expanded = SectionsExpanded(
        results=results,
        origin=Origin.AGENT,
        deliveries=deliveries,
        used_ids=tuple(section_id for section_id in dict.fromkeys(used) if section_id in is_open),
        unfolded_ids=unfolding,
    )
    return (NodesUnfolded(section_ids=unfolding, origin=Origin.AGENT), expanded) if unfolding else (expanded,)


def _find_tokens(state: ConversationState, section_id: str, deliveries: Iterable[Delivery]) -> int | None:
    """Return the tokens that an open section has delivered, with those of its batch; None where it is not open."""
    section = state.find_open(section_id)
    tokens = None if section is None else section.tokens if section.deliveries else 0
    return next((one.tokens for one in reversed([*deliveries]) if one.section_id == section_id), tokens)


def expand_for_person(state: ConversationState, command: ExpandSections) -> ExpandEvents:
    """Open sections whose text goes to the model before the next question."""
    results: list[ExpandResult] = []
    deliveries: dict[str, Delivery] = {}
    for section_id in map(state.library.find_host, command.section_ids):
        if section_id not in state.library:
            results.append(ExpandResult(id=section_id, section_id=None, status=ExpandStatus.UNKNOWN, text=""))
            continue
        reason = _find_refusal(state.library, section_id)
        if reason:
            results.append(ExpandResult(id=section_id, section_id=section_id, status=ExpandStatus.FAILED, text=reason))
            continue
        found = state.find_open(section_id)
        is_open = section_id in deliveries or (found is not None and not found.is_closing)
        status = ExpandStatus.ALREADY_OPEN if is_open else ExpandStatus.OPENED
        if not is_open:
            again = found and Delivery(section_id=section_id, tokens=found.tokens)
            deliveries[section_id] = again or _open(state, section_id)
        results.append(ExpandResult(id=section_id, section_id=section_id, status=status, text=""))
    opened = tuple(deliveries.values())
    return (SectionsExpanded(results=tuple(results), origin=Origin.PERSON, deliveries=opened),)


def open_quoted(state: ConversationState, citations: Iterable[Citation]) -> ExpandEvents:
    """Open the sections that an answer quotes from what a search showed: their text comes before the next question."""
    held = state.delivered
    cited = ((one.section_id, one.span) for one in citations if one.is_verified and one.span is not None)
    missing = (one for one, span in cited if subtract_bounds(span.start, span.end, held.get(span.doc, ())))
    ids = dict.fromkeys(section_id for section_id in missing if state.find_open(section_id) is None)
    if not ids:
        return ()
    results = tuple(ExpandResult(id=i, section_id=i, status=ExpandStatus.OPENED, text="") for i in ids)
    return _tell_expansion(state, results, tuple(_open(state, section_id) for section_id in ids), ids)


def _find_refusal(library: Library, section_id: str) -> str:
    """Return why a person cannot open a node, an empty string where they can."""
    node = library.node(section_id)
    if node.kind is NodeKind.FOLDER:
        return f"{name_node(node)} is a folder: open the files in it."
    return "" if node.is_loaded else node.problem or "It is not loaded."


def deliver_pending(state: ConversationState, room_tokens: int | None) -> tuple[tuple[Delivery, ...], tuple[str, ...]]:
    """Return what of the sections that a person opened is delivered now, and the blocks that the model reads of it.

    What has no room stays open without text, and is tried again before the question after. What stands in the
    transcript already, inside another section, is named once.
    """
    texts: list[str] = []
    deliveries: list[Delivery] = []
    room = room_tokens
    delivered = state.delivered
    for section in state.open:
        if section.deliveries or section.is_closing:
            continue
        block = expand(state.library, section.section_id, delivered=delivered, nonce=state.nonce)
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
        for span in block.spans:
            delivered.setdefault(span.doc, []).append((span.start, span.end))
        if block.section_id is not None and not block.is_listing:
            deliveries.append(_deliver(state, block, 0))
        texts.append(block.text)
    return tuple(deliveries), tuple(texts)


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


def _deliver(state: ConversationState, block: Block, before: int | None) -> Delivery:
    """Return what a block delivers of a section that had delivered so many tokens, None for one that was not open."""
    assert block.section_id is not None
    content_hash = hash_own_text(state.library, block.section_id) if before is None else ""
    tokens = block.tokens + (before or 0)
    return Delivery(section_id=block.section_id, tokens=tokens, spans=block.spans, content_hash=content_hash)


def _open(state: ConversationState, section_id: str) -> Delivery:
    """Return what opens a section whose text comes before the next question."""
    tokens = estimate_delivery(state.library, section_id)
    return Delivery(section_id=section_id, tokens=tokens, content_hash=hash_own_text(state.library, section_id))


def update(state: ConversationState, command: Command) -> Update:
    """Return the state after a command, and the events that make it of the one before.

    Args:
        state: Its library must have loaded what the command opens.
        command: From the agent or a person alike.
    """
    events = _decide(state, command)
    return apply_all(state, events), events


def _decide(state: ConversationState, command: Command) -> Events:  # noqa: PLR0911 - one case a command
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
            return (ReadingChanged(section_id=section_id),)
        case UndoDeed():
            return undo_deed(state, command)
        case CloseAgentSections():
            return _close_agent_sections(state, command)
        case _:
            assert_never(command)


def _collapse(state: ConversationState, command: CollapseSections) -> Events:
    kept: list[tuple[str, str]] = []
    closing: list[str] = []
    for section_id in map(state.library.find_host, command.section_ids):
        reason = _reason_to_keep(state, section_id, command.origin)
        if reason:
            kept.append((section_id, reason))
        else:
            closing.append(section_id)
    events = close(state, closing, command.origin, CloseReason.ASKED)
    return (*events, SectionsKept(reasons=tuple(kept), origin=command.origin)) if kept else events


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


def _pin(state: ConversationState, command: PinSections) -> Events:
    wanted = tuple(map(state.library.find_host, command.section_ids))
    missing = tuple(section_id for section_id in wanted if state.find_open(section_id) is None)
    events: Events = ()
    if command.is_pinned and missing:
        events = expand_for_person(state, ExpandSections(section_ids=missing, origin=Origin.PERSON))
    opened = apply_all(state, events)
    ids = tuple(section_id for section_id in wanted if opened.find_open(section_id) is not None)
    return (*events, SectionsPinned(section_ids=ids, is_pinned=command.is_pinned)) if ids else events


def _unfold(state: ConversationState, command: UnfoldNodes) -> Events:
    known = (i for i in command.section_ids if i in state.library)
    ids = tuple(i for i in add_titles(state.library, known) if i not in state.unfolded)
    return (NodesUnfolded(section_ids=ids, origin=command.origin),) if ids else ()


def _fold(state: ConversationState, section_ids: Iterable[str], origin: Origin) -> Events:
    ids = tuple(section_id for section_id in section_ids if section_id in state.unfolded)
    return (NodesFolded(section_ids=ids, origin=origin),) if ids else ()


def _close_agent_sections(state: ConversationState, command: CloseAgentSections) -> Events:
    ids = [s.section_id for s in state.open if is_agents(s)]
    unfolded = dict.fromkeys(node_id for deed in state.deeds for node_id in deed.unfolded_ids)
    closed = close(state, ids, command.origin, CloseReason.ASKED)
    folded = _fold(state, unfolded, command.origin)
    return (*closed, *folded)


def note_deed(before: ConversationState, after: ConversationState, command: Command) -> tuple[DeedDone, ...]:
    """Return what must be known to take a command back; the agent's batches are deeds as they are."""
    match command:
        case ExpandSections(origin=Origin.PERSON) | CollapseSections() | PinSections() | CloseAgentSections():
            deed = _compare(before, after)
            return () if deed.is_empty else (DeedDone(deed=deed),)
        case _:
            return ()


def undo_deed(state: ConversationState, command: UndoDeed) -> Events:
    """Take back the last deed, or do again what was taken back last, as far as it still makes a difference.

    What the agent opened stays where the person has wanted it since. Text that was told meanwhile stays told: what is
    closed takes a new transcript, as ever; during a question it is marked.
    """
    deeds = state.undone if command.is_redo else state.deeds
    if not deeds:
        return ()
    deed, library = deeds[-1], state.library
    wanted = {section.section_id: section for section in deed.before if section.section_id in library}
    closing = [s.section_id for s in deed.after if s.section_id not in wanted and _may_close(state, s)]
    is_told = not state.is_asking and deed.asked == state.question_number
    restored = tuple(_restore(state, section, is_told=is_told) for section in wanted.values())
    folded = tuple(node_id for node_id in deed.unfolded_ids if node_id in state.unfolded)
    unfolded = tuple(i for i in deed.folded_ids if i in library and i not in state.unfolded)
    origin = command.origin
    events: Events = close(state, closing, origin, CloseReason.UNDO)
    if folded:
        events = (*events, NodesFolded(section_ids=folded, origin=origin))
    if unfolded:
        events = (*events, NodesUnfolded(section_ids=unfolded, origin=origin))
    undone = DeedUndone(deed=deed, restored=restored, is_redo=command.is_redo)
    after = apply_all(state, (*events, undone))
    return (*events, replace(undone, deed=_compare(state, after)))


def close(state: ConversationState, section_ids: Iterable[str], origin: Origin, reason: CloseReason) -> Events:
    """Close sections: at once, or, during a question, when it has ended."""
    wanted = set(section_ids)
    ids = tuple(section_id for section_id in state.open_ids if section_id in wanted)
    if not ids:
        return ()
    if state.is_asking:
        return (SectionsMarked(section_ids=ids, origin=origin),)
    return (SectionsClosed(section_ids=ids, origin=origin, reason=reason),)


def is_agents(section: OpenSection) -> bool:
    """Return whether the agent alone wants a section open."""
    return section.opened_by is Origin.AGENT and not section.is_pinned


def _may_close(state: ConversationState, then: OpenSection) -> bool:
    now = state.find_open(then.section_id)
    return now is not None and (is_agents(now) or not is_agents(then))


def _restore(state: ConversationState, then: OpenSection, *, is_told: bool) -> OpenSection:
    """Return a section as it was; without its text, which comes anew, where another question was asked since."""
    now = state.find_open(then.section_id) or replace(then, deliveries=then.deliveries if is_told else ())
    is_closing = then.is_closing and state.is_asking
    closing_by = then.closing_by if is_closing else None
    return replace(now, is_pinned=then.is_pinned, is_closing=is_closing, closing_by=closing_by)


def _compare(before: ConversationState, after: ConversationState) -> Deed:
    """Return what became other between two states."""
    old = {section.section_id: section for section in before.open}
    new = {section.section_id: section for section in after.open}
    changed = [i for i in dict.fromkeys((*old, *new)) if _describe(old.get(i)) != _describe(new.get(i))]
    return Deed(
        before=tuple(old[section_id] for section_id in changed if section_id in old),
        after=tuple(new[section_id] for section_id in changed if section_id in new),
        unfolded_ids=tuple(sorted(after.unfolded - before.unfolded)),
        folded_ids=tuple(sorted(before.unfolded - after.unfolded)),
        asked=-1 if after.is_asking else after.question_number,
    )


def _describe(section: OpenSection | None) -> tuple[object, ...]:
    return () if section is None else (section.is_pinned, section.is_closing, section.closing_by)
