"""What the boxes above the main screen have in common: how they look, and how a person leaves them."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.screen import ModalScreen, ScreenResultType
from textual.widgets import OptionList


class Overlay(ModalScreen[ScreenResultType]):
    """A box in the middle; what stands behind it shows through."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", "Leave")]
    DEFAULT_CSS = """
    Overlay {
        align: center middle;
        background: $background 60%;
        & > Vertical {
            width: 64;
            max-width: 94%;
            height: auto;
            max-height: 80%;
            padding: 1 2;
            background: $panel;
            border: round $primary;
        }
        & Input {
            height: 1;
            margin: 1 0;
            border: none;
            padding: 0 1;
            background: $background;
            &:focus { border: none; background-tint: $panel 0%; }
        }
        & OptionList {
            border: none;
            padding: 0;
            background: $panel;
            scrollbar-size-vertical: 1;
            &:focus { border: none; background-tint: $panel 0%; }
        }
        & .foot { color: $muted; }
    }
    """

    def action_leave(self) -> None:
        """Leave without a result."""
        self.dismiss(None)


class ListOverlay(Overlay[ScreenResultType]):
    """A box with one list, whose cursor goes by `j` and `k` too."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("j", "move(1)", "Down"), Binding("k", "move(-1)", "Up")]

    def action_move(self, lines: int) -> None:
        """Go up or down."""
        options = self.query_one(OptionList)
        if lines > 0:
            options.action_cursor_down()
        else:
            options.action_cursor_up()
