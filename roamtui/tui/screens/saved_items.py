"""`SavedItemsScreen`: a list of saved items where deletions can be undone, and `ExportDialog`, which writes them."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import ClassVar, Generic, TypeVar

from textual import on
from textual.app import App, ComposeResult
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
    """A list of saved items. A deletion can be undone until the person leaves the list.

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
        self._deleted_ids: list[str] = []
        """Ids of the hidden items, which are deleted when the person leaves. The last deleted one comes last."""
        self.deleting: asyncio.Future[list[str]] | None = None
        """The deletion, which starts when the person leaves. It takes seconds if another program locks the files."""

    def _compose_list(self) -> Sequence[Widget]:
        """Return any widgets to show above the list, then the list."""
        raise NotImplementedError

    def _list_items(self) -> Sequence[SavedItem]:
        """Return the items to show, including deleted ones."""
        raise NotImplementedError

    def _get_id(self, item: SavedItem) -> str:
        raise NotImplementedError

    def _fill(self, index: int) -> None:
        """List the visible items, with the cursor at an index."""
        raise NotImplementedError

    def _describe(self) -> str:
        """Return which documents are listed and how many items, as shown after the heading: "this document · 3"."""
        raise NotImplementedError

    def _delete(self, deleted_ids: list[str]) -> list[str]:
        """Delete items permanently. Return a sentence for each problem."""
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
        self._visible = tuple(item for item in self._list_items() if self._get_id(item) not in self._deleted_ids)
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

    def _mark_deleted(self, item: SavedItem, title: str = "") -> None:
        """Hide an item, and delete it when the person leaves."""
        self._deleted_ids.append(self._get_id(item))
        self._show()
        undo_key = self._keys.format_first_key("saved.undo")
        self._show_message(f"Deleted{title}. Press {undo_key} to undo before you close this list.")

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

    def action_undo(self) -> None:
        if self._deleted_ids:
            self._show(self._deleted_ids.pop())
            self._show_message("Restored.")

    def _close(self, result: ScreenResultType) -> None:
        """Leave, and delete the hidden items."""
        self._start_deleting()
        if self.deleting is not None:
            self.app.run_worker(_report_problems(self.app, self.deleting), exit_on_error=False)
        self.dismiss(result)

    async def on_unmount(self) -> None:
        """Delete the hidden items if the program ends while the list is open."""
        if self._deleted_ids:
            self._start_deleting()
            if self.deleting is not None:
                await self.deleting

    def _start_deleting(self) -> None:
        deleted_ids, self._deleted_ids = self._deleted_ids, []
        if deleted_ids:
            self.deleting = asyncio.get_running_loop().run_in_executor(None, self._delete, deleted_ids)

    def _export(self, dialog: ExportDialog) -> None:
        self.app.push_screen(dialog, self._show_message)


async def _report_problems(app: App[object], deleting: asyncio.Future[list[str]]) -> None:
    for problem in await deleting:
        app.notify(problem, severity="warning", markup=False)


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
