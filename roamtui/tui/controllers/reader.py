"""`ReaderController`: jumps to sections and quotes, follows links and the outline, opens the editor."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Sequence
from functools import partial

from textual.app import SuspendNotSupported
from textual.timer import Timer
from textual.widget import Widget

from roamtui.agent.loop import Agent
from roamtui.conversation.commands import Command, ReadSection
from roamtui.conversation.conversation import CommandFactory
from roamtui.conversation.state import ConversationState
from roamtui.document.library import Library
from roamtui.document.links import (
    DeadLink,
    FileLink,
    SectionLink,
    WebLink,
    find_fragment,
    locate_section,
    resolve_link,
)
from roamtui.document.node import NodeKind, Span
from roamtui.editor import build_editor_command, find_editor
from roamtui.quotes.cited_passage import CitedPassage, find_cited_passage
from roamtui.sources.convert.conversion import SLOW_SUFFIXES
from roamtui.sources.convert.drawing import PICTURE_SUFFIXES
from roamtui.tui.chat.content_view import LinkTarget, SectionTarget
from roamtui.tui.messages import (
    FullScreenRequested,
    LinkedFileRequested,
    ReturnRequested,
    StatusMessage,
)
from roamtui.tui.panes.pane_switcher import PaneSwitcher
from roamtui.tui.panes.reader_pane import ReaderPane
from roamtui.tui.panes.tree_pane import TreePane
from roamtui.tui.screens.dialogs import ConfirmDialog, PromptDialog
from roamtui.tui.text_search import TextPosition

_READING_SECONDS = 0.5
"""A section counts as read once it has been at the top of the view for this long."""


class ReaderController:
    """Shows sections in the reader."""

    def __init__(
        self,
        agent: Agent,
        tree: TreePane,
        reader: ReaderPane,
        panes: PaneSwitcher,
        dispatch: Callable[[CommandFactory], object],
    ) -> None:
        """Show the document of `controller`'s conversation, and record which section the person reads.

        `dispatch` runs commands.
        """
        self._agent = agent
        self._tree = tree
        self._reader = reader
        self._panes = panes
        self._dispatch = dispatch
        self._position_timer: Timer | None = None

    @property
    def _library(self) -> Library:
        return self._agent.conversation.state.library

    def read(self, section_id: str, *, came_from: Widget | None, highlight: Sequence[Span] = ()) -> None:
        """Show a section in the reader. Focus the reader only if it hides the pane that the person came from."""
        if section_id in self._library:
            self._reader.show_section(self._library, section_id, highlight=highlight)
            self._panes.show_reader(came_from=came_from)
            self._record_reading(section_id)

    def show(self, section_id: str, highlight: Sequence[Span], *, came_from: Widget | None) -> None:
        """Show a section in the outline and the reader, and highlight some of its text."""
        self._tree.go_to(section_id)
        self.read(section_id, came_from=came_from, highlight=highlight)

    def show_match(self, position: TextPosition) -> None:
        """Show a match of the search in the outline and the reader, without moving the focus."""
        library = self._library
        section_id = library.section_at(position.doc, position.offset)
        shown_id = self._reader.section_id
        if section_id is None:
            return
        self._tree.go_to(section_id)
        if shown_id is None or shown_id not in library or library.get_content_span(shown_id).doc != position.doc:
            self._reader.show_section(library, section_id)
        self._record_reading(section_id)
        self._panes.show_reader_unfocused()

    def jump_to_target(self, target: SectionTarget, *, came_from: Widget | None) -> str | None:
        """Show a section or quote that the conversation refers to. Return a sentence if the section does not exist.

        If another section contains the quote, show that section. If none does, show the nearest passage.
        """
        passage = self._find_passage(target)
        if passage.section_id not in self._library:
            return f"The model cited an id that does not exist: {passage.section_id}."
        self.show(passage.section_id, passage.spans, came_from=came_from)
        if passage.is_missing:
            self._show_status(passage.warning)
        return None

    def show_citation(self, target: SectionTarget) -> None:
        """Show the passage of a citation in the reader without moving the focus, if the document has it."""
        passage = self._find_passage(target)
        if passage.section_id in self._library:
            self._reader.show_section(self._library, passage.section_id, highlight=passage.spans)
            self._show_status(passage.warning)

    def _find_passage(self, target: SectionTarget) -> CitedPassage:
        if target.citation is None:
            return CitedPassage(section_id=target.section_id)
        return find_cited_passage(target.citation, self._agent.conversation.state)

    def choose_page(self, *, came_from: Widget | None) -> str | None:
        """Ask for a page and go there. Return a sentence if the document has no pages."""
        library = self._library
        section_id = self._reader.section_id or self._tree.outline.cursor_id
        document = library.root
        if section_id is not None and section_id in library:
            document = library.loaded_document(section_id) or library.locate(section_id)[0]
        count = len(document.page_starts)
        if not count:
            return "This document has no pages."

        def go_to_page(answer: str | None) -> None:
            if answer is None:
                return
            if not (answer.isdecimal() and 1 <= int(answer) <= count):
                problem = f"No page {answer}. Enter 1 to {count:,}."
                self._reader.notify(problem, markup=False)
                return
            start = document.page_starts[int(answer) - 1]
            section_id = self._library.section_at(document.key, start)
            if section_id is not None:  # the section that contains the start of the page
                self._tree.go_to(section_id)
                offset = start - self._library.get_content_span(section_id).start
                self._reader.show_section(self._library, section_id, offset=offset)
                self._panes.show_reader(came_from=came_from)
                self._record_reading(section_id)

        page = self._reader.reader.page_in_view if self._reader.section_id else None
        current = f", now on {page:,}" if page is not None else ""
        self._reader.app.push_screen(PromptDialog(f"Go to page (1 to {count:,}{current})", ""), go_to_page)
        return None

    def show_last_read(self) -> None:
        """Show the section that was last read in the conversation. The focus stays."""
        section_id = self._agent.conversation.state.reading_id
        if section_id is not None and section_id in self._library:
            self._reader.show_section(self._library, section_id)
            self._tree.outline.move_to(section_id)

    def on_position_changed(self, section_id: str) -> None:
        """Move the outline's cursor to the section at the top of the view, and record it once scrolling has stopped."""
        if not self._tree.outline.has_focus:
            self._tree.outline.move_to(section_id)
        if self._position_timer is not None:
            self._position_timer.stop()
        self._position_timer = self._reader.set_timer(_READING_SECONDS, self._record_position)

    def go_back(self) -> None:
        """Go back to the position before the last jump, or to the document whose link led to this one."""
        if self._reader.go_back():
            self._record_position()
        else:
            self._reader.screen.post_message(ReturnRequested())

    def _record_position(self) -> None:
        self._record_reading(self._reader.section_id)

    def step(self, direction: int) -> None:
        """Show the section after (1) or before (-1) the one in the reader."""
        section_id = self._reader.section_id
        if section_id is None or not self._step_from(section_id, direction, can_go_back=True):
            self._show_status(f"{'Last' if direction > 0 else 'First'} section")

    def continue_past_end(self, direction: int) -> None:
        """Show the section after the last one (1) or before the first one (-1) of the document in the reader."""
        section_id = self._reader.section_id
        if section_id is not None and section_id in self._library:
            document = self._library.loaded_document(section_id) or self._library.locate(section_id)[0]
            ids = document.ids or (section_id,)  # a file may be empty
            edge_id = ids[-1 if direction > 0 else 0]
            if self._step_from(edge_id, direction) and direction < 0:
                self._reader.reader.scroll_to_end()

    def _step_from(self, section_id: str, direction: int, *, can_go_back: bool = False) -> bool:
        library = self._library
        adjacent_id = get_adjacent_section(library, section_id, direction)
        if adjacent_id is not None:
            self._tree.go_to(adjacent_id)
            self._reader.show_section(library, adjacent_id, can_go_back=can_go_back)
            self._record_reading(adjacent_id)
        return adjacent_id is not None

    def show_loaded(self, section_ids: tuple[str, ...]) -> None:
        """If the file in the reader has just been loaded, show its text."""
        section_id = self._reader.section_id
        if section_id is not None and section_id in section_ids:
            self._reader.show_section(self._library, section_id)

    def open_answer_link(self, target: LinkTarget) -> str | None:
        """Follow a link in an answer. Return a sentence if it leads nowhere."""
        section_id = target.href.lstrip("#")
        if section_id in self._library:  # some models write a section's id as a URL
            return self.jump_to_target(SectionTarget(section_id), came_from=None)
        is_known = target.section_id in self._library
        origin_id = target.section_id if is_known else next(self._library.walk(), None)
        return self.open_link(target.href, origin_id, with_files=False)

    def open_link(self, href: str, section_id: str | None, *, with_files: bool = True) -> str | None:
        """Follow a link in a section. Return a sentence if it leads nowhere.

        `with_files` allows links to other files on this machine. A link that a model wrote must not open a file.
        """
        if section_id is None:
            return None
        if with_files and href.partition("#")[0].lower().endswith(PICTURE_SUFFIXES) and "://" not in href:
            self._reader.screen.post_message(FullScreenRequested(self._library, section_id, href=href))
            return None
        match resolve_link(href, self._library, section_id, with_files=with_files):
            case SectionLink(target, span):
                self.show(target, (span,) if span is not None else (), came_from=None)
            case WebLink(url):
                dialog = ConfirmDialog("Open this page in your browser?", url, yes="Open")
                dialog.ask(self._reader.app, lambda: self._open_page(url))
            case FileLink(path, fragment, is_outside):
                request = partial(self._reader.screen.post_message, LinkedFileRequested(str(path), fragment))
                if is_outside:
                    question = "Open a file outside the folder that you opened?"
                    ConfirmDialog(question, str(path), yes="Open").ask(self._reader.app, request)
                else:
                    request()
            case DeadLink(reason):
                return reason
        return None

    def _open_page(self, url: str) -> None:
        self._reader.app.open_url(url)
        self._show_status(f"Opened {url} in your browser")

    def show_place(self, place: str | SectionTarget) -> None:
        """Show an anchor of the document, or a section or quote. Focus the reader."""
        if isinstance(place, str):
            self.show_anchor(place)
        elif problem := self.jump_to_target(place, came_from=None):
            self._show_status(problem)
        else:
            self._panes.focus_reader()

    def show_anchor(self, anchor: str) -> None:
        """Show an anchor that a link in another document names, or the start if it is empty. Focus the reader."""
        first_id = next(self._library.walk(), None)
        if first_id is None:
            return
        found = find_fragment(self._library, first_id, anchor) if anchor else SectionLink(first_id)
        target = found or SectionLink(first_id)
        self._tree.go_to(target.section_id)
        self._reader.show_section(self._library, target.section_id, highlight=(target.span,) if target.span else ())
        self._record_reading(target.section_id)
        self._panes.focus_reader()
        if found is None:
            self._show_status(f'No heading with the anchor "#{anchor}"')

    def edit(self, section_id: str) -> str | None:
        """Open the document at a section in the person's editor. Return a sentence if it cannot be edited."""
        library = self._library
        own = locate_section(library, section_id)
        if own is None:
            return "Only local files can be edited."
        file = own.path
        if file.suffix.lower() in SLOW_SUFFIXES:  # the reader shows text that was converted from the file
            return f"{file.name} is not a text file. Edit it in its own program, then reload."
        editor = find_editor()
        if not editor:
            return "No editor configured. Set $EDITOR."
        try:
            command = build_editor_command(editor, file.absolute(), library.node(section_id).start_line)
            with self._reader.app.suspend():
                subprocess.run(command, check=False)  # noqa: S603 - the person's own editor
        except SuspendNotSupported:
            return "This terminal cannot suspend the app for an editor."
        except (OSError, ValueError) as error:
            return f"Could not start {editor}: {error}."
        self._reader.app.refresh(layout=True)
        return None

    def _show_status(self, words: str) -> None:
        self._reader.post_message(StatusMessage(words))

    def _record_reading(self, section_id: str | None) -> None:
        def make_command(state: ConversationState) -> Command | str:
            is_new = state.reading_id != section_id
            known_id = section_id if section_id in state.library else None
            has_failed = known_id is not None and bool(state.library.problem_of(known_id))
            # Reading a section that failed to load tries again.
            return ReadSection(section_id=section_id) if is_new or has_failed else ""

        self._dispatch(make_command)


def get_adjacent_section(library: Library, section_id: str, direction: int) -> str | None:
    """Return the node whose text follows (1) or precedes (-1) the text of a node, or None. Folders are skipped."""
    start = library.get_content_span(section_id)
    node_id = _get_adjacent_node(library, section_id, direction)
    while node_id is not None:
        span = library.get_content_span(node_id)
        is_same = (span.doc, span.start) == (start.doc, start.start)
        if not is_same and library.node(node_id).kind is not NodeKind.FOLDER:
            return node_id
        node_id = _get_adjacent_node(library, node_id, direction)
    return None


def _get_adjacent_node(library: Library, section_id: str, direction: int) -> str | None:
    """Return the next (1) or previous (-1) node in the order of the document."""
    if direction > 0 and (children := library.children(section_id)):
        return children[0]
    parent: str | None = section_id
    while parent is not None:
        child, parent = parent, library.parent(parent)
        siblings = library.children(parent or library.root_id)
        index = siblings.index(child) + direction
        if index in range(len(siblings)):
            node_id = siblings[index]
            while direction < 0 and (children := library.children(node_id)):
                node_id = children[-1]
            return node_id
        if direction < 0:
            return parent
    return None
