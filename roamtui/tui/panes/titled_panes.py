"""The panes of the main screen: outline, conversation and reader, each with a title line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import events, on
from textual.containers import Vertical
from textual.content import Content
from textual.reactive import reactive
from textual.style import Style
from textual.widget import Widget
from typing_extensions import override

from roamtui.conversation.conversation import Conversation
from roamtui.conversation.state import ConversationState
from roamtui.document.library import Library
from roamtui.tui.actions import SCOPE_TITLES, Scope
from roamtui.tui.messages import ReadingPositionChanged, SectionTarget
from roamtui.tui.screen_words import format_ancestors, format_full_path
from roamtui.tui.status_line import ClickableLine
from roamtui.tui.tree.outline_tree import OutlineTree

if TYPE_CHECKING:
    from roamtui.tui.reader.document_reader import DocumentReader

_NOTE_GAP = 3
"""Minimum width between the tabs and a note, in cells."""
_NOTE_WIDTH_MIN = 8
"""In cells. If a note would get less, it is left out."""


class PaneTitle(ClickableLine):
    """The title line of a pane: its name and those of hidden panes as tabs, and a note at the right."""

    note: reactive[str] = reactive("")
    """A path. Its first words are left out if there is little room. The caller sanitises it."""
    tabs: reactive[tuple[tuple[Scope, str], ...]] = reactive(())
    """The pane and those that it hides, each with the key that goes there, or an empty string."""
    is_active: reactive[bool] = reactive(default=False)
    """Whether the pane has the focus."""

    def __init__(self, scope: Scope) -> None:
        super().__init__()
        self._scope = scope

    @override
    def render(self) -> Content:
        line = Content(" ").join(self._draw_tab(scope, key) for scope, key in self.tabs)
        room = self.size.width - line.cell_length - 1
        note = Content(self.note)
        if room - _NOTE_GAP < _NOTE_WIDTH_MIN:
            note = Content()
        while note.cell_length > room - _NOTE_GAP and note:
            # the end of a path says most
            note = Content("…" + note.plain.partition(" ")[2]) if " " in note.plain else Content()
        line = (line + " " * max(0, room - note.cell_length) + note).truncate(self.size.width)
        return line.stylize_before(Style.from_meta({"@click": f"screen.go('{self._scope}')"}))

    def _draw_tab(self, scope: Scope, key: str) -> Content:
        name = Content(SCOPE_TITLES[scope])
        if scope is self._scope:
            name = name.stylize("underline" if len(self.tabs) > 1 else "")
            name = name.stylize("bold $primary" if self.is_active else "$foreground")
        mark = "▌" if self.is_active and scope is self._scope else " "
        tab = Content.assemble(mark, f"{key} " if key else "", name)
        return tab.stylize(Style.from_meta({"@click": f"screen.go('{scope}')"}))


class TitledPane(Vertical):
    """Widgets below a title line."""

    def __init__(self, scope: Scope, *widgets: Widget) -> None:
        self.title_line = PaneTitle(scope)
        super().__init__(self.title_line, *widgets, id=f"{scope}-pane")


class TreePane(TitledPane):
    """The outline. Its title line has the path above the node under the cursor."""

    def __init__(self, state: ConversationState) -> None:
        self.outline = OutlineTree(state)
        super().__init__(Scope.TREE, self.outline)

    @on(events.Mount)
    @on(OutlineTree.CursorMoved)
    def show_position(self) -> None:
        """Show the path above the cursor's node in the title line."""
        self.title_line.note = format_ancestors(self.outline.lines.library, self.outline.cursor_id)


class ReaderPane(TitledPane):
    """The reader. Its title line has the path and page in view, and the number of the match."""

    def __init__(self, conversation: Conversation) -> None:
        super().__init__(Scope.READER)
        self._conversation = conversation
        self.existing: DocumentReader | None = None
        """The reader widget, or None until it is needed."""
        self._opened: tuple[SectionTarget, str | None] | None = None
        """The target that was opened last, and the section where it is."""

    def ensure_reader(self) -> DocumentReader:
        """Return the reader. It is made on the first call, so that imports do not delay the first screen."""
        if self.existing is None:
            from roamtui.tui.reader.document_reader import DocumentReader  # noqa: PLC0415

            self.existing = DocumentReader(self._conversation)
            self.mount(self.existing, after=self.title_line)
            for attribute in ("scroll_y", "virtual_size", "match_label"):
                self.watch(self.existing, attribute, lambda: self.call_next(self.show_position), init=False)
        return self.existing

    @property
    def section_id(self) -> str | None:
        """The current section."""
        return self.existing.section_id if self.existing is not None else None

    def show_library(self, library: Library) -> None:
        """Show the same place in a changed library."""
        if self.existing is not None:
            self.existing.refresh_library(library)
            self.show_position()

    def open_target(self, target: SectionTarget) -> None:
        """Open a section or quote that a person activated."""
        self.ensure_reader().open_target(target)
        self._opened = (target, self.section_id)

    def shows(self, target: SectionTarget) -> bool:
        """Return whether this target was opened last, and the reader still shows its section."""
        reader = self.ensure_reader()
        section_id = reader.section_id
        is_loaded = section_id is not None and reader.library.node(section_id).is_loaded
        return is_loaded and self._opened == (target, section_id)

    @on(ReadingPositionChanged)
    def show_position(self) -> None:
        """Show the path and page in view, and the match, in the title line."""
        reader = self.ensure_reader()
        path = "" if reader.section_id is None else format_full_path(reader.library, reader.section_id)
        parts = (path, reader.format_page(reader.offset_in_view), reader.match_label)
        self.title_line.note = " · ".join(filter(None, parts))

    def on_document_reader_opened(self) -> None:
        """Show the path of the section that was opened."""
        self.show_position()
