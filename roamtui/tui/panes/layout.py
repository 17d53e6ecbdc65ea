"""What of the main screen is visible, and where the tab key leads, by its width, the focus and the mode."""

from __future__ import annotations

from collections.abc import Container

from msgspec import Struct

from roamtui.tui.actions import PANES, Scope

# Widths are in cells.
_TWO_PANES_COLUMNS = 64
"""Minimum width of the terminal for two panes."""
_THREE_PANES_COLUMNS = 150
_TAB_ORDER = (Scope.TREE, Scope.CHAT, Scope.INPUT, Scope.READER)
"""Where the tab key leads, one after the other."""
_FOCUS_MODE_WIDTH = 92
"""Width of the reader in focus mode: 88 characters of text, with padding, margin and scrollbar."""


class PaneLayout(Struct, frozen=True, kw_only=True):
    """The visible panes, and what surrounds them."""

    shown: frozenset[Scope]
    reader_padding: int = 0
    """Cells at each side of the reader."""
    has_question_box: bool = True

    @property
    def is_single(self) -> bool:
        """Whether only one pane is visible."""
        return len(self.shown) == 1

    def list_tabs(self, pane: Scope) -> list[Scope]:
        """List a pane and those that it hides, in order. Beside others, the outline hides none."""
        hides_others = pane is not Scope.TREE or self.is_single
        return [tab for tab in PANES if tab is pane or (hides_others and tab not in self.shown)]


def compute_layout(columns: int, *, active: Scope, main: Scope, is_focus_mode: bool = False) -> PaneLayout:
    """Compute what is visible on so many `columns`.

    `active` is the pane with the focus, or the chat if the question box has it. `main` is the pane next to
    the outline if there is room for one: chat or reader. In focus mode, only the reader is visible.
    """
    if is_focus_mode:
        padding = max(0, columns - _FOCUS_MODE_WIDTH) // 2
        return PaneLayout(shown=frozenset({Scope.READER}), reader_padding=padding, has_question_box=False)
    if columns >= _THREE_PANES_COLUMNS:
        return PaneLayout(shown=frozenset(PANES))
    if columns >= _TWO_PANES_COLUMNS:
        return PaneLayout(shown=frozenset({Scope.TREE, main}))
    return PaneLayout(shown=frozenset({Scope.TREE if active is Scope.TREE else main}))


def find_adjacent(scope: Scope, direction: int, empty: Container[Scope]) -> Scope:
    """Return where the next (1) or previous (-1) step of the tab key leads from a scope, wrapping around.

    Panes that are `empty` are skipped.
    """
    stops = [stop for stop in _TAB_ORDER if stop not in empty]
    current = stops.index(scope) if scope in stops else -direction
    return stops[(current + direction) % len(stops)]
