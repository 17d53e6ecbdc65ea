"""The first line of the screen: whose app this is, and which document."""

from __future__ import annotations

from textual.content import Content
from textual.widget import Widget
from typing_extensions import override

from roamtui.document.plain import plain_line, strip_anchor


class HeaderLine(Widget):
    """Shows the program's name, the document's title and its source."""

    DEFAULT_CSS = """
    HeaderLine { height: 1; background: $panel; color: $foreground; padding: 0 1; }
    """

    def __init__(self, title: str, source: str) -> None:
        super().__init__(id="header-line")
        self._document_title = strip_anchor(plain_line(title))
        self._source = plain_line(source)

    def show(self, title: str, source: str) -> None:
        """Show another title and source."""
        self._document_title, self._source = strip_anchor(plain_line(title)), plain_line(source)
        self.refresh()

    @override
    def render(self) -> Content:
        width = self.size.width
        left = Content.assemble(("◆ roamtui", "bold $accent"), "  ", (self._document_title, "bold"))
        room = width - left.cell_length - 3
        source = self._source
        if room < 8 or source == self._document_title:
            return left.truncate(width, ellipsis=True)
        if len(source) > room:
            source = f"…{source[-(room - 1) :]}"
        gap = width - left.cell_length - Content(source).cell_length
        return Content.assemble(left, " " * max(1, gap), (source, "$muted"))
