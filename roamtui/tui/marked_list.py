"""`MarkedList`: a list whose chosen line has a sign before it, so that it is seen without colour and without focus."""

from __future__ import annotations

from collections.abc import Sequence

from textual import on
from textual.content import Content
from textual.widgets import OptionList
from textual.widgets.option_list import Option

_SIGN = Content.styled("› ", "bold $secondary")
_GAP = Content("  ")
SIGN_WIDTH = 2
"""Cells that the sign takes from each line."""


class MarkedList(OptionList):
    """Lists content; what cannot be chosen is a heading."""

    DEFAULT_CSS = """
    MarkedList {
        & > .option-list--option-highlighted, &:focus > .option-list--option-highlighted {
            background: $foreground 12%;
            color: $foreground;
            text-style: none;
        }
        & > .option-list--option-disabled { color: $muted; text-style: bold; }
    }
    """

    def __init__(self) -> None:
        super().__init__()
        self._contents: list[Content] = []
        self._signed: int | None = None

    def show_lines(self, lines: Sequence[Content], *, headings: Sequence[int] = (), chosen: int | None) -> None:
        """List `lines` in place of what there was, one of them chosen.

        Args:
            lines: Each may have several lines of its own.
            headings: Places of those that cannot be chosen.
            chosen: Place of the one that is, None for none.
        """
        self._contents = list(lines)
        self._signed = chosen  # at once: a line that changes has all of them measured again
        self.clear_options()
        skipped = frozenset(headings)
        signs = [_SIGN if place == chosen else _GAP for place in range(len(lines))]
        drawn = [line if place in skipped else _lead(line, signs[place]) for place, line in enumerate(lines)]
        self.add_options([Option(line, disabled=place in skipped) for place, line in enumerate(drawn)])
        self.highlighted = chosen

    def change_line(self, place: int, line: Content) -> None:
        """Show another content on a line."""
        self._contents[place] = line
        self.replace_option_prompt_at_index(place, _lead(line, _SIGN if place == self._signed else _GAP))

    @on(OptionList.OptionHighlighted)
    def _follow(self, event: OptionList.OptionHighlighted) -> None:
        if self.highlighted == event.option_index:
            self._sign(event.option_index)

    def _sign(self, place: int | None) -> None:
        before, self._signed = self._signed, place
        for changed in {before, place} - {None}:
            if changed is not None and changed < len(self._contents):
                self.change_line(changed, self._contents[changed])


def _lead(line: Content, sign: Content) -> Content:
    first, *rest = line.split("\n", allow_blank=True) or [line]
    return Content("\n").join([sign + first, *(_GAP + further for further in rest)])
