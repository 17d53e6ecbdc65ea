"""`HelpDialog`: all keys by scope, and the signs in the outline and in answers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import Static
from typing_extensions import override

from roamtui.tui.actions import SCOPE_TITLES, Keymap, Scope, format_keys
from roamtui.tui.chat.content_view import wrap
from roamtui.tui.screens.lists import ListDialog, Row

_SIGNS = {
    "Outline symbols": (
        ("◆ ", "$accent", "open: the model has its text"),
        ("⚑ ", "$warning", "pinned, stays open"),
        ("❝ ", "$warning", "cited in an answer"),
        ("◦ ", "$warning", "read by the model earlier, now closed"),
        ("¶ ", "$warning", "shown in the reader"),
        ("⌕ ", "$warning", "matches the last search"),
        ("▸ ▾", "$muted", "folded, unfolded"),
        ("⋯ ", "$muted", "not loaded yet; unfold or open to load"),
        ("✗ ", "$warning", "failed to load; the reader shows why, unfold to retry"),
    ),
    "Answer symbols": (
        ("✓ ", "$success", "quote found in that section"),
        ("! ", "$warning", "quote found in another section"),
        ("✗ ", "$error", "quote not found in the text"),
        ("· ", "$muted", "section cited without a quote"),
    ),
}
_FOOT = "esc to close. To rebind a key, use its action id (such as tree.read) in config.toml."
_KEYS_WIDTH = 21
"""In cells. Width of the column of keys."""


class HelpDialog(ListDialog[str, None]):
    """Lists all keys, from the table of actions, and the signs."""

    CLEARS_FIRST = True
    BINDINGS: ClassVar[list[BindingType]] = [Binding("f1", "close", "Close")]

    def __init__(self, keys: Keymap, current_scope: Scope | None) -> None:
        """List `keys`. Those of `current_scope` come first."""
        super().__init__("Keys", Static(Content(_FOOT), classes="foot"))
        self._keys = keys
        self._current_scope = current_scope

    @override
    def list_rows(self, typed: str) -> Iterator[Row[str]]:
        """Yield the actions whose keys, scope, help or id contain each typed word, and such signs."""
        words = typed.casefold().split()
        for scope in sorted(SCOPE_TITLES, key=lambda scope: scope is not self._current_scope):
            title = Content.styled(SCOPE_TITLES[scope], "bold $primary")
            if scope is self._current_scope:
                title += Content.styled(" · current pane", "$muted")
            for action in self._keys.for_scope(scope):
                text = " ".join((*format_keys(action.keys), title.plain, action.help, action.synonyms, action.id))
                if all(word in text.casefold() for word in words):
                    keys = Content.styled(" ".join(format_keys(action.keys)) or "–", "bold $accent")
                    meaning = Content.assemble(action.help, (f"  {action.id}", "$muted"))
                    yield Row(action.id, self._lay_out(keys, meaning), title)
            for heading, signs in _SIGNS.items() if scope is Scope.TREE else ():
                for sign, style, explanation in signs:
                    if all(word in f"{heading} {sign} {explanation}".casefold() for word in words):
                        line = self._lay_out(Content.styled(sign, style), Content(explanation))
                        yield Row(explanation, line, Content.styled(heading, "bold $primary"))

    def _lay_out(self, keys: Content, meaning: Content) -> Content:
        lead = keys.pad_right(max(1, _KEYS_WIDTH - keys.cell_length))
        return Content("\n").join(wrap(meaning, self.list.line_width, lead=lead, follow=" " * _KEYS_WIDTH))

    @override
    def choose(self, item: str) -> None:
        self.dismiss(None)

    def action_close(self) -> None:
        self.dismiss(None)
