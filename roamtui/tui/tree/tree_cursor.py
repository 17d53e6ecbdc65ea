"""`TreeCursor`: a tree canvas with a cursor that stays on its node while lines come and go."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from typing_extensions import override

from roamtui.tui.tree.tree_canvas import TreeCanvas

if TYPE_CHECKING:
    from roamtui.tui.tree.visible_lines import VisibleLines


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a person is in a tree."""

    cursor_id: str | None
    cursor_line: int
    top_id: str | None
    """Node of the first line in view."""


class TreeCursor(TreeCanvas):
    """Draws `lines` with a cursor on one of them. A subclass changes the lines, then calls `return_to`."""

    def __init__(
        self,
        lines: VisibleLines,
        *,
        ascii_only: bool = False,
        id: str | None = None,  # noqa: A002 (Textual's own name)
        classes: str | None = None,
    ) -> None:
        super().__init__(ascii_only=ascii_only, id=id, classes=classes)
        self.lines = lines
        self.cursor_line = 0
        self._cursor_id = self._id_at(0)
        self._must_show_cursor = False

    @property
    def cursor_id(self) -> str | None:
        """The id of the node under the cursor, None in an empty outline."""
        return self._cursor_id

    @property
    @override
    def line_count(self) -> int:
        return len(self.lines)

    @property
    def place(self) -> Place:
        """Where the cursor and the view are."""
        return Place(
            cursor_id=self._cursor_id,
            cursor_line=self.cursor_line,
            top_id=self._id_at(round(self.scroll_target_y)),
        )

    def announce_cursor(self, section_id: str) -> None:
        """Tell others that the cursor stands on another node."""
        raise NotImplementedError

    def move_to(self, section_id: str) -> None:
        """Put the cursor on a node, or on its nearest visible ancestor, and scroll it into view."""
        line = self.lines.nearest_line(section_id)
        if line is not None:
            self._move_to_line(line)

    def move_cursor(self, lines: int) -> None:
        """Move the cursor down by a number of lines, up by a negative one; it stops at the ends."""
        self._move_to_line(self.cursor_line + lines)

    def move_page(self, pages: int) -> None:
        """Move the cursor down by screens of lines, up by a negative number."""
        self.move_cursor(pages * max(1, self.scrollable_content_region.height - 1))

    def go_first(self) -> None:
        """Put the cursor on the first line."""
        self._move_to_line(0)

    def go_last(self) -> None:
        """Put the cursor on the last line."""
        self._move_to_line(len(self.lines) - 1)

    def go_parent(self) -> None:
        """Put the cursor on the node above its own."""
        line = self.lines.parent_line(self.cursor_line)
        if line is not None:
            self._move_to_line(line)

    def return_to(self, place: Place) -> None:
        """Put cursor and view where they were, on the same nodes, after the lines have changed."""
        line = self.lines.nearest_line(place.cursor_id) if place.cursor_id else None
        self._set_cursor(place.cursor_line if line is None else line)
        top = self.lines.nearest_line(place.top_id) if place.top_id else None
        if top is not None and top != round(self.scroll_target_y):
            self.scroll_to_line(top)

    def _move_to_line(self, line: int) -> None:
        self._set_cursor(line)
        if self.size.height:
            self.show_line(self.cursor_line)
        else:
            self._must_show_cursor = True

    def _set_cursor(self, line: int) -> None:
        """Put the cursor on a line and draw what changed."""
        before_line, before_id = self.cursor_line, self._cursor_id
        self.cursor_line = max(0, min(line, len(self.lines) - 1))
        self._cursor_id = self._id_at(self.cursor_line)
        if self.cursor_line != before_line:
            self.refresh_line(before_line)
            self.refresh_line(self.cursor_line)
        if self._cursor_id is not None and self._cursor_id != before_id:
            self.announce_cursor(self._cursor_id)

    def _id_at(self, line: int) -> str | None:
        return self.lines.id_at(line) if 0 <= line < len(self.lines) else None

    def on_resize(self) -> None:
        """Fit the lines into another size."""
        self.fit_lines()
        if self._must_show_cursor:
            self._must_show_cursor = False
            self.show_line(self.cursor_line)

    def on_focus(self) -> None:
        """Show that keys go to the cursor."""
        self.refresh_line(self.cursor_line)

    def on_blur(self) -> None:
        """Show that keys go elsewhere."""
        self.refresh_line(self.cursor_line)
