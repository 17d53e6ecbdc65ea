"""`Pane`: the parts of the main screen, and their title lines."""

from __future__ import annotations

from enum import StrEnum

from textual import events, on
from textual.content import Content
from textual.style import Style
from textual.widget import Widget
from typing_extensions import override

from roamtui.tui.labels import STEP


class Pane(StrEnum):
    """A part of the main screen."""

    TREE = "tree"
    CHAT = "chat"
    READER = "reader"


PANE_TITLES = {Pane.TREE: (1, "Outline"), Pane.CHAT: (2, "Conversation"), Pane.READER: (3, "Reader")}
"""The default key and the name of each pane."""


_META_KEY = "roamtui_pane"
_NOTE_GAP = 3
"""Minimum number of cells between the tabs and a note."""
_NOTE_WIDTH_MIN = 8
"""Minimum width of a note that is cut, in cells. In less room, no note is shown."""


class PaneTitle(Widget):
    """The title line of a pane: its name and the names of hidden panes as tabs, and a short note at the right."""

    def __init__(self, pane: Pane) -> None:
        super().__init__()
        self._pane = pane
        self._hidden: frozenset[Pane] = frozenset()
        self._notes: tuple[str, ...] = ()

    def show_note(self, *notes: str) -> None:
        """Show the first of `notes` that fits at the right, or else the end of the last one.

        The notes must be sanitised.
        """
        if notes != self._notes:
            self._notes = notes
            self.refresh()

    def show_hidden(self, panes: frozenset[Pane]) -> None:
        """Show the names of the panes that this one hides."""
        if panes != self._hidden:
            self._hidden = panes
            self.refresh()

    @override
    def render(self) -> Content:
        tabs = [self._draw_tab(pane) for pane in Pane if pane is self._pane or pane in self._hidden]
        left = Content(" ").join(tabs)
        room = self.size.width - left.cell_length - 1
        note = self._fit_note(room - _NOTE_GAP)
        if not note:
            return left.truncate(self.size.width)
        return left + " " * max(0, room - note.cell_length) + note

    def _fit_note(self, room: int) -> Content:
        contents = [Content(note) for note in self._notes if note]
        fitting = next((content for content in contents if content.cell_length <= room), None)
        if fitting is not None:
            return fitting
        if not contents or room < _NOTE_WIDTH_MIN:
            return Content()
        return _cut_start(contents[-1].plain, room)

    def _draw_tab(self, pane: Pane) -> Content:
        number, name = PANE_TITLES[pane]
        is_active = pane is self._pane and self.parent is not None and "focus-within" in self.parent.pseudo_classes
        tab = Content(f"{'▌' if is_active else ' '}{number} {name}")
        tab = tab.stylize(Style.from_meta({_META_KEY: pane.value}))
        if is_active:
            return tab.stylize("bold $primary")
        if pane is not self._pane:
            return tab
        start = len(f" {number} ")
        return tab.stylize("$foreground").stylize("underline", start) if self._hidden else tab.stylize("$foreground")

    @on(events.Click)
    async def _go_to_clicked(self, event: events.Click) -> None:
        event.stop()
        await self.run_action(f"screen.go_{event.style.meta.get(_META_KEY, self._pane.value)}")


def _cut_start(text: str, width: int) -> Content:
    """Cut the start of a path so that it fits, because its last part is the most useful."""
    parts = text.split(STEP)
    for first in range(1, len(parts)):
        content = Content(STEP.join(("…", *parts[first:])))
        if content.cell_length <= width:
            return content
    content = Content(text := parts[-1])
    while content.cell_length > width:
        text = text[max(1, content.cell_length - width) :]
        content = Content(f"…{text}")
    return content
