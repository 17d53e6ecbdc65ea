"""The panes of the main screen: each has a title line and below it the outline, the conversation or the reader."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.reactive import reactive
from textual.style import Style
from textual.widget import Widget
from textual.widgets import Static
from typing_extensions import override

from roamtui.conversation.events import ConversationEvent, ConversationStarted, DocumentReloaded, NodesLoaded
from roamtui.conversation.state import ConversationState
from roamtui.tui.actions import SCOPE_TITLES, Keymap, Scope
from roamtui.tui.context import ImageMode, TuiOptions
from roamtui.tui.labels import format_ancestors, format_library_size
from roamtui.tui.status_line import format_key_hint
from roamtui.tui.tree.outline_tree import OutlineTree

if TYPE_CHECKING:
    from roamtui.tui.pictures import FullScreenRequested
    from roamtui.tui.reader.document_reader import DocumentReader

_META_KEY = "roamtui_pane"
_NOTE_GAP = 3
"""Minimum number of cells between the tabs and a note."""
_NOTE_WIDTH_MIN = 8
"""In cells. In less room, no note is shown."""


class PaneTitle(Widget):
    """The title line of a pane: its name and the names of hidden panes as tabs, and a short note at the right."""

    note: reactive[str] = reactive("")
    """A path, cut at its start if there is little room. It must be sanitised."""
    tabs: reactive[tuple[tuple[Scope, str], ...]] = reactive(())
    """The pane and those that it hides, each with the key that goes there from where the focus is, or none."""
    is_active: reactive[bool] = reactive(default=False)
    """Whether the pane has the focus."""

    def __init__(self, scope: Scope) -> None:
        super().__init__()
        self._scope = scope

    @override
    def render(self) -> Content:
        left = Content(" ").join(self._draw_tab(scope, key) for scope, key in self.tabs)
        room = self.size.width - left.cell_length - 1
        note = _cut_start(self.note, room - _NOTE_GAP) if room - _NOTE_GAP >= _NOTE_WIDTH_MIN else Content()
        return (left + " " * max(0, room - note.cell_length) + note).truncate(self.size.width)

    def _draw_tab(self, scope: Scope, key: str) -> Content:
        name = Content(SCOPE_TITLES[scope])
        if scope is self._scope:
            name = name.stylize("underline" if len(self.tabs) > 1 else "")
            name = name.stylize("bold $primary" if self.is_active else "$foreground")
        tab = Content.assemble("▌" if self.is_active and scope is self._scope else " ", f"{key} " if key else "", name)
        return tab.stylize(Style.from_meta({_META_KEY: scope.value}))

    @on(events.Click)
    async def _go_to_clicked(self, event: events.Click) -> None:
        event.stop()
        await self.run_action(f"screen.go('{event.style.meta.get(_META_KEY, self._scope.value)}')")


class TitledPane(Vertical):
    """A pane with its title line."""

    def __init__(self, scope: Scope, widget: Widget) -> None:
        super().__init__(id=f"{scope}-pane")
        self.title_line = PaneTitle(scope)
        self._widget = widget

    @override
    def compose(self) -> ComposeResult:
        yield self.title_line
        yield self._widget


class TreePane(TitledPane):
    """The outline. Its title line has the path above the node under the cursor, or else the size of the document."""

    def __init__(self, state: ConversationState) -> None:
        self.outline = OutlineTree(state, id="tree")
        """The tree widget."""
        super().__init__(Scope.TREE, self.outline)

    def show(self, state: ConversationState) -> None:
        """Show another state of the conversation."""
        self.outline.show(state)
        self._show_note()

    @on(events.Mount)
    @on(OutlineTree.CursorMoved)
    def _show_note(self) -> None:
        library = self.outline.lines.library
        self.title_line.note = format_ancestors(library, self.outline.cursor_id) or format_library_size(library)


class ReaderPane(TitledPane):
    """The reader. Its title line has the path and page in view, the progress and the number of the match."""

    def __init__(self, state: ConversationState, keys: Keymap, options: TuiOptions) -> None:
        hint = format_key_hint(keys.format_first_key("tree.read"), "on a line of the outline to read it here")
        self._empty = Static(hint, id="reader-empty")
        super().__init__(Scope.READER, self._empty)
        self._state = state
        self._keys = keys
        self._options = options
        self._reader: DocumentReader | None = None

    @property
    def reader(self) -> DocumentReader:
        """The reader widget. It is made when it is first needed, because its imports would delay the first screen."""
        if self._reader is None:
            from roamtui.tui.pictures import PictureStore, choose_image_mode  # noqa: PLC0415
            from roamtui.tui.reader.document_reader import DocumentReader  # noqa: PLC0415 - not for the first screen

            mode = choose_image_mode(self._options.image_mode, self.app)
            self._reader = DocumentReader(self._state, None if mode is ImageMode.OFF else PictureStore(mode))
            self.mount(self._reader, after=self.title_line)
            for attribute in ("scroll_y", "virtual_size", "match_label"):
                self.watch(self._reader, attribute, self._show_change, init=False)
        return self._reader

    @property
    def section_id(self) -> str | None:
        """The current section."""
        return self._reader.section_id if self._reader is not None else None

    def show(self, state: ConversationState) -> None:
        """Follow another state of the conversation."""
        self._state = state
        if self._reader is not None:
            self._reader.state = state

    def show_event(self, event: ConversationEvent) -> None:
        """Show what was loaded, or the section that was last read in another conversation."""
        match event:
            case NodesLoaded(section_ids=ids) if self._reader is not None:
                self._reader.show_loaded(ids)
            case ConversationStarted():
                self.reader.show_last_read()
            case DocumentReloaded() if self.section_id is not None:
                self.reader.refresh_library(self._state.library)
                self._show_note()
            case _:
                pass

    def on_document_reader_opened(self) -> None:
        """Show the reader instead of the hint."""
        self._empty.display = False
        self._show_note()

    def on_full_screen_requested(self, event: FullScreenRequested) -> None:
        """Show a picture or page on the whole screen."""
        from roamtui.tui.screens.picture import show_full_screen  # noqa: PLC0415 - only for those who ask

        if problem := show_full_screen(self.app, self._keys, self._options, event):
            self.notify(problem, severity="warning", markup=False)

    def on_reading_position_changed(self) -> None:
        self._show_note()

    def _show_change(self) -> None:
        self.call_next(self._show_note)

    def _show_note(self) -> None:
        reader = self.reader
        parts = [reader.breadcrumb]
        if (page := reader.page_in_view) is not None:
            parts.append(f"p. {page}")
        if (percent := reader.percent_above) is not None:
            parts.append(f"{percent} %")
        self.title_line.note = " · ".join(filter(None, [*parts, reader.match_label]))


def _cut_start(path: str, width: int) -> Content:
    """Cut the start of a path so that it fits, because its last part is the most useful."""
    while Content(path).cell_length > width:
        path = f"…{path[2:]}"
    return Content(path)
