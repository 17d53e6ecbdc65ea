"""Follow mode: the reader shows what the cursor is on, or what the model opened last."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from roamtui.tui.layout import Pane

if TYPE_CHECKING:
    from textual.timer import Timer
    from textual.widget import Widget

    from roamtui.tui.screens.pane_switch import PaneSwitch
    from roamtui.tui.screens.reading import Reading

_REST_SECONDS = 0.06
"""A cursor that moves on sooner is on its way somewhere else."""


class Following:
    """Brings sections into the reader by itself, while a person wants that."""

    def __init__(self, owner: Widget, reading: Reading, switch: PaneSwitch) -> None:
        """Show by `reading`, with timers of `owner`."""
        self._owner = owner
        self._reading = reading
        self._switch = switch
        self._is_on = False
        self._timer: Timer | None = None

    def toggle(self) -> bool:
        """Begin or end following; return whether it goes on."""
        self._is_on = not self._is_on
        self._stop()
        return self._is_on

    def note_cursor(self, section_id: str, *, has_focus: bool) -> None:
        """Show where the cursor comes to rest; a cursor that is moved from elsewhere is not followed."""
        if self._is_on and has_focus:
            self._stop()
            self._timer = self._owner.set_timer(_REST_SECONDS, partial(self._reading.read_beside, section_id))

    def note_opened(self, section_id: str) -> None:
        """Show what the model opened, where the reader takes nothing else's place."""
        if self._is_on and Pane.READER in self._switch.visible:
            self._stop()
            self._reading.read_beside(section_id, is_noted=False)

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
