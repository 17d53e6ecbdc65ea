"""`HelpDialog`: all keys by scope, and the signs in the outline and in answers."""

from __future__ import annotations

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Input, Static
from typing_extensions import override

from roamtui.tui.actions import ACTIONS, LIST_IDS, SCOPE_TITLES, Action, Keymap, Scope, format_keys, make_bindings
from roamtui.tui.chat.content_view import ContentView, wrap
from roamtui.tui.screens.dialogs import Dialog

_OUTLINE_SIGNS = (
    ("◆ ", "$accent", "open: the model has its text (with a number: open inside)"),
    ("⚑ ", "$warning", "pinned, stays open"),
    ("❝ ", "$warning", "cited in an answer"),
    ("◦ ", "$warning", "read by the model earlier, now closed"),
    ("¶ ", "$warning", "shown in the reader"),
    ("⌕ ", "$warning", "matches the last search (with a number: matches inside)"),
    ("▸ ▾", "$muted", "folded, unfolded (in the outline only)"),
    ("⋯ ", "$muted", "not loaded yet; unfold or open to load"),
    ("✗ ", "$warning", "failed to load; the reader shows why, unfold to retry"),
)
_ANSWER_SIGNS = (
    ("✓ ", "$success", "quote found in that section"),
    ("! ", "$warning", "quote found in another section"),
    ("✗ ", "$error", "quote not found in the text"),
    ("· ", "$muted", "section cited without a quote"),
)
_FOOT = (
    "In a text field, printable keys are text. To rebind a key, use its action id (such as tree.read) in config.toml."
)
_KEYS_WIDTH, _KEYS_WIDTH_NARROW = 23, 13
"""In cells. Width of the column of keys, usually and in a narrow dialog."""
_IDS_WIDTH = max(len(action.id) for action in ACTIONS) + 1
_WORDS_WIDTH_MIN = 30
"""In cells. If the help of a key would get less room, the action ids are left out."""


def _render_legend(width: int) -> Content:
    lines: list[Content] = []
    for title, signs in (("Outline symbols", _OUTLINE_SIGNS), ("Answer symbols", _ANSWER_SIGNS)):
        lines += [Content(), Content.styled(title, "bold $primary")]
        for sign, style, meaning in signs:
            lines += _lay_out_narrow(Content.styled(f"  {sign}", style), Content(meaning), width)
    return Content("\n").join(lines[1:])


class KeyList(ContentView):
    """Lists actions with their keys, and the signs in the outline and in answers."""

    def __init__(self, keys: Keymap, current_scope: Scope) -> None:
        """List `keys`. Those of `current_scope` come first."""
        super().__init__()
        self._keys = keys
        self._current_scope = current_scope
        self._filter_words: list[str] = []

    @override
    def render_content(self, width: int) -> Content:
        lines: list[Content] = []
        for scope in sorted(SCOPE_TITLES, key=lambda scope: scope is not self._current_scope):
            actions = [action for action in self._keys.for_scope(scope) if self._matches_filter(action)]
            if not actions:
                continue
            title = Content.styled(SCOPE_TITLES[scope], "bold $primary")
            lines.append(title + Content.styled(" · current pane", "$muted") if scope is self._current_scope else title)
            for action in actions:
                lines += self._lay_out_action(action, width)
            lines.append(Content())
            if scope is Scope.TREE and not self._filter_words:
                lines += [_render_legend(width), Content()]
        return Content("\n").join(lines[:-1] or [Content("No matching keys")])

    def filter(self, typed: str) -> None:
        """List only actions whose keys, scope, label, help or id contain each typed word."""
        self._filter_words = typed.casefold().split()
        self.invalidate()

    def _matches_filter(self, action: Action) -> bool:
        words = (*format_keys(action.keys), SCOPE_TITLES[action.scope], action.label, action.help, action.synonyms)
        text = " ".join((*words, action.id)).casefold()
        return all(word in text for word in self._filter_words)

    @staticmethod
    def _lay_out_action(action: Action, width: int) -> list[Content]:
        keys = Content.styled("  " + (" ".join(format_keys(action.keys)) or "–"), "bold $accent")
        room = width - _IDS_WIDTH
        if room < _KEYS_WIDTH + _WORDS_WIDTH_MIN:
            return _lay_out_narrow(keys, Content(action.help), width)
        lead = keys.pad_right(_KEYS_WIDTH - keys.cell_length)
        lines = wrap(Content(action.help), room, lead=lead, follow=" " * _KEYS_WIDTH)
        gap = " " * max(1, room + 1 - lines[0].cell_length)
        return [lines[0] + gap + Content.styled(action.id, "$muted"), *lines[1:]]


def _lay_out_narrow(keys: Content, words: Content, width: int) -> list[Content]:
    """Return keys and words side by side, or on separate lines if the keys are long."""
    indent = " " * _KEYS_WIDTH_NARROW
    if keys.cell_length >= _KEYS_WIDTH_NARROW:
        return [keys, *wrap(words, width, lead=indent, follow=indent)]
    lead = keys.pad_right(_KEYS_WIDTH_NARROW - keys.cell_length)
    return wrap(words, width, lead=lead, follow=indent)


class HelpDialog(Dialog[None]):
    """Shows all keys, from the table of actions."""

    AUTO_FOCUS = ""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f1,question_mark,enter", "close", "Close"),
        Binding("slash", "filter", "Filter"),
        Binding("space", "page(1)", "Page down"),
        *make_bindings(Scope.MOVE, only=LIST_IDS),
    ]

    def __init__(self, keys: Keymap, current_scope: Scope) -> None:
        """Show `keys`. Those of `current_scope` come first."""
        super().__init__()
        self._keys = keys
        self._current_scope = current_scope

    @override
    def compose(self) -> ComposeResult:
        with Vertical():
            yield Static(
                Content.assemble(("Keys", "bold $primary"), (" · / to search, esc to close", "$muted")), classes="head"
            )
            yield Input(placeholder="Search keys and actions", select_on_focus=False)
            with VerticalScroll(can_focus=False):
                yield KeyList(self._keys, self._current_scope)
            yield Static(Content(_FOOT), classes="foot")

    @on(Input.Changed)
    def _filter(self, event: Input.Changed) -> None:
        self.query_one(KeyList).filter(event.value)

    @on(Input.Submitted)
    def _go_to_list(self) -> None:
        self.set_focus(None)

    def action_filter(self) -> None:
        self.add_class("-filtering")
        self.query_one(Input).focus()

    @override
    def action_leave(self) -> None:
        """Show all keys again, or if they are not filtered, leave."""
        if self.has_class("-filtering"):
            self.query_one(Input).value = ""
            self.set_focus(None)
            self.remove_class("-filtering")
        else:
            self.dismiss(None)

    def action_close(self) -> None:
        self.dismiss(None)

    def action_move(self, lines: int) -> None:
        self.query_one(VerticalScroll).scroll_relative(y=lines, animate=False)

    def action_page(self, pages: int) -> None:
        self.action_move(pages * max(1, self.query_one(VerticalScroll).size.height - 1))

    def action_first(self) -> None:
        self.query_one(VerticalScroll).scroll_home(animate=False)

    def action_last(self) -> None:
        self.query_one(VerticalScroll).scroll_end(animate=False)
