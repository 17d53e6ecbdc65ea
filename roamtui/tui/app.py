"""`RoamApp`: a mode for each open document, messages between documents, themes, and the order of keys."""

from __future__ import annotations

import asyncio
import io
import os
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from rich.console import Console
from textual import events, on, work
from textual.app import App
from textual.driver import Driver
from textual.notifications import Notify
from textual.screen import Screen
from textual.theme import BUILTIN_THEMES, Theme
from textual.types import CSSPathType
from textual.worker import Worker, WorkerState
from typing_extensions import override

from roamtui.document.plain import sanitise_text
from roamtui.models.base import Model
from roamtui.paths import get_resource_dir
from roamtui.sources.file_sources import split_sources
from roamtui.tui.actions import Scope, build_keymap, make_bindings
from roamtui.tui.context import AppContext, TuiOptions
from roamtui.tui.key_queue import KeyQueue
from roamtui.tui.labels import format_error
from roamtui.tui.messages import (
    DocumentRequested,
    FullScreenRequested,
    ModelReleased,
    ReturnRequested,
    StatusMessage,
    TerminalWriteRequested,
)
from roamtui.tui.status_line import HintLine, MessageLine
from roamtui.tui.terminal_images import TerminalDriver, make_driver_class
from roamtui.tui.themes import choose_theme, derive_defaults, load_themes

if TYPE_CHECKING:
    from roamtui.table.runner import TablePlan
    from roamtui.table.store import Table
    from roamtui.tui.screens.main import MainScreen

# Read together at the start (8 ms for the dialogs): when a screen brings its own file, Textual parses all rules again,
# which takes 80 ms.
_STYLE_FILES = sorted(Path(__file__).parent.rglob("*.tcss"))
_DEFECT_MESSAGE = (
    "roamtui: internal error. The conversation is kept: `--continue` goes on with it. Run it again with"
    " ROAMTUI_DEBUG=1 and report what it says.\n"
)


