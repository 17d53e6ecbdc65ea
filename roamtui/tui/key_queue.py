"""`KeyQueue`: handles one key at a time, so that each key takes effect before the next, however fast they come.

Textual sends each key to the widget that has the focus when the key arrives, and looks for its binding after the key
has bubbled through all parents. If several keys arrive together, as over a slow connection or from a program, later
keys would go to a widget that an earlier key is about to leave.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any

from textual import events
from textual.app import App
from textual.message import Message
from textual.message_pump import MessagePump
from textual.timer import Timer

_ROUNDS = 2
"""Number of rounds until a key is handled. The first ends when the key, or a marker sent after it, has bubbled up to
the app. The second ends when another marker has, which is sent to the widget that has the focus by that time."""
_CHECK_SECONDS = 0.3
"""Interval for checking the marker, which is lost if its widget is removed."""
_CHECKS_MAX = 10
"""Maximum number of checks. Then the next key is handled in any case."""

TypedEvent = events.Key | events.Paste
ForwardEvent = Callable[[TypedEvent], Awaitable[None]]
"""Sends an event to the focused widget."""


class KeyQueue:
    """A queue that holds typed events back until the previous one is handled."""

    class HandledMarker(Message):
        """A message that is sent to a widget after a key. When it reaches the app, the widget has handled the key."""

        verbose = True

        def __init__(self, number: int) -> None:
            super().__init__()
            self.number = number

    def __init__(self, app: App[Any], forward: ForwardEvent) -> None:
        """Handle each event with `forward` when its turn has come."""
        self._app = app
        self._forward = forward
        self._waiting: deque[TypedEvent] = deque()
        self._event_number = 0
        self._rounds_left = 0
        """Rounds until the current event is handled. 0 if no event is being handled."""
        self._is_marked = False
        """Whether a marker follows the current event."""
        self._current: TypedEvent | None = None
        self._marked_widget: MessagePump = app
        """The widget that receives the marker."""
        self._checks = 0
        self._timer: Timer | None = None

    async def add(self, event: TypedEvent) -> None:
        """Handle an event once all earlier events are handled. While the app exits, drop it."""
        if not self._app.screen_stack:
            return
        if not self._rounds_left:
            await self._handle(event)
            return
        self._waiting.append(event)
        if self._timer is None:
            self._start_watchdog()
        if not (self._is_marked or self._send_marker()):
            await self._handle_next()

    async def on_marker_arrived(self, marker: HandledMarker) -> None:
        """Continue if the marker of the current key has arrived. Ignore older markers."""
        if marker.number == self._event_number and self._rounds_left and self._app.screen_stack:
            await self._end_round()

    async def on_key_bubbled(self, event: TypedEvent) -> None:
        """Treat a key that has bubbled up to the app as its own marker."""
        if event is self._current and self._rounds_left == _ROUNDS and not self._is_marked:
            await self._end_round()

    async def _handle(self, event: TypedEvent) -> None:
        """Handle an event. If other events wait, send its marker right after it."""
        self._rounds_left = _ROUNDS
        self._event_number += 1
        self._is_marked = False
        self._marked_widget = self._target
        self._current = event
        await self._forward(event)
        if self._waiting and not self._send_marker():
            await self._handle_next()

    async def _end_round(self) -> None:
        self._rounds_left -= 1
        self._marked_widget = self._target
        if not (self._rounds_left and self._send_marker()):
            await self._handle_next()

    def _send_marker(self) -> bool:
        self._is_marked = True
        return self._marked_widget.post_message(self.HandledMarker(self._event_number))

    def _start_watchdog(self) -> None:
        self._checks = 0
        self._timer = self._app.set_interval(_CHECK_SECONDS, self._check_marker)

    async def _check_marker(self) -> None:
        """Continue if the marker was lost. If its widget still exists, the marker is only late."""
        self._checks += 1
        if self._checks == _CHECKS_MAX or not (self._marked_widget.is_running and self._marked_widget.is_attached):
            await self._handle_next()

    async def _handle_next(self) -> None:
        self._rounds_left = 0
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        if self._waiting:
            event = self._waiting.popleft()
            if self._waiting:
                self._start_watchdog()
            await self._handle(event)

    @property
    def _target(self) -> MessagePump:
        return self._app.focused or self._app.screen
