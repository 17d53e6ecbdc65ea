"""Handles one typed key at a time, so that each key takes effect before the next, however fast they come.

Textual sends each key to the widget that has the focus when the key arrives. Of keys that arrive together, as over a
slow connection, the letters after `/` would be commands of the pane instead of a search: `e` would start an editor.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

from textual import events
from textual.app import App, ScreenStackError
from textual.dom import DOMNode

_WAIT_SECONDS_MAX = 1.0
"""A widget that is removed does not answer. Then the next key is handled after this time."""

TypedEvent = events.Key | events.Paste


async def handle_typed(
    app: App[None], typed: asyncio.Queue[TypedEvent], forward: Callable[[TypedEvent], Awaitable[None]]
) -> None:
    """Send what was typed to the focused widgets with `forward`, until the app ends."""
    with suppress(ScreenStackError):  # the app is ending
        while True:
            event = await typed.get()
            target = app.focused or app.screen
            await forward(event)
            await _wait_until_idle(target)
            await _wait_until_idle(app.focused or app.screen)  # it gets the next key
            typed.task_done()


async def _wait_until_idle(target: DOMNode) -> None:
    """Wait until a widget and its ancestors, to which keys bubble, have handled all that they were sent so far."""
    for node in target.ancestors_with_self:
        is_idle = asyncio.Event()
        if node.call_later(is_idle.set):
            with suppress(TimeoutError):
                await asyncio.wait_for(is_idle.wait(), _WAIT_SECONDS_MAX)
