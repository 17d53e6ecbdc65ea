"""The terminal app: themes, keys, command palette, and the one screen that all else lies over."""

from __future__ import annotations

import gc
import os
from functools import partial
from typing import TYPE_CHECKING

from rich.text import Text
from textual import events, on
from textual.app import App, SystemCommand
from typing_extensions import override

from roamtui.document.plain import plain_text
from roamtui.resources import find_resource_dir
from roamtui.tui.actions import SCOPE_TITLES, Action, Scope, show_key
from roamtui.tui.context import FirstContext
from roamtui.tui.idle_collector import IdleCollector
from roamtui.tui.key_order import KeyOrder
from roamtui.tui.keys import build_keys
from roamtui.tui.screens.main import MainScreen
from roamtui.tui.themes import DEFAULT_THEME, derive_defaults, load_themes

if TYPE_CHECKING:
    from collections.abc import Iterable

    from textual.binding import BindingsMap
    from textual.screen import Screen

    from roamtui.tui.context import AppContext


_DEFECT = (
    "roamtui: a defect in roamtui stopped it. The conversation is kept: `--continue` goes on with it. Run it again with"
    " ROAMTUI_DEBUG=1 and report what it says."
)


class RoamApp(App[None]):
    """Asks one document, in one conversation."""

    TITLE = "roamtui"
    ENABLE_COMMAND_PALETTE = True
    CSS = """
    ToastRack { dock: top; align: right top; margin: 2 0 0 0; }
    """

    def __init__(self, context: AppContext | FirstContext) -> None:
        super().__init__()
        self._first = context if isinstance(context, FirstContext) else FirstContext.of(context)
        self._keys = build_keys(self._first.options.keys)
        self._bindings: BindingsMap = self._keys.bindings(Scope.GLOBAL, only={"global.quit"})
        self._key_order = KeyOrder(self, super().on_event)
        self._collector = IdleCollector()
        problems = [*self._keys.problems, *self._load_themes()]
        self.main = MainScreen(self._first, self._keys, tuple(problems))
        """The screen that all else lies over."""

    @property
    def app_context(self) -> AppContext:
        """Everything that the app shows and drives."""
        return self._first.whole

    def _load_themes(self) -> list[str]:
        options = self._first.options
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
    def get_default_screen(self) -> Screen[None]:
        return self.main

    @override
    def get_theme_variable_defaults(self) -> dict[str, str]:
        return derive_defaults(self.current_theme)

    @override
    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        if screen is not self.main:
            return
        for action in self._keys.actions:
            if action.in_palette:
                keys = " ".join(show_key(key) for key in action.keys)
                help_text = f"{action.help}  ({keys})" if keys else action.help
                yield SystemCommand(_name_command(action), help_text, partial(self.main.run_chosen, action))

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

    def on_app_focus(self) -> None:
        """Look at the document on disk, which may have been edited meanwhile."""
        self.main.look_at_source()

    async def on_unmount(self) -> None:
        """Let go of what the model holds."""
        self._collector.stop()
        if self._first.is_whole:
            await self.app_context.agent.model.close()

    @override
    async def action_quit(self) -> None:
        """Leave the program."""
        self.exit()


def _name_command(action: Action) -> str:
    if action.scope is Scope.GLOBAL:
        return action.label
    return f"{SCOPE_TITLES[action.scope]}: {action.label}"


def run_app(first: FirstContext) -> int:
    """Show the app until the person leaves it, and return the exit status."""
    app = RoamApp(first)
    gc.freeze()  # a large document is never garbage: without it each full collection would take as long as a keypress
    app.run()
    if first.is_whole:
        first.whole.agent.session.save_now()
    return app.return_code or 0
