"""A question as it stands in the conversation."""

from __future__ import annotations

from textual.content import Content
from typing_extensions import override

from roamtui.document.plain import plain_text, shorten
from roamtui.tui.chat.content_view import ContentView
from roamtui.tui.chat.wrapping import wrap

_LENGTH_MAX = 4_000
"""Characters shown; a pasted page would bury its own answer."""
_PROMPT = Content.styled("❯ ", "bold $secondary")


class QuestionView(ContentView):
    """What the person asked."""

    DEFAULT_CSS = """
    QuestionView { background: $surface; padding: 0 1; }
    """

    def __init__(self, question: str) -> None:
        super().__init__()
        self._question = Content.styled(shorten(plain_text(question), _LENGTH_MAX), "bold")

    @override
    def lay_out(self, width: int) -> Content:
        return Content("\n").join(wrap(self._question, width, lead=_PROMPT, follow="  "))
