"""A sentence that the program itself says in the conversation."""

from __future__ import annotations

from enum import StrEnum

from textual.content import Content
from typing_extensions import override

from roamtui.document.plain import plain_text
from roamtui.tui.chat.content_view import ContentView
from roamtui.tui.chat.wrapping import wrap


class NoticeKind(StrEnum):
    """How much a notice matters."""

    NOTE = "note"
    WARNING = "warning"
    ERROR = "error"


_LOOKS = {
    NoticeKind.NOTE: ("·", "$muted"),
    NoticeKind.WARNING: ("!", "$warning"),
    NoticeKind.ERROR: ("✗", "$error"),
}


class NoticeView(ContentView):
    """Shows a notice with a sign, so that it is known without colour too."""

    DEFAULT_CSS = """
    NoticeView { padding: 0 1; margin: 1 0; }
    """

    def __init__(self, text: str, kind: NoticeKind = NoticeKind.NOTE) -> None:
        super().__init__()
        self.text = text
        """What it says."""
        self.kind = kind
        """How much it matters."""

    @override
    def lay_out(self, width: int) -> Content:
        sign, style = _LOOKS[self.kind]
        text = Content.styled(plain_text(self.text), style)
        return Content("\n").join(wrap(text, width, lead=Content.styled(f"{sign} ", style), follow="  "))
