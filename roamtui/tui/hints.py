"""Keys with what they do, as lines of hints show them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.content import Content
from typing_extensions import override

from roamtui.tui.actions import Scope, show_key
from roamtui.tui.chat.content_view import ContentView

if TYPE_CHECKING:
    from roamtui.tui.keys import Keys

_GAP = "  "


def draw_hint(key: str, words: str) -> Content:
    """Return a key, as it is written on the screen, and what it does."""
    return Content.assemble((key, "bold $accent"), " ", words)


class ScreenHints(ContentView):
    """Lists the keys of a screen of its own; a key stands on one line with what it does."""

    DEFAULT_CSS = """
    ScreenHints { color: $muted; }
    """

    def __init__(self, keys: Keys, scope: Scope) -> None:
        super().__init__()
        self._hints = [
            draw_hint(show_key(action.keys[0]), action.label) for action in keys.within(scope) if action.keys
        ]
        self._hints.append(draw_hint("esc", "leave"))

    @override
    def lay_out(self, width: int) -> Content:
        lines: list[Content] = []
        for hint in self._hints:
            longer = lines[-1] + _GAP + hint if lines else hint
            if lines and longer.cell_length <= width:
                lines[-1] = longer
            else:
                lines.append(hint)
        return Content("\n").join(lines)
