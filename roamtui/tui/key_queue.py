"""`KeyQueue`: one key at a time, so that what a key changes holds for the next one however quickly they were typed.

Textual hands each key to whatever has the focus when it comes in, and looks for its binding once it has gone up
through all parents. Of keys that come in together, as over a slow line or from a program that types, the later ones
would thus go to a widget that an earlier one was to leave.
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
"""The first follows the key up to the app, which looks for its binding; the second follows what that set off."""
_PATIENCE_SECONDS = 0.3
"""A mark is lost where its widget goes away meanwhile: it is looked after at this interval."""
_LOOKS_MAX = 10
"""Then the next key waits no longer, whatever became of the one before."""

TypedEvent = events.Key | events.Paste
TakeEvent = Callable[[TypedEvent], Awaitable[None]]


class KeyQueue:
    """Holds back typed events until the one before is done with."""

    class Marker(Message):
        """Goes the way of a key, behind it: where it arrives, the key has been."""

        verbose = True

        def __init__(self, number: int) -> None:
            super().__init__()
            self.number = number

    def __init__(self, app: App[Any], take: TakeEvent) -> None:
        """Give each event to `take`, which forwards it to what has the focus."""
        self._app = app
        self._take = take
        self._waiting: deque[TypedEvent] = deque()
        self._number = 0
        self._rounds_left = 0
        self._is_marked = False
        self._taken: TypedEvent | None = None
        self._marked: MessagePump = app
        self._looks = 0
        self._timer: Timer | None = None

    async def add(self, event: TypedEvent) -> None:
        """Take an event at once, or when the ones before it are done with; none while the app ends."""
        if not self._app.screen_stack:
            return
        if not self._rounds_left:
            await self._begin(event)
            return
        self._waiting.append(event)
        if self._timer is None:
            self._start_watchdog()
        if not (self._is_marked or self._send_mark()):
            await self._take_next()

    async def follow(self, passed: Marker) -> None:
        """Go on where a mark has arrived."""
        if passed.number == self._number and self._rounds_left and self._app.screen_stack:
            await self._end_round()

    async def on_key_bubbled(self, event: TypedEvent) -> None:
        """Take a key that has come up to the app for its own mark."""
        if event is self._taken and self._rounds_left == _ROUNDS and not self._is_marked:
            await self._end_round()

    async def _begin(self, event: TypedEvent) -> None:
        """Take an event; where others wait, its mark is right behind it."""
        self._rounds_left = _ROUNDS
        self._number += 1
        self._is_marked = False
        self._marked = self._target
        self._taken = event
        await self._take(event)
        if self._waiting and not self._send_mark():
            await self._take_next()

    async def _end_round(self) -> None:
        self._rounds_left -= 1
        self._marked = self._target
        if not (self._rounds_left and self._send_mark()):
            await self._take_next()

    def _send_mark(self) -> bool:
        self._is_marked = True
        return self._marked.post_message(self.Marker(self._number))

    def _start_watchdog(self) -> None:
        self._looks = 0
        self._timer = self._app.set_interval(_PATIENCE_SECONDS, self._check_marker)

    async def _check_marker(self) -> None:
        """Go on where the mark was lost; a widget that is still there is only slow."""
        self._looks += 1
        if self._looks == _LOOKS_MAX or not (self._marked.is_running and self._marked.is_attached):
            await self._take_next()

    async def _take_next(self) -> None:
        """Take the next event, if there is one."""
        self._rounds_left = 0
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        if self._waiting:
            event = self._waiting.popleft()
            if self._waiting:
                self._start_watchdog()
            await self._begin(event)

    @property
    def _target(self) -> MessagePump:
        return self._app.focused or self._app.screen
