"""`OpenDialog`: a field for a path or URL, and a list of documents to open. Typing filters the list.

If no document is open, it is the first screen. Otherwise it covers the current document. It offers the other
open documents, recent documents, files of this folder, recent conversations and examples.
"""

import asyncio
import os
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import ClassVar

from msgspec.structs import replace
from textual import events, on, work
from textual.binding import BindingType
from textual.content import Content
from textual.screen import ScreenResultType
from textual.worker import Worker, get_current_worker
from typing_extensions import override

from roamtui.conversation.log import open_store
from roamtui.convert.converted import format_progress
from roamtui.errors import OpeningCancelledError
from roamtui.models.base import Model
from roamtui.opening.loader import suggest_url
from roamtui.parallel import call_in_thread, open_in_thread
from roamtui.paths import expand_user
from roamtui.sanitiser import sanitise_line
from roamtui.sources.listing import is_document_name, is_skipped_folder, make_sort_key
from roamtui.sources.source_names import expand_sources
from roamtui.tui.actions import Keymap, Scope, make_bindings, make_refusals
from roamtui.tui.context import DocumentSession, OfferGroup, Services, StartOffer
from roamtui.tui.messages import DocumentRequested
from roamtui.tui.screens.dialogs import LocateDialog, make_foot
from roamtui.tui.screens.lists import ListDialog, PickerItem, Row, contains_words, lay_out_columns

_GROUPS = list(OfferGroup)
_INTRODUCTION = "Ask a document; its quotes are looked up."
_FILES_SHOWN_MAX = 6
"""Maximum number of entries of the current folder that are offered until the person types."""
_FOLDER_ENTRIES_MAX = 5_000
"""Maximum number of entries of a folder, and of folders and files below it, that are searched."""
_BELOW_SHOWN_MAX = 20
"""Maximum number of files below the current folder that are offered."""


class SourceDialog(ListDialog[StartOffer, ScreenResultType]):
    """Offers sources to choose from."""

    CLEARS_FIRST = True
    NO_MATCH = "No such file, and no match. Change the text."
    BINDINGS: ClassVar[list[BindingType]] = [
        *make_bindings(Scope.START, Scope.GLOBAL, works_in=(Scope.START,)),
        *make_refusals(Scope.START),
    ]
    VERB: ClassVar[str] = "open"
    """What enter does with a source."""

    def __init__(
        self,
        services: Services,
        keys: Keymap,
        title: Content | str,
        first: Sequence[StartOffer] = (),
        quit_key: str = "",
    ) -> None:
        """Offer `first`, then the sources that `services` lists, and those that a person types.

        If there is nothing to go back to, `quit_key` says how to quit.
        """
        complete_key, help_key = map(keys.first_keys.__getitem__, ("start.complete", "global.help"))
        others = f", {complete_key} to complete a path, {help_key} for help, "
        leaving, after = (
            ("esc to clear", f", {quit_key} to quit") if quit_key else ("esc to clear or close", "")
        )
        foot = make_foot(f"enter to {self.VERB}", leaving, between=others, after=after)
        self._quit_key = quit_key
        super().__init__(title, foot, placeholder="A path, a URL, or text to filter the list")
        self._services = services
        self._first = tuple(first)
        self._offers = self._first
        self._documents_below: Sequence[str] = ()

    @on(events.Mount)
    @work(group="listing", exit_on_error=False)
    async def _load_offers(self) -> None:
        self._offers = await asyncio.to_thread(self.list_offers)
        self.show_from_top()
        self._documents_below = await call_in_thread(list_documents_below)
        if self.typed:
            self.show()

    def list_offers(self) -> tuple[StartOffer, ...]:
        """List what is offered before the person types. Called in a thread."""
        return (*self._first, *self._services.list_offers())

    @override
    def list_rows(self, typed: str) -> Iterator[Row[StartOffer]]:
        offers = [*self._offers, *list_path_completions(typed)]
        if typed:
            below = (path for path in self._documents_below if contains_words(path, typed))
            offers += map(_make_file_offer, islice(below, _BELOW_SHOWN_MAX))
        items = [
            PickerItem(
                value=offer, label=offer.name, note=offer.note, group=offer.group, synonyms=offer.source
            )
            for offer in sorted(dict.fromkeys(offers), key=lambda offer: _GROUPS.index(offer.group))
            if offer.source != typed or not typed
        ]
        rows = lay_out_columns(items, typed, self.list.line_width)
        if typed and ("://" in typed or os.path.lexists(expand_user(typed))):
            yield self._make_typed_row(typed)
        yield from rows
        if url := suggest_url(typed):
            yield self._make_typed_row(url)

    def _make_typed_row(self, source: str) -> Row[StartOffer]:
        offer = StartOffer(group=OfferGroup.TYPED, name=sanitise_line(source), note="", source=source)
        return Row(offer, Content.assemble(offer.name, (f"  enter {self.VERB}s it", "$muted")))

    @override
    def choose(self, item: StartOffer) -> None:
        if item.refusal:
            self.show_message(item.refusal, is_problem=True)
        elif item.is_missing:
            self.app.push_screen(
                LocateDialog(item.source),
                lambda found: self.choose(replace(item, source=found, is_missing=False)) if found else None,
            )
        else:
            self.accept(DocumentRequested(expand_sources(item.source), item.conversation_id), item.model)

    def accept(self, request: DocumentRequested, model: Model | None) -> None:
        """Act on a chosen source, and the model that its offer names. A subclass implements this."""
        raise NotImplementedError

    def action_complete(self) -> None:
        """Put the file under the cursor, or else the first file of the list, into the field."""
        offers = self.list.items
        files = [each for each in offers if each.group is OfferGroup.FILE and each.source != self.typed]
        highlighted = self.list.highlighted_item
        chosen = highlighted if highlighted in files else next(iter(files), None)
        if chosen is not None:
            self.field.value = chosen.source
            self.field.cursor_position = len(chosen.source)


