"""`TableController`: shows tables, and opens the documents and conversations of their cells."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from textual.app import App

from roamtui.errors import RoamtuiError
from roamtui.table.runner import TableJob
from roamtui.table.store import read_table
from roamtui.tui.actions import Keymap
from roamtui.tui.chat.content_view import SectionTarget
from roamtui.tui.messages import CellRequested, DocumentRequested
from roamtui.tui.screens.table import TableScreen


class TableController:
    """Shows tables over the current screen, and remembers which document each cell led to."""

    def __init__(
        self,
        app: App[None],
        keys: Keymap,
        prepare_table: Callable[[tuple[str, ...]], TableJob],
        open_document: Callable[[DocumentRequested, Callable[[str], None]], None],
        show_document: Callable[[str, SectionTarget | None], bool],
    ) -> None:
        """Show the tables that `prepare_table` makes ready; see `DocumentOpener.open_table`.

        The other functions are as in `DocumentLinkController`, but `open_document` opens a document again if it is open
        already.
        """
        self._app = app
        self._keys = keys
        self._prepare_table = prepare_table
        self._open_document = open_document
        self._show_document = show_document
        self._modes: dict[tuple[str, str | None], str] = {}
        """Textual's mode of each document that a cell led to, by the document's source and conversation."""
        self._table_modes: dict[str, str] = {}
        """The mode of the table whose cell led to a document, by the mode of the document."""

    async def show(self, sources: tuple[str, ...]) -> RoamtuiError | None:
        """Show the table of some sources, or a table by its folder, until the person leaves it.

        Must be called from a worker.

        Returns:
            Why the table cannot be opened, if it cannot.
        """
        try:
            job = await asyncio.to_thread(self._prepare_table, sources)
            content = await asyncio.to_thread(read_table, job.store.folder)
        except RoamtuiError as error:
            return error
        mode = self._app.current_mode
        await self._app.push_screen_wait(TableScreen(job, content, self._keys))
        self._table_modes = {target: origin for target, origin in self._table_modes.items() if origin != mode}
        return None

    def get_table_mode(self, mode: str) -> str:
        """Return the mode of the table whose cell led to a document, or an empty string if the person has left it."""
        return self._table_modes.get(mode, "")

    def open_cell(self, request: CellRequested) -> None:
        """Open the document of a cell with the conversation of the cell, and show its quote if one is requested."""
        cell = (request.source, request.log_path)
        target = SectionTarget(request.section_id, request.citation) if request.section_id is not None else None
        table_mode = self._app.current_mode

        def on_opened(mode: str) -> None:
            self._modes[cell] = mode
            self._table_modes[mode] = table_mode
            self._show_document(mode, target)

        if (mode := self._modes.get(cell, "")) and self._show_document(mode, target):
            self._table_modes[mode] = table_mode
        else:
            self._open_document(DocumentRequested(*cell), on_opened)
