"""What every app of this program has: themes, keys in their order, and failures in a sentence."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Mapping

from rich.console import Console
from textual import events, on
from textual.app import App, ReturnType
from textual.theme import BUILTIN_THEMES, Theme
from typing_extensions import override

from roamtui.document.plain import plain_text
from roamtui.errors import RoamtuiError
from roamtui.locations import find_resource_dir
from roamtui.tui.actions import Scope
from roamtui.tui.context import TuiOptions
from roamtui.tui.key_order import KeyOrder
from roamtui.tui.keys import bind, build_keys
from roamtui.tui.themes import DEFAULT_THEME, derive_defaults, load_themes

_DEFECT = (
    "roamtui: a defect in roamtui stopped it. The conversation is kept: `--continue` goes on with it. Run it again with"
    " ROAMTUI_DEBUG=1 and report what it says.\n"
)


class BaseApp(App[ReturnType], inherit_bindings=False):
    """Wears a theme of ours, and takes keys one at a time."""

    TITLE = "roamtui"
    ENABLE_COMMAND_PALETTE = False  # its key is one of ours
    BINDINGS = bind(Scope.GLOBAL, only={"global.quit"})
    CSS = """
    ToastRack { dock: top; align: right top; margin: 2 0 0 0; }
    """

    def __init__(self, options: TuiOptions) -> None:
        loaded = load_themes((find_resource_dir("themes"), *options.themes_dirs))
        own = {theme.name: theme for theme in loaded.themes}
        self._themes = {**BUILTIN_THEMES, **own}  # made once: each key asks for it many times
        name, unknown = _choose_theme(options.theme, own)
        self.set_reactive(App.theme, name)  # before the style sheet is made: a change later would parse it again
        super().__init__()
        if not _is_debugging():
            self.error_console = Console(file=io.StringIO())  # for a traceback, which nobody can use
        self._keys = build_keys(options.keys)
        self._key_order = KeyOrder(self, super().on_event)
        self.problems = (*self._keys.problems, *loaded.problems, *unknown)
        """What of the configuration could not be used, in sentences."""

    @property
    @override
    def available_themes(self) -> dict[str, Theme]:
        return self._themes

    @override
    def get_theme_variable_defaults(self) -> dict[str, str]:
        return derive_defaults(self.current_theme)

    @override
    async def on_event(self, event: events.Event) -> None:
        if isinstance(event, events.Key | events.Paste) and not event.is_forwarded:
            await self._key_order.add(event)
            return
        await super().on_event(event)
        if isinstance(event, events.Key):
            await self._key_order.note_arrival(event)

    @on(KeyOrder.Passed)
    async def _follow_key(self, event: KeyOrder.Passed) -> None:
        await self._key_order.follow(event)

    @override
    def copy_to_clipboard(self, text: str) -> None:
        super().copy_to_clipboard(plain_text(text))

    def on_mount(self) -> None:
        """Put a person's own keys in force."""
        self.set_keymap(self._keys.keymap)

    def run_to_end(self) -> ReturnType | None:
        """Show the app until the person leaves it; where a defect stopped it, say so in a sentence."""
        result = self.run()
        if self.return_code and not _is_debugging():
            sys.stderr.write(_DEFECT)
        return result

    @override
    async def action_quit(self) -> None:
        """Leave the program."""
        self.exit()


def _is_debugging() -> bool:
    return bool(os.environ.get("ROAMTUI_DEBUG"))


def _choose_theme(wanted: str | None, own: Mapping[str, Theme]) -> tuple[str, tuple[str, ...]]:
    """Return the name of the theme to wear, and a sentence where the wanted one is not there."""
    default = DEFAULT_THEME if DEFAULT_THEME in own else next(iter(BUILTIN_THEMES))
    if wanted is None:
        return default, ()
    if wanted in own or wanted in BUILTIN_THEMES:
        return wanted, ()
    return default, (f'There is no theme "{wanted}". Themes of roamtui are {", ".join(own)}.',)


def is_job_of_shell() -> bool:
    """Return whether a shell has this very process as a job, and can bring it back.

    Without one, or where `make` or another program stands between, a stopped program would block its terminal for good.
    """
    if os.name != "posix":
        return False
    parent = os.getppid()
    try:
        return os.getpgid(parent) != os.getpgrp() and os.getsid(parent) == os.getsid(0)
    except OSError:
        return False


def describe_failure(error: BaseException | None) -> str:
    """Return a failure in one sentence; our own errors are sentences already."""
    if isinstance(error, RoamtuiError):
        return str(error)
    kind = type(error).__name__
    return f"Something went wrong inside roamtui ({kind}: {error}). The conversation goes on; ask again."


def forget_frames(error: BaseException) -> None:
    """Take from an error what led to it, once it has been told.

    A widget that a worker made holds that worker for as long as it stands on the screen, the worker its error, and the
    error's frames all that they worked with, such as a request with the whole conversation.
    """
    error.__traceback__ = error.__context__ = error.__cause__ = None