class OpenDialog(SourceDialog[DocumentSession | DocumentRequested | None]):
    """Opens a document. The result is its session, a request that `is_open` accepted, or None."""

    def __init__(
        self,
        services: Services,
        keys: Keymap,
        request: DocumentRequested,
        is_open: Callable[[DocumentRequested], object],
        model: Model | None = None,
        opened: Sequence[StartOffer] | None = None,
    ) -> None:
        """Open the source of `request`. If it has none, offer sources, those that are `opened` first.

        If `is_open` returns a true value for a request, the request is the result, unless its offer names a
        model. `model` replaces the model of the settings. If `opened` is None, this is the first screen:
        it introduces the program, and only a choice closes it.
        """
        first_title = Content.assemble(("◆ roamtui", "bold $primary"), (f" · {_INTRODUCTION}", "$muted"))
        quit_key = keys.first_keys["global.quit"] if opened is None else ""
        title = first_title if opened is None else "Open a document"
        super().__init__(services, keys, title, opened or (), quit_key)
        self.set_class(opened is None, "-alone")
        self._keys = keys
        self._model = model
        self._request = request
        self._is_open = is_open
        self._opening: Worker[None] | None = None

    @on(events.Mount)
    def _open_named(self) -> None:
        if self._request.source:
            self.add_class("-named")
            self._opening = self._open(self._request.source, self._request.conversation_id, self._model)

    @override
    def accept(self, request: DocumentRequested, model: Model | None) -> None:
        if self._opening is not None:
            return
        if model is None and self._is_open(request):
            self.finish(request)
        else:
            self._opening = self._open(request.source, request.conversation_id, model or self._model)

    @work(group="finding", exclusive=True, exit_on_error=False)
    async def action_conversations(self) -> None:
        from roamtui.tui.screens.conversations import ConversationsDialog  # noqa: PLC0415

        dialog = ConversationsDialog(None, open_store(), self._keys, self._services)
        if request := await self.app.push_screen_wait(dialog):
            self.accept(request, None)
        else:
            self._load_offers()  # conversations may have been renamed or deleted

    @work(group="opening", exit_on_error=False)
    async def _open(self, source: str, conversation_id: str | None, model: Model | None) -> None:
        worker = get_current_worker()
        self.show_message(f"Opening {source}… · esc to cancel")

        def show_progress(done: int, count: int) -> None:
            if not worker.is_cancelled:
                self.show_message(f"Opening {source}…{format_progress(done, count)} · esc to cancel")

        def on_progress(done: int, count: int) -> None:  # called in the thread
            self.app.call_from_thread(show_progress, done, count)
            if worker.is_cancelled:
                raise OpeningCancelledError

        kept = model if conversation_id is None else None  # a resumed conversation has its own model
        work = partial(self._services.open_source, source, conversation_id, kept, on_progress)
        try:
            opened = await open_in_thread(work, DocumentSession.close)
        except Exception:
            self._show_offers_again()  # before `Dialog` shows the error
            raise
        self.finish(opened)

    def _show_offers_again(self) -> None:
        self._opening = None
        self.remove_class("-named")
        self.show_message("")

    @override
    def action_leave(self) -> None:
        """Cancel opening a source. If none is, clear the field, or leave, unless this is the first screen."""
        if self._opening is None:
            if self._quit_key and not self.typed:
                self.show_message(f"There is nothing to go back to. {self._quit_key} quits.")
            else:
                super().action_leave()
            return
        self._opening.cancel()
        if self.has_class("-named"):
            self.dismiss(None)
        else:
            self._show_offers_again()