class RoamApp(App[None], inherit_bindings=False):
    """The app. It starts with a document, or with the dialog to open one."""

    TITLE = "roamtui"
    DEFAULT_MODE = "document-1"
    ENABLE_COMMAND_PALETTE = False  # ours is a dialog like the others
    BINDINGS = make_bindings(Scope.GLOBAL, only={"global.quit"})
    CSS_PATH: ClassVar[CSSPathType | None] = [*_STYLE_FILES]

    def __init__(
        self,
        first: AppContext | None = None,
        options: TuiOptions | None = None,
        table: tuple[Table, TablePlan] | None = None,
    ) -> None:
        """Show `first`.

        Args:
            first: The first document, or None if the person chooses it.
            options: How the app looks, and what it can do. None for the options of `first`.
            table: If there is no `first`, a table to show instead.
        """
        options = options or (first.options if first is not None else TuiOptions())
        own_themes, theme_problems = load_themes((get_resource_dir("themes"), *options.themes_dirs))
        self._themes = {**BUILTIN_THEMES, **own_themes}  # made once: each key asks for it many times
        theme, theme_problem = choose_theme(options.theme, own_themes)
        self.set_reactive(App.theme, theme)  # before the style sheet is made: a change later would parse it again
        super().__init__()
        if not _is_debugging():
            self.error_console = Console(file=io.StringIO())  # a traceback would help nobody
        self._keys = build_keymap(options.keys)
        self._key_queue = KeyQueue(self, super().on_event)
        self._problems = (*self._keys.conflicts, *theme_problems, *theme_problem)
        self._options = options
        self._table = table
        """The table that is the first screen, until the person leaves it."""
        self.documents: dict[str, MainScreen] = {}
        """The screens of open documents by mode."""
        self._origins: dict[str, str] = {}
        """The mode from which a link or a cell led to a document, by the mode of the document."""
        self._mode_count = 0 if first is not None else 1  # without a document, the first mode is the start screen's
        self._message: MessageLine | None = None
        if first is not None:
            self._add_document(first)

    def _add_document(self, context: AppContext) -> str:
        """Make the screen of a document, and return the name of its mode."""
        from roamtui.tui.screens.main import MainScreen  # noqa: PLC0415 - not for choosing a document

        self._mode_count += 1
        mode = f"document-{self._mode_count}"
        self.documents[mode] = MainScreen(context, self._keys)
        if mode != self.DEFAULT_MODE:
            self.add_mode(mode, partial(self.documents.__getitem__, mode))
        return mode

    @override
    def get_default_screen(self) -> Screen[None]:
        return self.documents.get(self.DEFAULT_MODE) or Screen()

    @property
    def main_screen(self) -> MainScreen:
        """The screen of the current document. A document must be open."""
        return self.documents[self.current_mode]

    @property
    def app_context(self) -> AppContext:
        """The context of the current document."""
        return self.main_screen.app_context

    def on_mount(self) -> None:
        """Apply the keymap, and open a document if none was given."""
        self.add_mode(self.DEFAULT_MODE, self.get_default_screen)  # this late because it would delay the first paint
        self.set_keymap(self._keys.keymap)
        if self._table is not None:
            self._show_table(*self._table)
        elif not self.documents:
            self.open_document(DocumentRequested())
        if self._problems:
            self._warn(" ".join(self._problems))

    @on(ReturnRequested)
    def _return_to_origin(self) -> None:
        """Show the document whose link led to the current one, or the table whose cell did."""
        mode = self._origins.pop(self.current_mode, "")
        if mode in self._open_modes:
            self._switch_to(mode)
        else:
            self.main_screen.post_message(StatusMessage("Nothing to go back to"))

    def action_open_table(self) -> None:
        library = self.main_screen.conversation.state.library
        added = tuple(source.name for source in library.sources)
        self._open_table(added or split_sources(library.source))

    @work(group="tables", exclusive=True, exit_on_error=False)
    async def _open_table(self, sources: tuple[str, ...]) -> None:
        if self._options.open_table is None:
            self._warn("Cannot open a table here.")
        else:
            self._show_table(*await asyncio.to_thread(self._options.open_table, sources))

    def _show_table(self, table: Table, plan: TablePlan) -> None:
        from roamtui.tui.screens.table import TableScreen  # noqa: PLC0415 - few open a table

        self.push_screen(TableScreen(table, plan, self._keys), self._on_table_left)

    def _on_table_left(self, _result: None) -> None:
        if self.current_mode not in self.documents:  # it was the first screen
            self._table = None
            if self.documents:
                self._switch_to(next(reversed(self.documents)))
            else:
                self.exit()

    def _warn(self, words: str) -> None:
        self.notify(words, severity="warning", markup=False)

    @on(DocumentRequested)
    def open_document(self, request: DocumentRequested) -> None:
        """Show a document, or one that the person chooses."""
        if mode := self._find_mode(request):
            self._show(mode, request)
        elif self._options.open_source is None:
            self._warn("Cannot open another document here.")
        else:
            from roamtui.tui.screens.open_document import OpenDialog  # noqa: PLC0415 - rarely needed

            current = self.documents.get(self.current_mode)
            model = current.agent.model if current is not None else None
            open_sources = frozenset(screen.conversation.state.library.source for screen in self.documents.values())
            dialog = OpenDialog(self._options, self._keys, request, open_sources, model, is_first=not self._open_modes)
            self.push_screen(dialog, partial(self._show_opened, request))

    def _show_opened(self, request: DocumentRequested, opened: AppContext | DocumentRequested | None) -> None:
        if isinstance(opened, DocumentRequested) and request.is_added:
            self.main_screen.add_source(opened.source)
        elif isinstance(opened, DocumentRequested):  # it is open already
            self.open_document(opened)
        elif opened is not None:
            self._show(self._add_document(opened), request)
        elif not self._open_modes:
            self.exit()

    def _show(self, mode: str, request: DocumentRequested) -> None:
        origin = self.current_mode
        self._switch_to(mode)
        conversation = self.main_screen.conversation
        if request.conversation_id not in (None, conversation.state.id) and not request.is_cell:
            self.main_screen.switch(partial(conversation.open, request.conversation_id))
        if (request.is_cell or request.place is not None) and mode != origin:
            self._origins[mode] = origin
        if request.place is not None:
            self.main_screen.show_place(request.place)

    def _find_mode(self, request: DocumentRequested) -> str:
        """Return the mode of the open document, or conversation of a cell, that is requested, or an empty string."""
        path = os.path.realpath(request.source)
        log_id = Path(request.conversation_id or "").stem if request.is_cell else ""
        for mode, screen in self.documents.items():
            state = screen.conversation.state
            if request.source and os.path.realpath(state.library.source) == path and log_id in ("", state.id):
                return mode
        return ""

    @property
    def _open_modes(self) -> list[str]:
        """The modes of the table that is the first screen, and of the open documents."""
        return [*self.documents] if self._table is None else [self.DEFAULT_MODE, *self.documents]

    def _switch_to(self, mode: str) -> None:
        """Show a document or the table. Work in the other documents continues."""
        self.switch_mode(mode)
        titles = [screen.header.title for screen in self.documents.values()]
        for number, screen in enumerate(self.documents.values()):
            screen.header.show_tabs(titles, number)

    def action_open_document(self) -> None:
        self.open_document(DocumentRequested())

    def action_add_source(self) -> None:
        self.open_document(DocumentRequested(is_added=True))

    @on(Worker.StateChanged)
    def _tell_defect(self, event: Worker.StateChanged) -> None:
        if event.state is WorkerState.ERROR:
            self.notify(format_error(event.worker.error), severity="error", markup=False)

    def action_turn_to(self, index: int) -> None:
        """Show the open document with this index."""
        self._switch_to(list(self.documents)[index])

    def action_next_document(self) -> None:
        modes = self._open_modes
        if len(modes) > 1:
            self._switch_to(modes[(modes.index(self.current_mode) + 1) % len(modes)])
        else:  # a screen put up here would take keys that were typed for the document
            open_key = self._keys.format_first_key("global.open_document")
            self._warn(f"No other document is open. Open one with {open_key}.")

    async def action_close_document(self) -> None:
        """Close the current document. After the last one, leave."""
        if self.main_screen.warn_if_busy():
            return
        mode, modes = self.current_mode, self._open_modes
        if len(modes) == 1:
            self.exit()
            return
        closed = self.documents.pop(mode)
        self._switch_to(modes[modes.index(mode) - 1])
        self.remove_mode(mode)
        if failure := await asyncio.to_thread(closed.app_context.save):  # another program may lock the file for seconds
            self._warn(failure)
        if closed.conversation.loader is not None:  # a closed screen is part of a cycle that is never collected
            await asyncio.to_thread(closed.conversation.loader.close)
        await self._release_model(ModelReleased(closed.agent.model))

    @on(ModelReleased)
    async def _release_model(self, event: ModelReleased) -> None:
        """Close a model, unless it still answers about a document."""
        if event.model not in self._models:
            await event.model.close()

    @property
    def _models(self) -> set[Model]:
        return {screen.app_context.agent.model for screen in self.documents.values()}

    @property
    @override
    def available_themes(self) -> dict[str, Theme]:
        return self._themes

    @override
    def get_theme_variable_defaults(self) -> dict[str, str]:
        return derive_defaults(self.current_theme)

    @override
    async def on_event(self, event: events.Event) -> None:
        if isinstance(event, events.Paste):
            event.text = sanitise_text(event.text)
        if isinstance(event, events.Key | events.Paste | events.MouseDown) and not event.is_forwarded:
            self._remove_message()
            screen = self.documents.get(self.current_mode)
            is_printable = isinstance(event, events.Key) and event.is_printable
            # Typing into the question box makes no message of the status line outdated.
            if screen is not None and not (is_printable and screen.focused is screen.question_box):
                screen.status_line.message = ""
        if isinstance(event, events.Key) and event.key.startswith("alt+"):
            event.character = None  # else a text field would type it, though a person may have bound it
        if isinstance(event, events.Key | events.Paste) and not event.is_forwarded:
            self._key_queue.add(event)
        else:
            await super().on_event(event)

    def on_notify(self, event: Notify) -> None:
        """Show the message at the foot of the screen, until the next key or click.

        Textual would show a toast, which covers text. It also hangs if a toast expires just while a screen draws it
        again: the remaining time is then negative, and Textual's timer never ends.
        """
        event.prevent_default()
        self._remove_message()
        self._message = MessageLine(event.notification.message, event.notification.severity)
        screen = self.documents.get(self.current_mode) or self.screen
        screen.query(HintLine).add_class("-replaced")
        screen.mount(self._message)

    def _remove_message(self) -> None:
        if self._message is not None and self._message.is_attached:
            self._message.screen.query(HintLine).remove_class("-replaced")
            self._message.remove()

    @override
    def get_driver_class(self) -> type[Driver]:
        return make_driver_class(super().get_driver_class())

    @on(FullScreenRequested)
    def _show_full_screen(self, event: FullScreenRequested) -> None:
        from roamtui.tui.screens.picture import show_full_screen  # noqa: PLC0415 - only for those who ask

        if problem := show_full_screen(self, self._keys, self._options, event):
            self._warn(problem)

    @on(TerminalWriteRequested)
    def _write_image(self, event: TerminalWriteRequested) -> None:
        if isinstance(self._driver, TerminalDriver):
            self._driver.write_image(event.data)

    @on(KeyQueue.HandledMarker)
    def _follow_key(self, event: KeyQueue.HandledMarker) -> None:
        event.has_arrived.set()

    @override
    def copy_to_clipboard(self, text: str) -> None:
        super().copy_to_clipboard(sanitise_text(text))

    def action_show_commands(self) -> None:
        """Show the commands, and run the chosen one as if its key were pressed in its scope."""
        from roamtui.tui.screens.palette import CommandPalette  # noqa: PLC0415 - only for those who ask

        if self._is_main_in_front:  # else dialogs could pile up without end
            self.push_screen(CommandPalette(self._keys), self.main_screen.action_run)

    @property
    def _is_main_in_front(self) -> bool:
        """Whether no dialog covers the current document."""
        return self.screen is self.documents.get(self.current_mode)

    def action_help(self) -> None:
        from roamtui.tui.screens.help import HelpDialog  # noqa: PLC0415 - only for those who ask

        scope = self.main_screen.panes.scope if self._is_main_in_front else None
        self.push_screen(HelpDialog(self._keys, scope))

    def action_choose_theme(self) -> None:
        from roamtui.tui.screens.theme_picker import ThemePicker  # noqa: PLC0415 - only for those who ask

        self.push_screen(ThemePicker(self, self._options.save_settings))

    def on_app_focus(self) -> None:
        """Check the document on disk, which may have been edited meanwhile."""
        if self.current_mode in self.documents:
            self.main_screen.check_for_changes()

    async def on_unmount(self) -> None:
        for model in self._models:
            await model.close()


def run_until_exit(app: RoamApp) -> tuple[int, tuple[str, ...]]:
    """Run the app until the person leaves it. If a defect stopped it, print a message.

    Returns:
        The exit status, and a sentence for each conversation that could not be saved.
    """
    app.run()
    if app.return_code and not _is_debugging():
        sys.stderr.write(_DEFECT_MESSAGE)
    failures = [screen.app_context.save() for screen in app.documents.values()]
    return app.return_code or 0, tuple(failure for failure in failures if failure)


def _is_debugging() -> bool:
    return bool(os.environ.get("ROAMTUI_DEBUG"))
