"""Which panes show."""

from __future__ import annotations

import pytest

from roamtui.tui.panes.pane import Pane
from roamtui.tui.panes.pane_switcher import choose_panes

TREE, CHAT, READER = Pane.TREE, Pane.CHAT, Pane.READER


@pytest.mark.parametrize(
    ("columns", "active", "main", "shown"),
    [
        (150, TREE, CHAT, {TREE, CHAT, READER}),
        (149, TREE, CHAT, {TREE, CHAT}),
        (149, READER, READER, {TREE, READER}),
        (64, CHAT, READER, {TREE, READER}),
        (63, TREE, READER, {TREE}),
        (63, CHAT, CHAT, {CHAT}),
        (63, CHAT, READER, {READER}),
        (20, READER, READER, {READER}),
    ],
)
def test_panes_fit_the_width(columns: int, active: Pane, main: Pane, shown: set[Pane]) -> None:
    assert choose_panes(columns, active=active, main=main) == shown
