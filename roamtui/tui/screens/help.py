"""Every key, by where it works."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static
from typing_extensions import override

from roamtui.tui.actions import SCOPE_TITLES, Action, show_key
from roamtui.tui.chat.content_view import ContentView
from roamtui.tui.chat.wrapping import wrap

if TYPE_CHECKING:
    from textual.app import ComposeResult

    from roamtui.tui.keys import Keys

_MARKS = (
    ("◆ ", "$accent", "the model opened it for the conversation"),
    ("◇ ", "$success", "you opened it for the conversation"),
    ("⚑ ", "$warning", "pinned: it stays open"),
    ("❝ ", "$warning", "an answer cites it"),
    ("¶ ", "$warning", "you are reading it"),
    ("⌕ ", "$warning", "the last search found it, or so many sections inside it"),
    ("▸ ▾", "$muted", "folded, unfolded: what the outline shows, and no more"),
)
_KEYS_WIDTH = 23
_KEYS_WIDTH_NARROW = 13
_IDS_WIDTH = 24
_WORDS_WIDTH_MIN = 30
"""Where less is left for what a key does, its name for rebinding is left out."""


class KeyList(ContentView):
    """Lists actions with their keys, and what the signs of the outline mean."""

    def __init__(self, keys: Keys) -> None:
        super().__init__()
        self._keys = keys

    @override
    def lay_out(self, width: int) -> Content:
        lines: list[Content] = []
        for scope, title in SCOPE_TITLES.items():
            lines += [Content.styled(title, "bold $primary")]
            for action in self._keys.within(scope):
                lines += self._lay_out_action(action, width)
            lines.append(Content())
        lines.append(Content.styled("Signs of the outline", "bold $primary"))
        for sign, style, meaning in _MARKS:
            lines += _lay_out_narrow(Content.styled(f"  {sign}", style), Content(meaning), width)
        return Content("\n").join(lines)

    @staticmethod
    def _lay_out_action(action: Action, width: int) -> list[Content]:
        keys = Content.styled("  " + (" ".join(map(show_key, action.keys)) or "–"), "bold $accent")
        room = width - _IDS_WIDTH
        if room < _KEYS_WIDTH + _WORDS_WIDTH_MIN:
            return _lay_out_narrow(keys, Content(action.help), width)
        lead = keys.pad_right(_KEYS_WIDTH - keys.cell_length)
        lines = wrap(Content(action.help), room, lead=lead, follow=" " * _KEYS_WIDTH)
        gap = " " * max(1, room + 1 - lines[0].cell_length)
        return [lines[0] + gap + Content.styled(action.id, "$muted"), *lines[1:]]


def _lay_out_narrow(keys: Content, words: Content, width: int) -> list[Content]:
    """Return keys and words side by side, below one another where there are many keys."""
    indent = " " * _KEYS_WIDTH_NARROW
    if keys.cell_length >= _KEYS_WIDTH_NARROW:
        return [keys, *wrap(words, width, lead=indent, follow=indent)]
    lead = keys.pad_right(_KEYS_WIDTH_NARROW - keys.cell_length)
    return wrap(words, width, lead=lead, follow=indent)


class HelpScreen(ModalScreen[None]):
    """Shows what every key does, made from the table of actions."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,f1,question_mark,enter", "dismiss", "Close"),
        Binding("j,down", "scroll(1)", "Down"),
        Binding("k,up", "scroll(-1)", "Up"),
        Binding("space,pagedown", "page(1)", "Page down"),
        Binding("pageup", "page(-1)", "Page up"),
    ]
    DEFAULT_CSS = """
    HelpScreen {
        align: center middle;
        background: $background 60%;
        & > VerticalScroll {
            width: 104;
            max-width: 94%;
            height: auto;
            max-height: 90%;
            padding: 1 2;
            background: $surface;
            border: round $primary;
            scrollbar-size-vertical: 1;
        }
        & .foot { margin-top: 1; color: $muted; }
    }
    """

    def __init__(self, keys: Keys) -> None:
        super().__init__()
        self._keys = keys

    @override
    def compose(self) -> ComposeResult:
        with VerticalScroll(can_focus=False):
            yield KeyList(self._keys)
            yield Static(
                Content("Names such as tree.read rebind keys in config.toml. esc closes this."), classes="foot"
            )

    def action_scroll(self, lines: int) -> None:
        """Scroll by lines."""
        self.query_one(VerticalScroll).scroll_relative(y=lines, animate=False)

    def action_page(self, pages: int) -> None:
        """Scroll by pages."""
        view = self.query_one(VerticalScroll)
        view.scroll_relative(y=pages * max(1, view.size.height - 1), animate=False)
