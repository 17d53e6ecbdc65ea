"""What every app of this program has: themes, keys in their order, and an end without a traceback."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from rich.text import Text
from textual import events, on
from textual.app import App, ReturnType
from textual.theme import BUILTIN_THEMES
from typing_extensions import override

from roamtui.document.plain import plain_text
from roamtui.locations import find_resource_dir
from roamtui.tui.actions import Scope
from roamtui.tui.idle_collector import IdleCollector
from roamtui.tui.key_order import KeyOrder
from roamtui.tui.keys import build_keys
from roamtui.tui.themes import DEFAULT_THEME, derive_defaults, load_themes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from textual.binding import BindingsMap
    from textual.theme import Theme

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
        loaded = load_themes((find_resource_dir("themes"), *options.themes_dirs))
        self._own_themes = {theme.name: theme for theme in loaded.themes}
        name, unknown = _choose_theme(options.theme, self._own_themes)
        self.set_reactive(App.theme, name)  # before the style sheet is made: a change later would parse it again
        super().__init__()
        self._keys = build_keys(options.keys)
        self._bindings: BindingsMap = self._keys.bindings(Scope.GLOBAL, only={"global.quit"})
        self._key_order = KeyOrder(self, super().on_event)
        self._collector = IdleCollector()
        self.problems = (*self._keys.problems, *loaded.problems, *unknown)
        """What of the configuration could not be used, in sentences."""

    @property
    @override
    def available_themes(self) -> dict[str, Theme]:
        return {**super().available_themes, **self._own_themes}

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


def _choose_theme(wanted: str | None, own: Mapping[str, Theme]) -> tuple[str, tuple[str, ...]]:
    """Return the name of the theme to wear, and a sentence where the wanted one is not there."""
    default = DEFAULT_THEME if DEFAULT_THEME in own else next(iter(BUILTIN_THEMES))
    if wanted is None:
        return default, ()
    if wanted in own or wanted in BUILTIN_THEMES:
        return wanted, ()
    return default, (f'There is no theme "{wanted}". Themes of roamtui are {", ".join(own)}.',)
