"""The terminal app: command palette, and the one screen that all else lies over."""

from __future__ import annotations

import gc
from collections.abc import Iterable
from functools import partial

from textual.app import SystemCommand
from textual.screen import Screen
from typing_extensions import override

from roamtui.tui.actions import SCOPE_TITLES, Action, Scope, show_key
from roamtui.tui.base_app import BaseApp
from roamtui.tui.context import AppContext, FirstContext
from roamtui.tui.screens.main import MainScreen


class RoamApp(BaseApp[None]):
    """Asks one document, in one conversation."""

    def __init__(self, context: AppContext | FirstContext) -> None:
        self._first = context if isinstance(context, FirstContext) else FirstContext.of(context)
        super().__init__(self._first.options)
        self.use_command_palette = True
        self.main = MainScreen(self._first, self._keys, self.problems)
        """The screen that all else lies over."""

    @property
    def app_context(self) -> AppContext:
        """Everything that the app shows and drives."""
        return self._first.whole

    @override
    def get_default_screen(self) -> Screen[None]:
        return self.main

    @override
    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        if screen is not self.main:
            return
        for action in self._keys.actions:
            if action.in_palette:
                keys = " ".join(show_key(key) for key in action.keys)
                help_text = f"{action.help}  ({keys})" if keys else action.help
                yield SystemCommand(_name_command(action), help_text, partial(self.main.run_chosen, action))

    def on_app_focus(self) -> None:
        """Look at the document on disk, which may have been edited meanwhile."""
        self.main.look_at_source()

    async def on_unmount(self) -> None:
        """Let go of what the model holds."""
        if self._first.is_whole:
            await self.app_context.agent.model.close()


def _name_command(action: Action) -> str:
    if action.scope is Scope.GLOBAL:
        return action.label
    return f"{SCOPE_TITLES[action.scope]}: {action.label}"


def run_app(first: FirstContext) -> int:
    """Show the app until the person leaves it, and return the exit status."""
    app = RoamApp(first)
    gc.freeze()  # a large document is never garbage: without it each full collection would take as long as a keypress
    app.run_to_end()
    if first.is_whole:
        first.whole.agent.session.save_now()
    return app.return_code or 0
