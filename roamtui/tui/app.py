"""`RoamApp`: a mode for each open document and table, what passes between them, themes, and the order of keys."""

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
from textual.notifications import Notify
from textual.screen import Screen
from textual.theme import BUILTIN_THEMES, Theme
from textual.types import CSSPathType
from textual.worker import Worker, WorkerState
from typing_extensions import override

from roamtui.document.plain import sanitise_text
from roamtui.paths import get_resource_dir
from roamtui.sources.listing import split_sources
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
    """The app. It starts with a document, a table, or the dialog to open one."""

    TITLE = "roamtui"
    DEFAULT_MODE = "page-1"
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
        self._first_table = table
        self.documents: dict[str, MainScreen] = {}
        """The screens of open documents by mode."""
        self._tables: dict[str, Path] = {}
        """The folders of open tables by mode."""
        self._origins: dict[str, str] = {}
        """The mode from which a link, a cell or a key led to a document or table, by its mode."""
        self._page_count = 0 if first is not None else 1  # without a document, the first mode stays empty
        self._message: MessageLine | None = None
        if first is not None:
            self._add_document(first)

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
        if self._first_table is not None:
            self._show_table(*self._first_table)
        elif not self.documents:
            self.open_document(DocumentRequested())
        if self._problems:
            self._warn(" ".join(self._problems))

    def _warn(self, words: str) -> None:
        self.notify(words, severity="warning", markup=False)

    @property
    def _open_pages(self) -> list[str]:
        return [*self._tables, *self.documents]

    def _add_page(self, screen: Screen[None]) -> str:
        """Give a document or table a mode, and return its name."""
        self._page_count += 1
        mode = f"page-{self._page_count}"
        if mode != self.DEFAULT_MODE:
            self.add_mode(mode, lambda: screen)
        return mode

    def _add_document(self, context: AppContext) -> str:
        from roamtui.tui.screens.main import MainScreen  # noqa: PLC0415 - not for choosing a document

        screen = MainScreen(context, self._keys)
        mode = self._add_page(screen)
        self.documents[mode] = screen
        return mode

    def _switch_to(self, mode: str) -> None:
        """Show a document or table. Work in the others continues."""
        self.switch_mode(mode)
        titles = tuple(screen.header.title for screen in self.documents.values())
        for number, screen in enumerate(self.documents.values()):
            screen.header.titles, screen.header.index = titles, number

    def action_turn_to(self, index: int) -> None:
        """Show the open document with this index."""
        self._switch_to(list(self.documents)[index])

    def action_next_document(self) -> None:
        modes = self._open_pages
        if len(modes) > 1:
            self._switch_to(modes[(modes.index(self.current_mode) + 1) % len(modes)])
        else:  # a screen put up here would take keys that were typed for the document
            open_key = self._keys.format_first_key("global.open_document")
            self._warn(f"No other document is open. Open one with {open_key}.")

    @on(ReturnRequested)
    def _return_to_origin(self) -> None:
        """Show the document whose link led to the current one, or the table whose cell did."""
        mode = self._origins.pop(self.current_mode, "")
        if mode in self._open_pages:
            self._switch_to(mode)
        else:
            self.main_screen.post_message(StatusMessage("Nothing to go back to"))

    async def action_close_document(self) -> None:
        """Close the current document or table. After the last one, leave."""
        mode = self.current_mode
        closed = self.documents.get(mode)
        if closed is not None and closed.warn_if_busy():
            return
        if len(self._open_pages) == 1:
            self.exit()
            return
        self.documents.pop(mode, None)
        self._tables.pop(mode, None)
        origin = self._origins.pop(mode, "")
        self._switch_to(origin if origin in self._open_pages else self._open_pages[-1])
        self.remove_mode(mode)
        if closed is not None:
            if failure := await asyncio.to_thread(closed.app_context.save):  # another program may lock it for seconds
                self._warn(failure)
            if closed.conversation.loader is not None:  # a closed screen is part of a cycle that is never collected
                await asyncio.to_thread(closed.conversation.loader.close)
            await self._release_model(ModelReleased(closed.agent.model))

    @on(ModelReleased)
    async def _release_model(self, event: ModelReleased) -> None:
        """Close a model, unless it still answers about a document."""
        if all(screen.agent.model is not event.model for screen in self.documents.values()):
            await event.model.close()

    @work(group="tables", exclusive=True, exit_on_error=False)
    async def action_open_table(self) -> None:
        library = self.main_screen.state.library
        added = tuple(source.name for source in library.sources)
        if self._options.open_table is None:
            self._warn("Cannot open a table here.")
        else:
            sources = added or split_sources(library.source)
            question = self.main_screen.questions.table_question
            self._show_table(*await asyncio.to_thread(self._options.open_table, sources), question)

    def _show_table(self, table: Table, plan: TablePlan, question: str = "") -> None:
        """Show a table, and offer to ask a question in it."""
        from roamtui.tui.screens.table import TableScreen  # noqa: PLC0415 - few open a table

        mode = next((mode for mode, folder in self._tables.items() if folder == table.folder), "")
        if not mode:
            mode = self._add_page(TableScreen(table, plan, self._keys, question))
            self._tables[mode] = table.folder
        self._origins[mode] = self.current_mode
        self._switch_to(mode)

    def action_open_document(self) -> None:
        self.open_document(DocumentRequested())

    def action_add_source(self) -> None:
        self.open_document(DocumentRequested(is_added=True))

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
            open_sources = frozenset(screen.state.library.source for screen in self.documents.values())
            dialog = OpenDialog(self._options, self._keys, request, open_sources, model, is_first=not self._open_pages)
            self.push_screen(dialog, partial(self._show_opened, request))

    def _find_mode(self, request: DocumentRequested) -> str:
        """Return the mode of the open document, or conversation of a cell, that is requested, or an empty string."""
        path = os.path.realpath(request.source)
        log_id = Path(request.conversation_id or "").stem if request.is_cell else ""
        for mode, screen in self.documents.items():
            state = screen.state
            if request.source and os.path.realpath(state.library.source) == path and log_id in ("", state.id):
                return mode
        return ""

    def _show_opened(self, request: DocumentRequested, opened: AppContext | DocumentRequested | None) -> None:
        if isinstance(opened, DocumentRequested) and request.is_added:
            self.main_screen.add_source(opened.source)
        elif isinstance(opened, DocumentRequested):  # it is open already
            self.open_document(opened)
        elif opened is not None:
            self._show(self._add_document(opened), request)
        elif not self._open_pages:
            self.exit()

    def _show(self, mode: str, request: DocumentRequested) -> None:
        if (request.is_cell or request.place is not None) and mode != self.current_mode:
            self._origins[mode] = self.current_mode
        self._switch_to(mode)
        conversation = self.main_screen.conversation
        if request.conversation_id not in (None, conversation.state.id) and not request.is_cell:
            self.main_screen.switch(partial(conversation.open, request.conversation_id))
        if request.place is not None:
            self.main_screen.show_place(request.place)

    @on(Worker.StateChanged)
    def _tell_defect(self, event: Worker.StateChanged) -> None:
        if event.state is WorkerState.ERROR:
            self.notify(format_error(event.worker.error), severity="error", markup=False)

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
            if (screen := self.documents.get(self.current_mode)) is not None:
                screen.status_line.message = ""
        if isinstance(event, events.Key) and event.key.startswith("alt+"):
            event.character = None  # else a text field would type it, though a person may have bound it
        if isinstance(event, events.Key | events.Paste) and not event.is_forwarded:
            self._key_queue.add(event)
        else:
            await super().on_event(event)

    @on(KeyQueue.HandledMarker)
    def _follow_key(self, event: KeyQueue.HandledMarker) -> None:
        event.has_arrived.set()

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

    @on(FullScreenRequested)
    def _show_full_screen(self, event: FullScreenRequested) -> None:
        from roamtui.tui.screens.picture import show_full_screen  # noqa: PLC0415 - only for those who ask

        if problem := show_full_screen(self, self._keys, self._options, event):
            self._warn(problem)

    @on(TerminalWriteRequested)
    def _write_image(self, event: TerminalWriteRequested) -> None:
        if self._driver is not None:
            self._driver.write(event.data)

    @override
    def copy_to_clipboard(self, text: str) -> None:
        super().copy_to_clipboard(sanitise_text(text))

    def action_help(self) -> None:
        """List the commands. The chosen one runs as if its key were pressed in its scope."""
        from roamtui.tui.screens.help import HelpDialog  # noqa: PLC0415 - only for those who ask

        is_main_in_front = self.screen is self.documents.get(self.current_mode)
        scope, run = (self.main_screen.panes.scope, self.main_screen.action_run) if is_main_in_front else (None, None)
        self.push_screen(HelpDialog(self._keys, scope), run)

    def action_choose_theme(self) -> None:
        from roamtui.tui.screens.theme_picker import ThemePicker  # noqa: PLC0415 - only for those who ask

        self.push_screen(ThemePicker(self, self._options.save_settings))

    def on_app_focus(self) -> None:
        """Check the document on disk, which may have been edited meanwhile."""
        if self.current_mode in self.documents:
            self.main_screen.check_for_changes()

    async def on_unmount(self) -> None:
        for model in {screen.agent.model for screen in self.documents.values()}:
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
