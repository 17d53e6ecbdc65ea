"""Which files or pages a command needs, and what a state is once they are loaded. Pure, like `update`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import assert_never

from roamtui.conversation.commands import (
    CloseAgentSections,
    CollapseSections,
    Command,
    ExpandSections,
    FoldNodes,
    PinSections,
    ReadSection,
    UndoBatch,
    UnfoldNodes,
)
from roamtui.conversation.events import NodesLoaded
from roamtui.conversation.state import ConversationState
from roamtui.document.document import Document
from roamtui.document.library import Library
from roamtui.document.loader import can_load, find_address
from roamtui.outline.ranges import parse_reference


def find_needed(library: Library, command: Command) -> tuple[str, ...]:
    """Return the nodes that must be loaded before `update` can carry out a command."""
    return tuple(node_id for node_id in dict.fromkeys(_list_named(library, command)) if can_load(library, node_id))


def needs_page(library: Library, command: Command) -> bool:
    """Return whether one of the nodes that must be loaded is a link."""
    return any(_is_link(library, node_id) for node_id in find_needed(library, command))


def _list_named(library: Library, command: Command) -> tuple[str, ...]:
    """Return what a command names; of several nodes that are unfolded at once not the links: those may be thousands."""
    match command:
        case ExpandSections(section_ids=requested):
            references = map(parse_reference, requested)
            return tuple(reference.section_id for reference in references if reference is not None)
        case PinSections(section_ids=ids, is_pinned=True):
            return ids
        case UnfoldNodes(section_ids=ids):
            is_one = len(ids) == 1
            return tuple(node_id for node_id in ids if is_one or not _is_link(library, node_id))
        case ReadSection(section_id=str(section_id)):
            return (section_id,)
        case CollapseSections() | PinSections() | FoldNodes() | ReadSection() | UndoBatch() | CloseAgentSections():
            return ()
        case _:
            assert_never(command)


def _is_link(library: Library, node_id: str) -> bool:
    return node_id in library and bool(find_address(library, node_id))


def grow(state: ConversationState, documents: Mapping[str, Document]) -> tuple[ConversationState, NodesLoaded]:
    """Return the state with documents below its nodes, and the event that tells of them.

    What was loaded meanwhile stays. Where a document had to take other ids, because a new one has the older right to
    them, the state follows.
    """
    before = state.library
    new = {node_id: document for node_id, document in documents.items() if can_load(before, node_id)}
    library = before.graft_all(new)
    problems = tuple((node_id, document.problem) for node_id, document in new.items() if document.problem)
    pages = [document for node_id, document in new.items() if _is_link(before, node_id)]
    notes = tuple(dict.fromkeys(note for page in pages for note in page.notes))
    event = NodesLoaded(section_ids=tuple(new), problems=problems, notes=notes)
    moved = _find_moved(before, library)
    return replace(_move_ids(state, moved) if moved else state, library=library), event


def _find_moved(before: Library, after: Library) -> dict[str, str]:
    """Return the new id of each node whose id is another now."""
    moved: dict[str, str] = {}
    for node_id, old in before.grafts.items():
        new = after.grafts[node_id]
        if new is not old and new.columns is old.columns:
            moved.update(zip(old.ids, new.ids, strict=True))
    return moved


def _move_ids(state: ConversationState, moved: Mapping[str, str]) -> ConversationState:
    def move(section_id: str) -> str:
        return moved.get(section_id, section_id)

    return replace(
        state,
        open=tuple(replace(section, section_id=move(section.section_id)) for section in state.open),
        unfolded=frozenset(map(move, state.unfolded)),
        reading=move(state.reading) if state.reading is not None else None,
        batches=tuple(
            replace(
                batch,
                opened_ids=tuple(map(move, batch.opened_ids)),
                unfolded_ids=tuple(map(move, batch.unfolded_ids)),
            )
            for batch in state.batches
        ),
        needs_rebuild=True,
    )
