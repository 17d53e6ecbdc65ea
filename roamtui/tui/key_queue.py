"""`KeyQueue`: handles one key at a time, so that each key takes effect before the next, however fast they come.

Textual sends each key to the widget that has the focus when the key arrives. Of keys that arrive together, as over a
slow connection, the letters after `/` would be commands of the pane instead of a search: `e` would start an editor.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

from textual import events
from textual.app import App
from textual.message import Message
from textual.message_pump import MessagePump

_WAIT_SECONDS_MAX = 1.0
"""A marker is lost if its widget is removed. Then the next key is handled after this time."""

TypedEvent = events.Key | events.Paste


class KeyQueue:
    """Holds typed events back until the previous one is handled."""

    class HandledMarker(Message):
        """A message that follows a key through all parents. When it reaches the app, they have handled the key."""

        verbose = True

        def __init__(self) -> None:
            super().__init__()
            self.has_arrived = asyncio.Event()

    def __init__(self, app: App[Any], forward: Callable[[TypedEvent], Awaitable[None]]) -> None:
        """Send each event to the focused widget with `forward` when its turn has come."""
        self._app = app
        self._forward = forward
        self.turn = asyncio.Lock()
        """Held while an event is handled."""

    def add(self, event: TypedEvent) -> None:
        """Handle an event once all earlier events are handled."""
        self._app.run_worker(self._handle(event), group="keys", exit_on_error=False)

    async def _handle(self, event: TypedEvent) -> None:
        async with self.turn:
            target = self._target
            await self._forward(event)
            # One marker follows the key, and one goes to the widget that has the focus after it.
            for _ in range(2):
                marker = self.HandledMarker()
                if target.post_message(marker):
                    with suppress(TimeoutError):
                        await asyncio.wait_for(marker.has_arrived.wait(), _WAIT_SECONDS_MAX)
                target = self._target

    @property
    def _target(self) -> MessagePump:
        is_ending = not self._app.screen_stack
        return self._app if is_ending else self._app.focused or self._app.screen
