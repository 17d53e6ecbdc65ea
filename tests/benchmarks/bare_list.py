"""An app of one widget over Textual's line API: what a key in a list of many lines costs at least."""

from __future__ import annotations

from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip
from typing_extensions import override


class BareList(ScrollView, can_focus=True, inherit_bindings=False):
    """Lines with a cursor, and nothing else."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j", "move(1)", show=False),
        Binding("k", "move(-1)", show=False),
        Binding("pagedown", "page(1)", show=False),
        Binding("pageup", "page(-1)", show=False),
    ]

    def __init__(self, line_count: int) -> None:
        super().__init__()
        self._line_count = line_count
        self._cursor = 0

    @override
    def on_mount(self) -> None:
        self.virtual_size = Size(0, self._line_count)

    @override
    def render_line(self, y: int) -> Strip:
        line = y + self.scroll_offset.y
        style = Style(reverse=line == self._cursor)
        return Strip([Segment(f"{line:>8} A section among many others".ljust(self.size.width), style)])

    def action_move(self, lines: int) -> None:
        """Move the cursor, in view."""
        before, self._cursor = self._cursor, max(0, min(self._cursor + lines, self._line_count - 1))
        self.refresh_line(before)
        self.refresh_line(self._cursor)
        top, height = round(self.scroll_target_y), self.size.height
        if not top <= self._cursor < top + height:
            self.scroll_to(y=self._cursor if lines < 0 else self._cursor - height + 1, animate=False, force=True)

    def action_page(self, pages: int) -> None:
        """Move by a screen of lines."""
        self.action_move(pages * (self.size.height - 1))


class BareApp(App[None]):
    """Shows the list alone."""

    def __init__(self, line_count: int) -> None:
        super().__init__()
        self._line_count = line_count

    @override
    def compose(self) -> ComposeResult:
        yield BareList(self._line_count)
