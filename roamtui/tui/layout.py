"""Which panes are on the screen, for a width and for what the person looks at."""

from __future__ import annotations

from enum import StrEnum

TWO_PANES_COLUMNS = 64
THREE_PANES_COLUMNS = 150
HEADER_ROWS = 22
"""Rows from which the header and the line of hints are worth theirs."""


class Pane(StrEnum):
    """A part of the main screen."""

    TREE = "tree"
    CHAT = "chat"
    READER = "reader"


PANE_TITLES = {Pane.TREE: (1, "Outline"), Pane.CHAT: (2, "Conversation"), Pane.READER: (3, "Reader")}
"""The key that goes to each pane by default, and its name."""


def choose_panes(columns: int, *, active: Pane, main: Pane) -> frozenset[Pane]:
    """Return the panes to show.

    Args:
        columns: Width of the terminal.
        active: Where the person is.
        main: What stands beside the outline where there is room for one: chat or reader.
    """
    if columns >= THREE_PANES_COLUMNS:
        return frozenset(Pane)
    if columns >= TWO_PANES_COLUMNS:
        return frozenset({Pane.TREE, main})
    return frozenset({Pane.TREE if active is Pane.TREE else main})
