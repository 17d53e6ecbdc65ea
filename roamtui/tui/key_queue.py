"""`KeyQueue`: handles one key at a time, so that each takes effect before the next.

Textual sends each key to the widget that has the focus when the key arrives. Keys may arrive together, as
over a slow connection. Then the letters after `/` would be commands of the pane instead of a search: `e`
would start an editor.
"""

import asyncio
import gc
import math
from collections.abc import Awaitable, Callable
from contextlib import suppress
from time import monotonic

from textual import events
from textual.app import App, ScreenStackError
from textual.dom import DOMNode
from textual.widgets import Input, TextArea
from textual.worker import WorkerError

from roamtui.sanitiser import sanitise_paste

TYPING_SECONDS = 1.0
"""People who type seldom pause longer than this between two keys."""
LOADING = "loading"
"""The group of the workers that load the list of a screen."""
_WAIT_SECONDS_MAX = 1.0
"""Time to wait for a widget to handle a key, and for a list to load. A removed widget never answers."""
_TYPED_AHEAD_SECONDS = 0.5
"""Keys that arrive this soon were typed before the app took over the terminal, so Enter is a line feed."""
_PAUSE_SECONDS = 0.5
"""After a pause of this length, no key is expected soon, so there is time to collect garbage."""
_START_STEP_SECONDS = 0.01
_START_STEPS_MAX = 200

TypedEvent = events.Key | events.Paste


class KeyQueue:
    """Holds typed events back until the previous one is handled."""

    def __init__(self, app: App[None], forward: Callable[[TypedEvent], Awaitable[None]]) -> None:
        """Send each event to the focused widget with `forward` when its turn has come."""
        self._app = app
        self._forward = forward
        self._shown_at = math.inf
        """When the first widget could take keys."""
        self.typed_at = monotonic()
        """When a text field last got a key, or when the app was made."""
        self.waiting = asyncio.Queue[TypedEvent]()
        """The typed events that are not handled yet."""

    def put(self, event: TypedEvent) -> None:
        """Queue an event, to be handled after all earlier ones."""
        if isinstance(event, events.Paste):
            event.text = sanitise_paste(event.text)
        elif event.key == "ctrl+j" and monotonic() < self._shown_at + _TYPED_AHEAD_SECONDS:
            event = events.Key("enter", "\r")
        elif event.key.startswith("alt+"):
            event.character = None  # else a text field would type it, though a person may have bound it
        self.waiting.put_nowait(event)

    async def run(self) -> None:
        """Handle events until the app ends."""
        for _ in range(_START_STEPS_MAX):  # until a widget can take what was typed during the start
            if self._app.focused is not None:
                break
            await asyncio.sleep(_START_STEP_SECONDS)
        self._shown_at = monotonic()
        # Full collections are rare, because each delays a key by 20 to 60 ms.
        gc.set_threshold(700, 10, 200)
        with suppress(ScreenStackError):  # the app is ending
            while True:
                # if no event comes soon, there is time to collect garbage
                collection = asyncio.get_running_loop().call_later(_PAUSE_SECONDS, gc.collect)
                event = await self.waiting.get()
                collection.cancel()
                target = self._app.focused or self._app.screen
                if isinstance(target, Input | TextArea):
                    self.typed_at = monotonic()
                await self._forward(event)
                # First wait for the widget that got the key, then for the one that has the focus now.
                await _wait_until_idle(target)
                await _wait_until_idle(self._app.focused or self._app.screen)
                await self._wait_until_loaded()
                self.waiting.task_done()

    async def _wait_until_loaded(self) -> None:
        """Wait for the list of the screen on top, because keys act on the item under its cursor."""
        screen = self._app.screen
        loading = [each.wait() for each in self._app.workers if (each.group, each.node) == (LOADING, screen)]
        if not loading:  # as for nearly all keys
            return
        with suppress(TimeoutError, WorkerError):
            await asyncio.wait_for(asyncio.shield(asyncio.gather(*loading)), _WAIT_SECONDS_MAX)


async def _wait_until_idle(target: DOMNode) -> None:
    """Wait until a widget and its ancestors have handled all messages sent to them so far."""
    for node in target.ancestors_with_self:
        is_idle = asyncio.Event()
        if node.call_later(is_idle.set):
            with suppress(TimeoutError):
                await asyncio.wait_for(is_idle.wait(), _WAIT_SECONDS_MAX)
