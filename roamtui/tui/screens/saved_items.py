"""`SavedItemsScreen`: a list of saved items, and `ExportDialog`, which writes them."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import ClassVar, Generic, TypeVar

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ScreenResultType
from textual.widget import Widget
from textual.widgets import OptionList, Static
from textual.worker import Worker, WorkerState
from typing_extensions import override

from roamtui.errors import RoamtuiError, format_reason
from roamtui.tui.actions import LIST_IDS, Keymap, Scope, make_bindings
from roamtui.tui.labels import format_error
from roamtui.tui.screens.dialogs import ConfirmDialog, Dialog, PromptDialog
from roamtui.tui.status_line import ScreenKeyHints

SavedItem = TypeVar("SavedItem")
_EXPORT_FOOT = "enter to export, esc to cancel"
_FORMAT_NAMES = {".md": "Markdown", ".json": "JSON", ".html": "a web page", ".csv": "CSV"}


class SavedItemsScreen(Dialog[ScreenResultType], Generic[SavedItem, ScreenResultType]):
    """A list of saved items.

    Subclasses implement the methods that raise `NotImplementedError`.
    """

    HEADING: ClassVar[str]
    SCOPES: ClassVar[tuple[Scope, ...]] = (Scope.SAVED,)
    BINDINGS = make_bindings(Scope.SAVED) + make_bindings(Scope.MOVE, only=LIST_IDS)

    def __init__(self, keys: Keymap, message: str = "") -> None:
        """Show `message` below the list until another message replaces it."""
        super().__init__()
        self._keys = keys
        self._first_message = message
        self._visible: tuple[SavedItem, ...] = ()

    def _compose_list(self) -> Sequence[Widget]:
        """Return any widgets to show above the list, then the list."""
        raise NotImplementedError

    def _list_items(self) -> Sequence[SavedItem]:
        """Return the items to show."""
        raise NotImplementedError

    def _get_id(self, item: SavedItem) -> str:
        raise NotImplementedError

    def _fill(self, index: int) -> None:
        """List the visible items, with the cursor at an index."""
        raise NotImplementedError

    def _describe(self) -> str:
        """Return which documents are listed and how many items, as shown after the heading: "this document · 3"."""
        raise NotImplementedError

    def _delete(self, item: SavedItem) -> None:
        """Delete an item permanently, or raise `RoamtuiError`. Called in a thread."""
        raise NotImplementedError

    def _forget(self, item: SavedItem) -> None:
        """Take a deleted item out of those to show."""
        raise NotImplementedError

    @override
    def compose(self) -> ComposeResult:
        with Vertical():
            yield Static(classes="head")
            yield from self._compose_list()
            yield Static(self._first_message, classes="message", markup=False)
            yield ScreenKeyHints(self._keys, *self.SCOPES)

    @property
    def _selected(self) -> SavedItem | None:
        index = self.query_one(OptionList).highlighted
        return self._visible[index] if index is not None and index < len(self._visible) else None

    def _show(self, chosen_id: str | None = None) -> None:
        """List the items, with the cursor on the item `chosen_id`, or else where it was."""
        selected = self._selected
        if chosen_id is None and selected is not None:
            chosen_id = self._get_id(selected)
        self._visible = tuple(self._list_items())
        ids = [self._get_id(item) for item in self._visible]
        index = self.query_one(OptionList).highlighted or 0
        self._fill(ids.index(chosen_id) if chosen_id in ids else max(0, min(index, len(ids) - 1)))
        title = Content.assemble((self.HEADING, "bold $primary"), (f" · {self._describe()}", "$muted"))
        self.query_one(".head", Static).update(title)

    def _show_message(self, words: str | None) -> None:
        self.query_one(".message", Static).update(Content(words or ""))

    @on(Worker.StateChanged)
    def _on_worker_failed(self, event: Worker.StateChanged) -> None:
        if event.state is WorkerState.ERROR:
            self._show_message(format_error(event.worker.error))

    def _confirm_deletion(self, item: SavedItem, title: str) -> None:
        """Delete an item if the person agrees."""
        ConfirmDialog("Delete this for good?", title, yes="Delete").ask(
            self.app, lambda: self.run_worker(self._delete_now(item), exit_on_error=False)
        )

    async def _delete_now(self, item: SavedItem) -> None:
        await asyncio.to_thread(self._delete, item)
        self._forget(item)
        self._show()
        self._show_message("Deleted.")

    def action_move(self, lines: int) -> None:
        options = self.query_one(OptionList)
        (options.action_cursor_down if lines > 0 else options.action_cursor_up)()

    def action_page(self, pages: int) -> None:
        options = self.query_one(OptionList)
        (options.action_page_down if pages > 0 else options.action_page_up)()  # type: ignore[no-untyped-call]

    def action_first(self) -> None:
        self.query_one(OptionList).action_first()

    def action_last(self) -> None:
        self.query_one(OptionList).action_last()

    def _export(self, dialog: ExportDialog) -> None:
        self.app.push_screen(dialog, self._show_message)


class ExportDialog(PromptDialog):
    """Asks for a path and writes a file, in the format of its suffix. The result is a message about it.

    The result is None if the person cancels. An existing file is replaced only after the person confirms it.
    """

    def __init__(self, heading: str, stem: str, renderers: Mapping[str, Callable[[Path], str]]) -> None:
        """Propose a file in the current folder.

        Args:
            heading: Title of the dialog.
            stem: Name of the file, without suffix.
            renderers: Functions that return the text for a file, by its suffix. The first is the default. They are
                called in a thread, and raise RoamtuiError if that file must not be written.
        """
        default, *others = renderers
        formats = "".join(f"{suffix} exports {_FORMAT_NAMES[suffix]}, " for suffix in others)
        foot = f"{formats}anything else {_FORMAT_NAMES[default]}. {_EXPORT_FOOT}"
        super().__init__(heading, str(Path.cwd() / f"{stem}{default}"), foot=foot if others else _EXPORT_FOOT)
        self._renderers = renderers

    @override
    def _accept(self, value: str) -> None:
        self.run_worker(self._write(value), exclusive=True, exit_on_error=False)

    async def _write(self, name: str) -> None:
        path = Path(os.path.expanduser(name))  # noqa: ASYNC240, PTH111 - reads no disk, and keeps an unknown user
        render = self._renderers.get(path.suffix.lower()) or next(iter(self._renderers.values()))
        text = await asyncio.to_thread(render, path)
        if not await asyncio.to_thread(_write, path, text):
            question = ConfirmDialog("File exists. Overwrite it?", str(path), yes="Overwrite")
            if not await self.app.push_screen_wait(question):
                self.finish("Not saved.")
                return
            await asyncio.to_thread(_write, path, text, "w")
        self.finish(f"Saved {path}.")

    @on(Worker.StateChanged)
    def _on_worker_failed(self, event: Worker.StateChanged) -> None:
        if event.state is WorkerState.ERROR:
            self.finish(format_error(event.worker.error))


def _write(path: Path, text: str, mode: str = "x") -> bool:
    """Write a file. Return False if it exists and `mode` does not overwrite it."""
    try:
        with path.open(mode, encoding="utf-8", errors="backslashreplace", newline="\n") as file:
            file.write(text)
    except FileExistsError:
        return False
    except (OSError, ValueError) as error:
        reason = format_reason(error)
        raise RoamtuiError(f"Could not write {path}: {reason}.") from None
    return True
