"""What every app of this program has: themes, keys in their order, and an end without a traceback."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from rich.text import Text
from textual import events, on
from textual.app import App, ReturnType
from typing_extensions import override

from roamtui.document.plain import plain_text
from roamtui.resources import find_resource_dir
from roamtui.tui.actions import Scope
from roamtui.tui.idle_collector import IdleCollector
from roamtui.tui.key_order import KeyOrder
from roamtui.tui.keys import build_keys
from roamtui.tui.themes import DEFAULT_THEME, derive_defaults, load_themes

if TYPE_CHECKING:
    from textual.binding import BindingsMap

    from roamtui.tui.context import TuiOptions

_DEFECT = (
    "roamtui: a defect in roamtui stopped it. The conversation is kept: `--continue` goes on with it. Run it again with"
    " ROAMTUI_DEBUG=1 and report what it says."
)


class BaseApp(App[ReturnType]):
    """Wears a theme of ours, and takes keys one at a time."""

    TITLE = "roamtui"
    CSS = """
    ToastRack { dock: top; align: right top; margin: 2 0 0 0; }
    """

    def __init__(self, options: TuiOptions) -> None:
        super().__init__()
        self._keys = build_keys(options.keys)
        self._bindings: BindingsMap = self._keys.bindings(Scope.GLOBAL, only={"global.quit"})
        self._key_order = KeyOrder(self, super().on_event)
        self._collector = IdleCollector()
        self.problems = (*self._keys.problems, *self._load_themes(options))
        """What of the configuration could not be used, in sentences."""

    def _load_themes(self, options: TuiOptions) -> list[str]:
        loaded = load_themes((find_resource_dir("themes"), *options.themes_dirs))
        problems = list(loaded.problems)
        for theme in loaded.themes:
            self.register_theme(theme)
        name = options.theme or DEFAULT_THEME
        if name not in self.available_themes:
            names = ", ".join(theme.name for theme in loaded.themes)
            problems.append(f'There is no theme "{name}". Themes of roamtui are {names}.')
            name = DEFAULT_THEME
        if name in self.available_themes:
            self.theme = name
        return problems

    @override
    def get_theme_variable_defaults(self) -> dict[str, str]:
        return derive_defaults(self.current_theme)

    @override
    async def on_event(self, event: events.Event) -> None:
        if isinstance(event, events.Key | events.Paste) and not event.is_forwarded:
            self._collector.note_key()
            await self._key_order.add(event)
        else:
            await super().on_event(event)

    @on(KeyOrder.Passed)
    async def _follow_key(self, event: KeyOrder.Passed) -> None:
        await self._key_order.follow(event)

    @override
    def copy_to_clipboard(self, text: str) -> None:
        super().copy_to_clipboard(plain_text(text))

    @override
    def _fatal_error(self) -> None:
        """End with a sentence: a traceback is nothing that a person can use, unless they ask for it."""
        if os.environ.get("ROAMTUI_DEBUG"):
            super()._fatal_error()
            return
        self.bell()
        self._exit_renderables.append(Text(_DEFECT))
        self._close_messages_no_wait()

    def on_mount(self) -> None:
        """Keep collections of garbage out of keypresses."""
        self._collector.start(self)

    async def on_unmount(self) -> None:
        """Leave garbage to Python again."""
        self._collector.stop()

    @override
    async def action_quit(self) -> None:
        """Leave the program."""
        self.exit()
