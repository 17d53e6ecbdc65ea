"""`Deed`s: what somebody did to the sections that are open is noted, taken back and done again."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from roamtui.conversation.commands import (
    CloseAgentSections,
    CollapseSections,
    Command,
    ExpandSections,
    Origin,
    PinSections,
    UndoDeed,
)
from roamtui.conversation.events import (
    CloseReason,
    ConversationEvent,
    DeedDone,
    DeedUndone,
    NodesFolded,
    NodesUnfolded,
    SectionsClosed,
    SectionsMarked,
)
from roamtui.conversation.fold import apply_all
from roamtui.conversation.open_section import Deed, OpenSection
from roamtui.conversation.state import ConversationState

Events = tuple[ConversationEvent, ...]


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
