"""Messages that bubble up to the screen, and the commands behind the keys of a section."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass

from textual.message import Message
from textual.screen import Screen
from textual.widget import Widget

from roamtui.conversation.events import Origin
from roamtui.conversation.state import ConversationState
from roamtui.conversation.update import CloseSections, Command, ExpandSections, FoldNodes, PinSections
from roamtui.models.base import Model
from roamtui.plain import sanitise_text
from roamtui.tui.actions import Keymap
from roamtui.tui.chat.content_view import SectionTarget


@dataclass
class StatusMessage(Message):
    """A few words for the status line, which replace the previous ones."""

    words: str
    is_progress: bool = False
    """Whether they say what is happening, or waits for the person. They stay when a key is pressed."""


@dataclass
class CommandRequested(Message):
    """A person wants to change the conversation."""

    make_command: Callable[[ConversationState], Command | str]
    """Returns the command for the newest state or, if there is nothing to do, words for the status line."""


@dataclass
class DocumentRequested(Message):
    """A person wants to open another document. If `source` is empty, they choose it first."""

    source: str = ""
    conversation_id: str | None = None
    """The conversation to resume. For a cell of a table, the path of its log."""
    place: str | SectionTarget | None = None
    """An anchor, section or quote to show there. The person can go back from it."""
    is_cell: bool = False
    """Whether a cell of a table led to it, to which the person can go back."""
    note: str = ""
    """A message to show there."""

    def is_met_by(self, state: ConversationState) -> bool:
        """Return whether a conversation is about this document."""
        return bool(self.source) and os.path.realpath(self.source) == os.path.realpath(state.library.source)


@dataclass
class ReturnRequested(Message):
    """A person wants to go back to the document whose link led to this one."""


@dataclass
class ReadingPositionChanged(Message):
    """Another section is at the top of the view."""

    section_id: str


@dataclass
class ModelReleased(Message):
    """A document was closed or got another model. Its old model can be closed if no other uses it."""

    model: Model


def copy(widget: Widget, text: str, description: str) -> None:
    """Copy text to the clipboard, and say it. `description` names the text, such as `the answer`."""
    widget.app.copy_to_clipboard(sanitise_text(text))
    widget.notify(f"Copied {description}.", markup=False)


def copy_or_stop(screen: Screen[None], selected: str, stop: Callable[[], bool], keys: Keymap) -> None:
    """Copy what is selected in the focused widget or on the screen, or else call `stop`.

    If there is nothing to do, name the key that quits: elsewhere, this one does.
    """
    if selected := selected or screen.get_selected_text() or "":
        copy(screen, selected, "the selection")
        screen.clear_selection()
    elif not stop():
        screen.notify(
            f"Nothing to copy or stop. Press {keys.first_keys['global.quit']} to quit.", markup=False
        )


def make_section_command(name: str, state: ConversationState, section_id: str) -> Command | str:
    """Return the command on a section that the table of actions names.

    If there is nothing to do, return words for the status line, which may be empty.
    """
    section = state.open_sections.get(section_id)
    library = state.library
    is_leaf = (
        section_id in library and library.node(section_id).is_loaded and not library.children(section_id)
    )
    match name:
        case "open":
            command: Command | str = ExpandSections(section_ids=(section_id,), origin=Origin.PERSON)
        case "close" if section is None:
            command = "Section is not open"
        case "close" if section is not None and section.is_pinned:
            command = "Section is pinned. Unpin it first"
        case "close":
            command = CloseSections(section_ids=(section_id,), origin=Origin.PERSON)
        case "pin":
            command = PinSections(
                section_ids=(section_id,), is_pinned=section is None or not section.is_pinned
            )
        case "fold" if is_leaf:
            command = "No section below it to unfold"
        case "fold":
            command = FoldNodes(section_ids=(section_id,), is_folded=section_id in state.unfolded)
        case "unfold_all":
            parent_ids = (section_id, *filter(state.library.children, state.library.walk(section_id)))
            command = make_unfold_command(state, *dict.fromkeys(parent_ids))
        case _:
            raise ValueError(name)
    return command


def make_unfold_command(state: ConversationState, *section_ids: str) -> Command | str:
    """Return the command that unfolds the folded nodes, or an empty string if none is folded."""
    folded = tuple(section_id for section_id in section_ids if section_id not in state.unfolded)
    return FoldNodes(section_ids=folded, is_folded=False) if folded else ""