class ChooseSourceDialog(SourceDialog[str | None]):
    """Lets a person choose a source. The result is its name, or None."""

    @override
    def accept(self, request: DocumentRequested, model: Model | None) -> None:
        self.finish(request.source)

    @override
    def list_offers(self) -> tuple[StartOffer, ...]:
        offers = super().list_offers()
        return tuple(offer for offer in offers if offer.conversation_id is None and offer.model is None)


class AddSourceDialog(ChooseSourceDialog):
    """Lets a person choose a source to add to the conversation."""

    VERB = "add"

    def __init__(self, services: Services, keys: Keymap) -> None:
        super().__init__(services, keys, "Add a source to this conversation")


def _make_file_offer(path: str, note: str = "") -> StartOffer:
    return StartOffer(group=OfferGroup.FILE, name=sanitise_line(path), note=note, source=path)


def list_path_completions(typed: str) -> list[StartOffer]:
    """Return the documents and folders that complete a typed path. Without one, list the current folder."""
    head, part = os.path.split(typed)
    is_path = bool(head) or typed.startswith((".", "~"))
    try:
        with os.scandir(expand_user(head) or ".") as entries:
            names = [(entry.is_dir(), entry.name) for entry in islice(entries, _FOLDER_ENTRIES_MAX)]
    except (OSError, ValueError):
        return []
    offers = []
    for is_folder, name in sorted(names, key=lambda entry: (entry[0], make_sort_key(entry[1]))):
        if is_path and part:  # after a typed path, offer any kind of file
            is_offered = name.casefold().startswith(part.casefold())
        else:
            is_offered = not is_skipped_folder(name) if is_folder else is_document_name(name)
        if is_offered:
            path = os.path.join(head, f"{name}{os.sep}" if is_folder else name)  # noqa: PTH118 - as it is typed
            note = "a folder" if is_folder else ""
            offers.append(_make_file_offer(path, note))
    return offers if typed else offers[:_FILES_SHOWN_MAX]


def list_documents_below() -> list[str]:
    """List the documents in the folders below the current one."""
    paths: list[str] = []
    for folder, folders, names in islice(os.walk("."), _FOLDER_ENTRIES_MAX):
        folders[:] = sorted(name for name in folders if not is_skipped_folder(name))
        paths += (os.path.join(folder[2:], name) for name in sorted(names) if is_document_name(name))  # noqa: PTH118
        if len(paths) >= _FOLDER_ENTRIES_MAX:
            break
    return [path for path in paths[:_FOLDER_ENTRIES_MAX] if os.sep in path]
