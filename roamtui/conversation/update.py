"""The one place where openness changes: a state and a command into a new state and what happened."""

from __future__ import annotations

from collections.abc import Callable, Iterable
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
    NodesFolded,
    NodesUnfolded,
    ReadingChanged,
    SectionsClosed,
    SectionsKept,
    SectionsMarked,
    SectionsPinned,
)
from roamtui.conversation.opening import add_titles, expand_for_agent, expand_for_person, unmark
from roamtui.conversation.state import ConversationState, OpenSection

Update = tuple[ConversationState, tuple[ConversationEvent, ...]]


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
