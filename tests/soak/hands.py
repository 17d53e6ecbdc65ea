"""Hands at the running app, as quick as it takes keys: they wait for what must come, never for time to pass.

Textual's own pilot waits after each key until all is quiet, which takes many times as long as the work itself.
"""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from textual.drivers.headless_driver import HeadlessDriver
from textual.events import Key, Resize
from textual.geometry import Size
from textual.keys import _character_to_key, key_to_character
from textual.pilot import Pilot

from roamtui.agent.agent import Agent
from roamtui.bootstrap import open_library
from roamtui.conversation.conversation import Conversation
from roamtui.conversation.log import ConversationStore
from roamtui.models.base import Model
from roamtui.search.searcher import Searcher
from roamtui.tui.app import RoamApp
from tests.agent.asking import NO_HITS
from tests.fakes.services import app_over, make_options, session_of

_ROUND_SECONDS = 0.01
_ROUNDS_MAX = 20_000


def patch_home(patch: pytest.MonkeyPatch, folder: Path) -> None:
    """Give the app a home below a folder, and no editor, viewer or browser."""
    for name in ("HOME", *(f"XDG_{kind}_HOME" for kind in ("DATA", "CONFIG", "CACHE", "STATE"))):
        patch.setenv(name, str(folder / "home"))
    for name in ("EDITOR", "VISUAL"):
        patch.delenv(name, raising=False)
    patch.setattr("roamtui.tui.app.RoamApp.open_url", lambda *_given, **_named: None)
    patch.setattr("roamtui.tui.reader.document_reader.open_in_viewer", lambda _path: False)


def open_app(
    folder: Path,
    document: Path,
    model: Model,
    examples: tuple[str, ...] = (),
    **services: Any,  # noqa: ANN401 - see `make_options`
) -> RoamApp:
    """Return an app about a document, which it can read again, with its conversations in a folder."""
    library = open_library((str(document),))
    session = Conversation(library, store=ConversationStore(folder / "conversations"))
    agent = Agent(session, model, Searcher(library), NO_HITS)
    reload_library = lambda *_: open_library((str(document),))  # noqa: E731 - it stands for a service
    options = make_options(**services)
    return app_over(session_of(agent, options=options, examples=examples, reload_library=reload_library))


class Hands:
    """Presses keys and resizes the terminal."""

    def __init__(self, pilot: Pilot[None]) -> None:
        assert isinstance(pilot.app, RoamApp)
        self._pilot = pilot
        self._app = pilot.app

    async def press(self, *keys: str) -> None:
        """Type keys one right after the other, and wait until the last one is done with."""
        for key in keys:
            name = _character_to_key(key) if len(key) == 1 else key
            self._app.post_message(Key(name, key if len(key) == 1 else key_to_character(key)))
        await self.rest()
        await self.until(asyncio.ensure_future(self._app.key_queue.waiting.join()).done)
        await self.rest()

    async def resize(self, width: int, height: int) -> None:
        """Give the terminal another size, and wait until the app has seen it."""
        size = Size(width, height)
        driver = self._app._driver
        assert isinstance(driver, HeadlessDriver)
        driver._size = size
        self._app.post_message(Resize(size, size))
        await self.until(lambda: self._app.screen.size == size)

    async def rest(self) -> None:
        """Let the app do what it was just told to: a message goes up to the app and down again."""
        await self._pilot.pause(0)
        await self._pilot.pause(0)

    async def until(
        self, is_met: Callable[[], bool], rounds_max: int = _ROUNDS_MAX, tell: Callable[[], str] = str
    ) -> None:
        """Let the app and its threads work until a condition is met, or the app has ended."""
        for _ in range(rounds_max):
            if is_met() or self._app._exit:
                return
            if self._app._exception is not None:
                raise self._app._exception
            await self._pilot.pause(_ROUND_SECONDS)
        assert is_met(), tell()
