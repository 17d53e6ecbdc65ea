"""`RoamApp`: a mode for each open document and table, themes, and the order of keys."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from functools import partial
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, ClassVar

from msgspec import Struct
from msgspec.structs import replace
from textual import _xterm_parser, events, on, work
from textual.app import App
from textual.driver import Driver
from textual.notifications import Notify
from textual.screen import Screen
from textual.theme import Theme
from textual.types import CSSPathType
from textual.worker import Worker, WorkerState
from typing_extensions import override

from roamtui.conversation.messages import RECORDED
from roamtui.errors import EXIT_CANCELLED
from roamtui.paths import get_table_path
from roamtui.program import qualify_commands
from roamtui.sanitiser import sanitise_line
from roamtui.signals import add_end_handler, resume_only_with_terminal
from roamtui.sources.source_names import format_file_names, join_sources, make_short_name
from roamtui.text import format_count
from roamtui.tui.actions import Scope, make_bindings, make_keymap
from roamtui.tui.context import DocumentSession, OfferGroup, StartOffer, TableSession, TuiOptions
from roamtui.tui.key_queue import TYPING_SECONDS, KeyQueue, TypedEvent
from roamtui.tui.messages import DocumentRequested, ModelReleased, ReturnRequested
from roamtui.tui.paste_parser import PasteParser, get_lenient_decoder
from roamtui.tui.screen_words import format_error
from roamtui.tui.status_line import MessageLine
from roamtui.tui.themes import load_themes

if TYPE_CHECKING:
    from roamtui.conversation.library_loader import ApprovalRequest
    from roamtui.models.base import Model
    from roamtui.tui.screens.dialogs import ConfirmDialog
    from roamtui.tui.screens.main import MainScreen
    from roamtui.tui.screens.table import TableScreen

_FOLDER = Path(__file__).parent
_FIRST_STYLES = ("app.tcss", "chat/chat.tcss", "panes/panes.tcss", "reader/reader.tcss", "tree/tree.tcss")
_SCREEN_STYLES = str(_FOLDER / "screens" / "screens.tcss")
_TERMINAL_SECONDS = 1.0
"""How often the app checks that its terminal exists. Not every terminal sends a signal when it closes."""
_TYPING_STEP_SECONDS = 0.1
_START_MODE = "start"
"""The mode behind the start screen once the last document is closed."""


class _Page(Struct):
    """An open document or table, which has a mode of its own."""

    main_screen: MainScreen | None = None
    table_screen: TableScreen | None = None
    table_sources: tuple[str, ...] = ()
    """What the table is about, or its folder if the program was started with that."""
    origin: str = ""
    """The mode from which a link, a cell or a key led here. That page may be closed already."""


class RoamApp(App[None], inherit_bindings=False):
    """The app. It starts with a document, a table, or the dialog to open one."""

    TITLE = "roamtui"
    DEFAULT_MODE = "page-1"
    SUSPENDED_SCREEN_CLASS = "-covered"
    ENABLE_COMMAND_PALETTE = False  # ours is a dialog like the others
    BINDINGS = make_bindings(Scope.GLOBAL, works_in=Scope)
    CSS_PATH: ClassVar[CSSPathType | None] = [_FOLDER / name for name in _FIRST_STYLES]
    available_themes: dict[str, Theme] = {}  # noqa: RUF012 - each app has its own, in place of Textual's property

    def __init__(self, options: TuiOptions, first: DocumentSession | TableSession | None = None) -> None:
        """Show `first`, or let the person choose a document."""
        self.available_themes, theme, theme_problem = load_themes(options.theme)
        # set before the style sheet exists, because a later change would parse it again
        self.set_reactive(App.theme, theme)
        super().__init__()
        self.VERTICAL_BREAKPOINTS = [(0, "-tiny"), (14, "-short"), (22, "-tall")]
        self._options = options
        self._keys = make_keymap(options.keys)
        self._first = first
        self._problems = " ".join(filter(None, (*self._keys.conflicts, theme_problem)))
        self.key_queue = KeyQueue(self, super().on_event)
        self._quit_dialog: ConfirmDialog | None = None
        """The dialog that last asked whether to quit."""
        self._pages: dict[str, _Page] = {}
        """All open documents and tables by mode, in the order in which a key leads from one to the next."""
        if isinstance(first, DocumentSession):
            self._pages[self.DEFAULT_MODE] = _Page(self._make_screen(first))

    @override
    def get_driver_class(self) -> type[Driver]:
        _xterm_parser.XTermParser = PasteParser  # type: ignore[misc]  # the module of the driver imports it from there
        driver_class = super().get_driver_class()
        # With a strict decoder, a byte that is not UTF-8 would end the thread that reads keys, and the app.
        vars(sys.modules[driver_class.__module__]).update(getincrementaldecoder=get_lenient_decoder)
        return driver_class

    @override
    def get_default_screen(self) -> Screen[None]:
        return self.documents.get(self.DEFAULT_MODE) or Screen()

    @override
    def get_screen(self, screen: Any, screen_class: type[Screen[Any]] | None = None) -> Any:
        # Reading the styles of the screens earlier would delay the first screen by 8 ms. If they were in a
        # screen's CSS_PATH, Textual would parse all rules again.
        if not self.stylesheet.has_source(_SCREEN_STYLES):
            self.stylesheet.read(_SCREEN_STYLES)
            self.stylesheet.parse()
        return super().get_screen(screen, screen_class)

    @property
    def documents(self) -> dict[str, MainScreen]:
        """The screens of open documents by mode, in the order in which they were opened."""
        return {mode: page.main_screen for mode, page in self._pages.items() if page.main_screen is not None}

    @property
    def main_screen(self) -> MainScreen:
        """The screen of the current document. A document must be open."""
        return self.documents[self.current_mode]

    def on_mount(self) -> None:
        """Show the first document, table or dialog, and start to handle keys."""
        # Adding modes earlier would delay the first paint.
        self.add_mode(self.DEFAULT_MODE, self.get_default_screen)
        self.add_mode(_START_MODE, Screen)
        self.set_keymap(self._keys.textual_keymap)
        if isinstance(self._first, TableSession):
            self._show_table(self._first, (str(self._first.table.folder),))
        elif self._first is None:
            self.action_open_document()
        if self._problems:
            self.notify(self._problems, severity="warning", markup=False)
        self.run_worker(self.key_queue.run(), group="keys")
        if not (self.is_headless or self.is_web):  # a browser's driver does this itself
            add_end_handler(self._leave_terminal)
            resume_only_with_terminal()
            if os.isatty(0):
                self.set_interval(_TERMINAL_SECONDS, self._check_terminal)
        # the shell has written over the screen
        self.app_resume_signal.subscribe(self, lambda _: self.refresh(layout=True))

    def _check_terminal(self) -> None:
        if not os.isatty(0):
            self._leave_terminal()

    def _leave_terminal(self) -> None:
        """Quit, because a signal asks for it or the terminal has closed. The answer so far is saved."""
        # Writing to a closed terminal would block the thread that writes, and so the app.
        if not os.isatty(0):
            nowhere = os.open(os.devnull, os.O_RDWR)
            for descriptor in (0, 1, 2):
                os.dup2(nowhere, descriptor)
        self.exit(return_code=EXIT_CANCELLED)

    @override
    def exit(self, *args: Any, **options: Any) -> None:
        """Save the typed text and the waiting questions, then end the app."""
        for screen in self.documents.values():
            screen.questions.release_drafts()
        super().exit(*args, **options)

    def _make_screen(self, session: DocumentSession) -> MainScreen:
        from roamtui.tui.screens.main import MainScreen  # noqa: PLC0415 - not for choosing a document

        title = session.conversation.state.library.title
        session.conversation.approver = partial(self._ask_for_approval, name=title)
        return MainScreen(session, self._keys, self.key_queue)

    async def _ask_for_approval(self, approval: ApprovalRequest, *, name: str) -> bool:
        """Ask the person to approve a cost, or pages of another site. Return whether they do.

        If several documents or tables are open, the question begins with `name`, the one that asks. Wait
        until the person stops typing: a letter of their text must not answer the question.
        """
        from roamtui.tui.screens.dialogs import ConfirmDialog  # noqa: PLC0415

        while monotonic() < self.key_queue.typed_at + TYPING_SECONDS:  # noqa: ASYNC110
            await asyncio.sleep(_TYPING_STEP_SECONDS)
        has_others = len(self._pages) > 1
        question = sanitise_line(f"{name}: {approval.question}" if has_others else approval.question)
        detail = sanitise_line(approval.detail)
        dialog = ConfirmDialog(question, detail, yes=approval.yes, is_expected=False)
        return await self.push_screen_wait(dialog)

    def _add_page(self, screen: Screen[None], page: _Page) -> str:
        """Give the screen of a document or of a table a mode, and return its name."""
        mode = f"page-{id(screen)}"
        self.add_mode(mode, lambda: screen)
        self._pages[mode] = page
        return mode

    def _switch_to(self, mode: str, *, can_return: bool = False) -> None:
        """Show a document or table. With `can_return`, the person can go back from it to the current one."""
        if can_return and mode != self.current_mode and self.current_mode in self._pages:
            self._pages[mode].origin = self.current_mode
        self.switch_mode(mode)
        key = self._keys.first_keys["global.next_document"]
        count = len(self._pages)
        for number, page in enumerate(self._pages.values(), 1):
            if page.main_screen is not None:
                page.main_screen.header.number = f" ({number} of {count} · {key})" if count > 1 else ""

    def action_next_document(self) -> None:
        """Show the next document or table."""
        modes = list(self._pages)
        following = modes[(modes.index(self.current_mode) + 1) % len(modes)]
        if following == self.current_mode:
            self.notify("No other document is open.", markup=False)
        else:
            self._switch_to(following)

    @on(ReturnRequested)
    def _return_to_origin(self) -> None:
        page = self._pages[self.current_mode]
        if page.origin in self._pages:
            self._switch_to(page.origin)
            page.origin = ""
        else:
            self.notify("Nothing to go back to", markup=False)

    def action_refuse(self) -> None:
        is_in_document = self.current_mode in self.documents
        words = "in the document below · esc closes this" if is_in_document else "only in a document."
        self.notify(f"This key works {words}", markup=False)

    async def action_close_document(self) -> None:
        """Close the document or table that is shown. A table first stops what it asks."""
        mode = self.current_mode
        shown = self._pages[mode]
        if shown.main_screen is not None and shown.main_screen.warn_if_busy():
            return
        if shown.table_screen is not None and shown.table_screen.stop():
            return
        closed = self._pages.pop(mode)
        last = next(reversed(self._pages), _START_MODE)
        self._switch_to(closed.origin if closed.origin in self._pages else last)
        self.remove_mode(mode)
        if not self._pages:
            self.action_open_document()
        if closed.main_screen is not None:
            # another program may lock the file of the conversation for seconds
            if failure := await asyncio.to_thread(closed.main_screen.session.close):
                self.notify(failure, severity="warning", markup=False)
            await self._release_model(ModelReleased(closed.main_screen.agent.model))

    @on(ModelReleased)
    async def _release_model(self, event: ModelReleased) -> None:
        if all(screen.agent.model is not event.model for screen in self.documents.values()):
            await event.model.close()

    @property
    def _shared_model(self) -> Model | None:
        """The current document's model, to use for another one. None if it has only a recorded answer."""
        screen = self.documents.get(self.current_mode)
        return screen.agent.model if screen and screen.agent.model.name != RECORDED else None

    @work(group="tables", exclusive=True, exit_on_error=False)
    async def action_open_table(self) -> None:
        """Let the person choose the documents of a table, and show it."""
        from roamtui.tui.screens.open_document import ChooseSourceDialog  # noqa: PLC0415 - few open a table

        model = self._shared_model
        offers = self._offer_tables()
        title = "Ask the same questions about each document, in a table"
        dialog = ChooseSourceDialog(self._options.services, self._keys, title, tuple(offers.values()))
        if (chosen := await self.push_screen_wait(dialog)) is None:
            return
        sources = next((sources for sources, offer in offers.items() if offer.source == chosen), (chosen,))
        session = await asyncio.to_thread(self._options.services.open_table, sources)
        plan = session.plan if model is None else replace(session.plan, model=model.copy())
        self._show_table(replace(session, plan=plan), sources)

    def _offer_tables(self) -> dict[tuple[str, ...], StartOffer]:
        """List the tables to offer, by their sources: names that are joined cannot be divided at a URL again.

        The table that led here comes first, then a table of this document, one of all open documents, and
        the other open tables.
        """
        libraries = [screen.conversation.state.library for screen in self.documents.values()]
        current = self.main_screen.conversation.state.library
        origin = self._pages[self.current_mode].origin
        tables = {mode: page for mode, page in self._pages.items() if page.table_screen is not None}
        notes = {tables[origin].table_sources: "open table"} if origin in tables else {}
        notes.setdefault(current.source_names, "this document")
        if len(libraries) > 1:
            opened = {name for library in libraries for name in library.source_names}
            notes.setdefault(tuple(sorted(opened)), f"all {len(libraries)} open documents")
        for page in tables.values():
            notes.setdefault(page.table_sources, "open table")
        offers = {}
        for sources, note in notes.items():
            names = format_file_names([*map(make_short_name, sources)])
            kept = " · has questions" if get_table_path(sources).exists() else ""
            source = join_sources(sources)
            offers[sources] = StartOffer(
                group=OfferGroup.TABLE, name=names, note=f"{note}{kept}", source=source
            )
        return offers

    def _show_table(self, session: TableSession, sources: tuple[str, ...]) -> None:
        from roamtui.tui.screens.table import TableScreen  # noqa: PLC0415 - few open a table

        for mode, page in self._pages.items():
            if page.table_screen is not None and page.table_screen.table.folder == session.table.folder:
                page.table_screen.renew(session)
                self._switch_to(mode, can_return=True)
                return
        screen = TableScreen(session, self._keys)
        self._switch_to(
            self._add_page(screen, _Page(table_screen=screen, table_sources=sources)), can_return=True
        )
        if self.documents and session.table.columns:
            add, delete = (self._keys.first_keys[f"table.{verb}_column"] for verb in ("add", "delete"))
            words = f"This is your earlier table · {add} adds a question, {delete} deletes one"
            self.call_after_refresh(self.notify, words, markup=False)

    @on(DocumentRequested)
    @work(group="opening", exit_on_error=False)
    async def action_open_document(self, request: DocumentRequested | None = None) -> None:
        """Show a document, or let the person choose one."""
        from roamtui.tui.screens.open_document import OpenDialog  # noqa: PLC0415 - rarely needed

        request = request or DocumentRequested()
        mode = self._find_mode(request)
        if not mode:
            others = self._list_others() if self._pages else None
            model = self._shared_model
            dialog = OpenDialog(self._options.services, self._keys, request, self._find_mode, model, others)
            opened = await self.push_screen_wait(dialog)
            if opened is None:
                return
            if isinstance(opened, DocumentSession):
                screen = self._make_screen(opened)
                mode = self._add_page(screen, _Page(screen))
                request = DocumentRequested(place=request.place)  # the source is open
            else:  # the chosen document is open already
                request = opened
                mode = self._find_mode(opened)
        left = self.current_mode
        # a person can always go back to a table, but to a document only from a place that they came to see
        self._switch_to(mode, can_return=left not in self.documents or request.place is not None)
        self.main_screen.fulfil_request(request, can_return=self._pages[mode].origin == left)

    def _list_others(self) -> list[StartOffer]:
        """List an offer for each open document, except for the one that is shown."""
        offers = []
        for mode, screen in self.documents.items():
            library = screen.conversation.state.library
            if mode != self.current_mode:
                count = format_count(len(screen.conversation.state.exchanges), "question")
                note = f"{count} · answering" if screen.is_asking else count
                name = sanitise_line(library.title)
                offers.append(StartOffer(group=OfferGroup.OPEN, name=name, note=note, source=library.source))
        return offers

    def _find_mode(self, request: DocumentRequested) -> str:
        """Return the mode of the requested document, or an empty string if it is not open."""
        for mode, screen in self.documents.items():
            source = screen.conversation.state.library.source
            if request.source and os.path.realpath(request.source) == os.path.realpath(source):
                return mode
        return ""

    @on(Worker.StateChanged)
    def _on_worker_failed(self, event: Worker.StateChanged) -> None:
        if event.state is WorkerState.ERROR:
            self.notify(format_error(event.worker.error, self._keys), severity="error", markup=False)

    @override
    async def on_event(self, event: events.Event) -> None:
        if isinstance(event, events.Key | events.Paste | events.MouseDown) and not event.is_forwarded:
            self._remove_message()
        if isinstance(event, TypedEvent) and not event.is_forwarded:
            self.key_queue.put(event)
        else:
            await super().on_event(event)

    def watch_app_focus(self, focus: bool) -> None:  # noqa: FBT001 - Textual calls it
        """Focus the first widget of a screen that was shown while the terminal had no focus."""
        if focus and self.screen.focused is None:
            self.screen.focus_next(self.screen.AUTO_FOCUS or "*")

    def on_notify(self, event: Notify) -> None:
        """Show the message at the foot until the next key or click. Textual's toasts cover text.

        It is on the status line of a document if it fits there, so that the hints stay. Warnings and errors
        stand out more in place of the hints.
        """
        event.prevent_default()
        message = qualify_commands(event.notification.message)
        severity = event.notification.severity
        main = self.documents.get(self.current_mode)
        if main is not None and severity == "information" and main.status_line.has_room(message):
            main.status_line.message = message
        else:
            screen = main or self.screen
            screen.query_children(MessageLine).remove()
            screen.mount(MessageLine(message, severity))

    def _remove_message(self) -> None:
        main = self.documents.get(self.current_mode)
        (main or self.screen).query_children(MessageLine).remove()
        if main is not None:
            main.status_line.message = ""

    def action_help(self, typed: str = "") -> None:
        """List commands and keys, or close the list. A chosen command runs on the screen below the list.

        `typed` is text from the question box. It returns there if it is not a command.
        """
        from roamtui.tui.screens.help import HelpDialog  # noqa: PLC0415 - only for those who ask

        below = self.screen

        async def run(action_id: str | None) -> None:
            if action_id is not None:
                await self.run_action(self._keys.actions[action_id].call, below)

        if isinstance(below, HelpDialog):
            below.action_leave()
        elif below is (main := self.documents.get(self.current_mode)):
            main.show_help(typed)
        else:
            self.push_screen(HelpDialog(self._keys, Scope.START if below.is_modal else Scope.TABLE), run)

    @override
    def action_suspend_process(self) -> None:
        """Stop the whole process group, because a parent such as `make` would keep the terminal.

        If the process group leads the session, stop nothing, because no shell could take over the terminal.
        """
        driver = self._driver
        if sys.platform != "win32" and driver and driver.can_suspend and os.getpgrp() != os.getsid(0):
            driver.suspend_application_mode()
            os.killpg(0, signal.SIGSTOP)
            # Here the shell has continued the program, but the driver has drawn nothing yet.
            self.call_later(self.refresh, layout=True)
        else:
            self.notify("roamtui cannot go into the background here.", markup=False)

    @override
    async def action_quit(self) -> None:
        """Quit. If this would stop answers or a table, ask first, unless the key is pressed again."""
        from roamtui.tui.screens.dialogs import ConfirmDialog  # noqa: PLC0415

        screens = self.documents.values()
        running = [screen.conversation.state.library.title for screen in screens if screen.is_asking]
        if any(worker.group == "filling" and not worker.is_finished for worker in self.workers):
            running.append("Table")
        if running and (self._quit_dialog is None or self.screen is not self._quit_dialog):
            detail = f"{', '.join(running)}. Finished answers are kept."
            self._quit_dialog = ConfirmDialog("Quit while questions are being answered?", detail, yes="Quit")
            self.push_screen(self._quit_dialog, lambda answer: self.exit() if answer else None)
        else:
            self.exit()

    def action_choose_theme(self) -> None:
        from roamtui.tui.screens.pickers import ThemeDialog  # noqa: PLC0415 - only for those who ask

        self.push_screen(ThemeDialog(self, self._options.services))

    async def on_unmount(self) -> None:
        """Close the models, because their processes would outlive the app."""
        for model in {screen.agent.model for screen in self.documents.values()}:
            await model.close()
