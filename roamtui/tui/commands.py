"""What a person's keys mean as commands of the core: each function returns the command, or None for nothing to do."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import TYPE_CHECKING

from textual.message import Message

from roamtui.conversation.commands import (
    CloseAgentSections,
    CollapseSections,
    Command,
    ExpandSections,
    FoldNodes,
    Origin,
    PinSections,
    UndoDeed,
    UnfoldNodes,
)
from roamtui.conversation.state import ConversationState
from roamtui.conversation.transcript import Citation
from roamtui.document.loader import can_load
from roamtui.document.node import Span

if TYPE_CHECKING:
    from roamtui.models.base import Model

Otherwise = str | Callable[[ConversationState], str]
"""What is told where there is nothing to do."""
MakeCommand = Callable[[ConversationState], Command | None]
"""Makes a command from the newest state, at the moment of its dispatch, so that quick keys do not cross."""


NOT_OPEN = "this section is not open"
PINNED = "this section is pinned: unpin it first"
NOTHING_OPEN = "nothing is open yet"
NO_SEARCH = "nothing is searched for"
"""What is told where a key has nothing to do."""


class CommandWanted(Message):
    """A person wants something done to sections."""

    def __init__(self, make: MakeCommand, *, otherwise: Otherwise = "") -> None:
        """Make the message; `otherwise` is told where there is nothing to do."""
        super().__init__()
        self.make = make
        self.otherwise = otherwise


class NothingDone(Message):
    """A key had nothing to do here, and why, in a few words."""

    def __init__(self, reason: str) -> None:
        super().__init__()
        self.reason = reason


class AskAboutWanted(Message):
    """A person wants to ask about one section, or words of it."""

    def __init__(self, section_id: str, words: str = "") -> None:
        super().__init__()
        self.section_id = section_id
        self.words = words


class KeepWanted(Message):
    """A person wants to keep a section, or words of it, among their notes."""

    def __init__(self, section_id: str, span: Span | None = None, citation: Citation | None = None) -> None:
        """Make the message; of words either where they stand is known, or that an answer cites them."""
        super().__init__()
        self.section_id = section_id
        self.span = span
        self.citation = citation


class DocumentWanted(Message):
    """A person wants to open another document, and choose it first where no source is named."""

    def __init__(self, source: str = "", conversation_id: str | None = None) -> None:
        super().__init__()
        self.source = source
        self.conversation_id = conversation_id


class DocumentTurnWanted(Message):
    """A person wants to see another of the documents that are open."""

    def __init__(self, number: int) -> None:
        """Make the message; `number` is 1-based, 0 for the next one."""
        super().__init__()
        self.number = number


class DocumentDone(Message):
    """A person wants to close the document that is shown."""


class ModelDone(Message):
    """A model no longer answers for the document that is shown."""

    def __init__(self, model: Model) -> None:
        super().__init__()
        self.model = model


class Kind(StrEnum):
    """What a person looks for when they find sections."""

    ALL = "All"
    TITLES = "Titles"
    TEXT = "Text"
    MEANING = "Meaning"


class FindWanted(Message):
    """A person wants to find sections."""

    def __init__(self, kind: Kind, *, is_onward: bool = False) -> None:
        """Make the message; `is_onward` says that the text comes in its order, from where the person reads."""
        super().__init__()
        self.kind = kind
        self.is_onward = is_onward


class MatchWanted(Message):
    """A person wants to go to the next match of what they searched for (1), or the one before (-1)."""

    def __init__(self, direction: int) -> None:
        super().__init__()
        self.direction = direction


class CopyWanted(Message):
    """A person wants text in the clipboard."""

    def __init__(self, text: str, what: str) -> None:
        super().__init__()
        self.text = text
        self.what = what
        """In our own words, such as `the answer`."""


def open_section(section_id: str) -> MakeCommand:
    """Open a section for the conversation."""
    return lambda _state: ExpandSections(section_ids=(section_id,), origin=Origin.PERSON)


def close_section(section_id: str) -> MakeCommand:
    """Close a section, if it is open and not pinned."""

    def make(state: ConversationState) -> Command | None:
        section = state.find_open(section_id)
        if section is None or section.is_pinned:
            return None
        return CollapseSections(section_ids=(section_id,), origin=Origin.PERSON)

    return make


def explain_not_closed(section_id: str) -> Otherwise:
    """Tell why a section is not closed."""
    return lambda state: NOT_OPEN if state.find_open(section_id) is None else PINNED


def toggle_pin(section_id: str) -> MakeCommand:
    """Pin a section, or let go of it."""

    def make(state: ConversationState) -> Command:
        section = state.find_open(section_id)
        return PinSections(section_ids=(section_id,), is_pinned=section is None or not section.is_pinned)

    return make


def toggle_fold(section_id: str) -> MakeCommand:
    """Show or hide what is below a node."""

    def make(state: ConversationState) -> Command | None:
        if section_id in state.unfolded:
            return FoldNodes(section_ids=(section_id,))
        return unfold(section_id)(state)

    return make


def unfold(*section_ids: str) -> MakeCommand:
    """Show what is below nodes that are folded."""

    def make(state: ConversationState) -> Command | None:
        folded = tuple(section_id for section_id in section_ids if section_id not in state.unfolded)
        return UnfoldNodes(section_ids=folded) if folded else None

    return make


def unfold_subtree(section_id: str) -> MakeCommand:
    """Show everything below a node."""
    return lambda state: unfold(*_walk_parents(state, section_id))(state)


def fold_subtree(section_id: str) -> MakeCommand:
    """Hide everything below a node."""

    def make(state: ConversationState) -> Command | None:
        unfolded = tuple(node_id for node_id in _walk_parents(state, section_id) if node_id in state.unfolded)
        return FoldNodes(section_ids=unfolded) if unfolded else None

    return make


def unfold_ancestors(section_id: str) -> MakeCommand:
    """Make a node visible."""

    def make(state: ConversationState) -> Command | None:
        if section_id not in state.library:
            return None
        return unfold(*state.library.ancestors(section_id))(state)

    return make


def undo_deed(state: ConversationState) -> Command | None:
    """Take back the last deed, if there is one."""
    return UndoDeed() if state.deeds else None


def redo_deed(state: ConversationState) -> Command | None:
    """Do again what was taken back last, if nothing was done since."""
    return UndoDeed(is_redo=True) if state.undone else None


def close_agent_sections(_state: ConversationState) -> Command:
    """Close and fold what the agent opened and the person did not pin."""
    return CloseAgentSections()


def _walk_parents(state: ConversationState, section_id: str) -> tuple[str, ...]:
    """Return a node and those below it that have children; of what is not loaded, only the node itself."""
    library = state.library
    if can_load(library, section_id):
        return (section_id,)
    if library.grafts:
        return tuple(node_id for node_id in library.walk(section_id) if library.children(node_id))
    document, first = library.locate(section_id)
    ids, ends = document.ids, document.columns.ends
    return tuple(ids[row] for row in range(first, ends[first]) if ends[row] - row > 1)
