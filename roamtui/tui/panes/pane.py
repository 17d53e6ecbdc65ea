"""`Pane`: the parts of the main screen, and their title lines."""

from __future__ import annotations

from enum import StrEnum

from textual import events, on
from textual.content import Content
from textual.reactive import reactive
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
"""In cells. In less room, no note is shown."""


class PaneTitle(Widget):
    """The title line of a pane: its name and the names of hidden panes as tabs, and a short note at the right."""

    note: reactive[str] = reactive("")
    """A path, cut at its start if there is little room. It must be sanitised."""
    hidden: reactive[frozenset[Pane]] = reactive(frozenset())
    """The panes that this one hides."""

    def __init__(self, pane: Pane) -> None:
        super().__init__()
        self._pane = pane

    @override
    def render(self) -> Content:
        tabs = [self._draw_tab(pane) for pane in Pane if pane is self._pane or pane in self.hidden]
        left = Content(" ").join(tabs)
        room = self.size.width - left.cell_length - 1
        note = _cut_start(self.note, room - _NOTE_GAP) if room - _NOTE_GAP >= _NOTE_WIDTH_MIN else Content()
        return (left + " " * max(0, room - note.cell_length) + note).truncate(self.size.width)

    def _draw_tab(self, pane: Pane) -> Content:
        number, name = PANE_TITLES[pane]
        is_active = pane is self._pane and self.parent is not None and "focus-within" in self.parent.pseudo_classes
        tab = Content(f"{'▌' if is_active else ' '}{number} {name}")
        tab = tab.stylize(Style.from_meta({_META_KEY: pane.value}))
        if is_active:
            return tab.stylize("bold $primary")
        if pane is not self._pane:
            return tab
        return tab.stylize("$foreground").stylize("underline" if self.hidden else "", len(f" {number} "))

    @on(events.Click)
    async def _go_to_clicked(self, event: events.Click) -> None:
        event.stop()
        await self.run_action(f"screen.go('{event.style.meta.get(_META_KEY, self._pane.value)}')")


def _cut_start(text: str, width: int) -> Content:
    """Cut the start of a path so that it fits, because its last part is the most useful."""
    parts = text.split(STEP)
    shorter = (STEP.join(("…", *parts[first:])) for first in range(1, len(parts)))
    fitting = (path for path in (text, *shorter, parts[-1]) if Content(path).cell_length <= width)
    cut = next(fitting, f"……{parts[-1][-width:]}")
    while Content(cut).cell_length > width:
        cut = f"…{cut[2:]}"
    return Content(cut)
