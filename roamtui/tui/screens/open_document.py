"""`OpenDialog`: a box for a path or URL, and a list of documents to open, which typing filters.

Without a document, it is the first screen. Later it opens over the current document. It offers recent
documents, files of this folder, recent conversations, examples and sites.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import ClassVar

from textual import events, on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input, OptionList, Static
from textual.worker import Worker, WorkerState
from typing_extensions import override

from roamtui.document.plain import sanitise_line
from roamtui.errors import OpeningCancelledError, RoamtuiError
from roamtui.models.base import Model
from roamtui.sources.listing import is_document_name, is_skipped_folder, make_sort_key
from roamtui.tui.actions import SHARED_IDS, Keymap, Scope, make_bindings
from roamtui.tui.context import DocumentOpener, OfferGroup, StartOffer, StartupContext
from roamtui.tui.labels import format_error
from roamtui.tui.messages import DocumentRequested
from roamtui.tui.screens.dialogs import ConfirmDialog, Dialog, ItemList
from roamtui.tui.status_line import SPINNER_FRAMES, SPINNER_SECONDS, format_key_hint

_NAME_WIDTH_MIN, _NAME_WIDTH_MAX = 34, 48
"""In cells. Limits of the width of the column of names."""
_TWO_COLUMNS_MIN = 60
"""In cells. A narrower list shows only names."""
_EDGES_WIDTH = 4
"""In cells. The sign of the chosen line and the scroll bar together have this width."""
_INTRODUCTION = "Ask a document. A model opens the sections it needs and backs its answer with verified quotes."
_HINT = "Type a path, a URL, or text to filter the list."


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenChoice:
    """The document that the person chose."""

    source: str
    conversation_id: str | None
    """The conversation to resume, or None for a new one."""
    opened: StartupContext | None
    """The opened document, or None if it was open already or is to be added."""
    is_added: bool = False
    """Whether to add it as a source to the current conversation."""


@dataclass(slots=True)
class _OpeningJob:
    """A source that a thread is opening, while a worker waits for the thread."""

    name: str
    worker: Worker[None] | None = None
    done: int = 0
    count: int = 0
    is_stopped: bool = False

    def report(self, done: int, count: int) -> None:
        """Record the progress. Called in the thread.

        Raises:
            OpeningCancelledError: The person stopped the opening.
        """
        if self.is_stopped:
            raise OpeningCancelledError
        self.done, self.count = done, count

    def stop(self) -> None:
        """End the thread at its next report, and stop waiting for it."""
        self.is_stopped = True
        if self.worker is not None:
            self.worker.cancel()


class OpenDialog(Dialog[OpenChoice | None]):
    """Opens a document that the person types or chooses. The result is None if the person leaves."""

    AUTO_FOCUS = "Input"
    BINDINGS: ClassVar[list[BindingType]] = [
        *make_bindings(Scope.START),
        *make_bindings(Scope.GLOBAL, only=SHARED_IDS),
        Binding("down", "step(1)", "Next"),
        Binding("up", "step(-1)", "Previous"),
    ]

    def __init__(
        self,
        opener: DocumentOpener,
        keys: Keymap,
        model: Model | None = None,
        open_documents: tuple[StartOffer, ...] = (),
        request: DocumentRequested | None = None,
        problems: tuple[str, ...] = (),
    ) -> None:
        """Offer the sources that `opener` lists.

        Args:
            opener: Lists offers and opens sources.
            keys: The current keys.
            model: The model for the opened document, or None for the model of the settings.
            open_documents: The open documents, the current one last. If there are none, this is the first screen.
            request: A source to open now, or None.
            problems: Problems of the configuration, in sentences.
        """
        super().__init__()
        self.is_adding = False
        """Whether to add the choice to the current conversation, instead of opening it."""
        self.VERTICAL_BREAKPOINTS = [(0, "-short"), (30, "-tall")]
        self._opener = opener
        self._keys = keys
        self._model = model
        self._problem = " ".join(problems)
        self._request = request
        self._offers = open_documents[:-1]
        self._open_sources = frozenset(offer.source for offer in open_documents)
        self.set_class(not open_documents, "-alone")
        self._list = ItemList[StartOffer]()
        self._field = Input(placeholder="Path or URL", select_on_focus=False)
        self._field.cursor_blink = False  # each change takes 4 ms, because Textual draws much of the screen again
        self._job: _OpeningJob | None = None
        self._frame = 0

    @override
    def compose(self) -> ComposeResult:
        with Vertical():
            if self.has_class("-alone"):
                yield Static(Content.assemble(("◆ ", "$secondary"), ("roamtui", "bold $primary")))
                yield Static(Content(_INTRODUCTION), id="open-what")
            else:
                title = "Add a source to this conversation" if self.is_adding else "Open a document"
                yield Static(Content.styled(title, "bold $primary"))
            with Vertical(id="open-box"):
                yield self._field
            yield Static(id="open-message")
            yield self._list
            labels = {action.id: action.label.lower() for action in self._keys.actions}
            can_add = not (self.is_adding or self.has_class("-alone"))
            keys = {one: format_key_hint(self._keys.format_first_key(one), labels[one]) for one in labels}
            hints = [
                format_key_hint("enter", "add" if self.is_adding else "open"),
                *([keys["start.add"]] if can_add else []),
                keys["start.complete"],
                format_key_hint("esc", "close"),
                *(keys[one] for one in SHARED_IDS),  # last, because a narrow terminal cuts off the end
            ]
            yield Static(Content("  ").join(hints), id="open-foot")

    def on_mount(self) -> None:
        self._list.can_focus = False  # a click must not take the focus: typing filters the list
        self._set_message(self._problem, is_problem=True)
        self._spinner = self.set_interval(SPINNER_SECONDS, self._advance_spinner, pause=True)
        self._load_offers()
        if self._request is not None:
            self.add_class("-named")
            self._begin(self._request.source, self._request.conversation_id, is_added=self.is_adding)

    @work(group="listing", exit_on_error=False)
    async def _load_offers(self) -> None:
        offers, problem = await asyncio.to_thread(self._opener.list_offers)
        self._offers += offers
        if problem:
            self._set_message(problem, is_problem=True)
        self._show()

    @property
    def offers(self) -> tuple[StartOffer, ...]:
        """The listed offers, from top to bottom."""
        return tuple(offer for offer in self._list.items if offer is not None)

    @property
    def _typed(self) -> str:
        return self._field.value.strip()

    def _show(self) -> None:
        """List the offers that match the typed words, grouped under headings, and choose the first one."""
        lines: list[tuple[StartOffer | None, Content]] = []
        matching = [*filter_offers(self._offers, self._typed), *list_path_completions(self._typed)]
        longest = max((Content(offer.name).cell_length for offer in matching), default=0)
        name_width = max(_NAME_WIDTH_MIN, min(longest + 2, _NAME_WIDTH_MAX))
        for group in OfferGroup:
            offers = [offer for offer in matching if offer.group is group]
            if offers:
                lines.append((None, Content(("\n" if lines else "") + group.value)))
                lines += [(offer, self._draw(offer, name_width)) for offer in offers]
        self._list.set_items(lines, 1 if lines and not _is_existing_source(self._typed) else None)
        if self._typed and not lines and self._job is None:
            url = self._opener.suggest_url(self._typed)
            problem = f"no match; enter fetches {sanitise_line(url)}" if url else "No match"
            self._set_message("enter to open" if _is_existing_source(self._typed) else problem)

    def _draw(self, offer: StartOffer, name_width: int) -> Content:
        width = max(20, self._list.size.width - _EDGES_WIDTH)
        if width < _TWO_COLUMNS_MIN:
            return Content(offer.name).truncate(width, ellipsis=True)
        name = Content(offer.name)
        gap = max(2, name_width - name.cell_length)  # a long name takes room from its note
        return (name + " " * gap + Content.styled(offer.note, "$muted")).truncate(width, ellipsis=True)

    def _set_message(self, words: str, *, is_problem: bool = False) -> None:
        message = self.query_one("#open-message", Static)
        message.set_class(is_problem and bool(words), "-problem")
        message.update(Content(words or _HINT))

    @on(Input.Changed)
    def _filter(self) -> None:
        if self._job is None:
            self._set_message("")
        self._show()

    @on(events.Resize)
    def _lay_out_again(self) -> None:
        self.call_after_refresh(self._show_at_new_width)

    def _show_at_new_width(self) -> None:
        chosen = self._list.highlighted
        self._show()
        if chosen is not None:
            self._list.highlighted = chosen

    @on(OptionList.OptionSelected)
    @on(Input.Submitted)
    def action_open(self) -> None:
        self._use_source(is_added=self.is_adding)

    def _use_source(self, *, is_added: bool) -> None:
        """Open the chosen or typed source, or add it to the current conversation. Ask before fetching a guessed URL."""
        chosen, typed = self._list.chosen, self._typed
        if self._job is not None or (chosen is None and not typed):
            return
        if chosen is not None:
            self._begin(expand_user(chosen.source), chosen.conversation_id, is_added=is_added)
            return
        if typed == "-":
            self._set_message("Standard input works from the command line only: roamtui -", is_problem=True)
            return
        url = None if _is_existing_source(typed) else self._opener.suggest_url(typed)
        if url is None:
            self._begin(typed if "://" in typed else expand_user(typed), None, is_added=is_added)
            return
        question = "No such file. Fetch it from the web?"
        begin = partial(self._begin, url, None, is_added=is_added)
        ConfirmDialog(question, url, yes="Fetch").ask(self.app, begin)

    def action_add(self) -> None:
        """Add the typed or chosen source to the current conversation."""
        if self.has_class("-alone"):
            self._set_message("Open a document first", is_problem=True)
        else:
            self._use_source(is_added=True)

    def action_complete(self) -> None:
        """Complete the path as far as all listed files agree, or else to the chosen one."""
        files = [offer for offer in self.offers if offer.group is OfferGroup.FILE]
        chosen = self._list.chosen or next(iter(files), None)
        value = complete_path(self._typed, files) or (chosen.source if chosen is not None else "")
        if value and value != self._typed:
            self._field.value = value
            self._field.cursor_position = len(value)
        elif self._job is None:
            self._set_message("Nothing to complete")

    def _begin(self, source: str, conversation_id: str | None, *, is_added: bool) -> None:
        if is_added:
            self.finish(OpenChoice(source=source, conversation_id=None, opened=None, is_added=True))
            return
        names = (source, os.path.abspath(source))  # noqa: PTH100 - keeps links
        if open_source := next((name for name in names if name in self._open_sources), None):
            self.finish(OpenChoice(source=open_source, conversation_id=conversation_id, opened=None))
            return
        self._job = _OpeningJob(sanitise_line(source))
        self._job.worker = self._open(source, conversation_id, self._job)
        self._spinner.resume()

    @work(group="opening", exit_on_error=False)
    async def _open(self, source: str, conversation_id: str | None, job: _OpeningJob) -> None:
        try:
            opened = await asyncio.to_thread(self._opener.open_source, source, conversation_id, self._model, job.report)
        except RoamtuiError as error:
            self._on_opening_ended(sanitise_line(str(error)))
            return
        self.finish(OpenChoice(source=source, conversation_id=conversation_id, opened=opened))

    def _advance_spinner(self) -> None:
        """Show the progress of opening a source, and how to cancel it."""
        if self._job is not None:
            self._frame = (self._frame + 1) % len(SPINNER_FRAMES)
            progress = f" {self._job.done:,} of {self._job.count:,}" if self._job.count else ""
            self._set_message(f"{SPINNER_FRAMES[self._frame]} Opening {self._job.name}…{progress} · esc to cancel")

    def _on_opening_ended(self, problem: str = "") -> None:
        """Show the offers again, and the problem, which is empty if the person cancelled."""
        self._job = None
        self._spinner.pause()
        self.remove_class("-named")
        self._set_message(problem, is_problem=True)

    @on(Worker.StateChanged)
    def _on_worker_failed(self, event: Worker.StateChanged) -> None:
        if event.state is WorkerState.ERROR:
            self._on_opening_ended(format_error(event.worker.error))

    def action_step(self, direction: int) -> None:
        """Select the next (1) or previous (-1) offer."""
        (self._list.action_cursor_down if direction > 0 else self._list.action_cursor_up)()

    @override
    def action_leave(self) -> None:
        """Cancel opening a source, or else clear the box, or else leave."""
        if self._job is not None:
            self._job.stop()
            if self.has_class("-named"):
                self.dismiss(None)
            else:
                self._on_opening_ended()
        elif self._typed:
            self._field.value = ""
        else:
            self.dismiss(None)


def _is_existing_source(typed: str) -> bool:
    """Return whether the typed text is a URL or the path of an existing file."""
    return bool(typed) and ("://" in typed or os.path.lexists(expand_user(typed)))


_FILES_SHOWN_MAX = 6
"""Maximum number of entries of the current folder that are offered until the person types a path."""
_FOLDER_ENTRIES_MAX = 5_000
"""Maximum number of entries of a folder that are read."""


def filter_offers(offers: Iterable[StartOffer], pattern: str) -> tuple[StartOffer, ...]:
    """Return the offers that contain each typed word."""
    words = pattern.casefold().split()
    return tuple(
        offer
        for offer in offers
        if all(word in f"{offer.group} {offer.name} {offer.note} {offer.source}".casefold() for word in words)
    )


def list_path_completions(typed: str) -> tuple[StartOffer, ...]:
    """Return the documents and folders that complete a typed path, or else some of those in the current folder."""
    head, part = os.path.split(typed)
    is_path = bool(head) or typed.startswith((".", "~"))
    try:
        with os.scandir(expand_user(head) or ".") as entries:
            names = [(entry.name, entry.is_dir()) for entry in islice(entries, _FOLDER_ENTRIES_MAX)]
    except (OSError, ValueError):
        return ()
    files = []
    for name, is_folder in sorted(names, key=lambda entry: (entry[1], make_sort_key(entry[0]))):
        is_listed = not is_skipped_folder(name) if is_folder else is_document_name(name)
        is_typed = is_path and bool(part)  # a typed path may name any file
        if not name.casefold().startswith(part.casefold() if is_path else "") or not (is_listed or is_typed):
            continue
        path = os.path.join(head, name) + (os.sep if is_folder else "")  # noqa: PTH118 - as it is typed
        note = "a folder" if is_folder else ""
        files.append(StartOffer(group=OfferGroup.FILE, name=sanitise_line(path), note=note, source=path))
    return tuple(files) if is_path else filter_offers(files, typed)[:_FILES_SHOWN_MAX]


def complete_path(typed: str, files: Sequence[StartOffer]) -> str | None:
    """Return the common start of all `files` that begin with the typed text, or None if it is not longer."""
    names = [offer.source for offer in files if offer.source.casefold().startswith(typed.casefold())]
    common = os.path.commonprefix(names)  # noqa: RUF071 - characters are meant
    return common if len(common) > len(typed) else None


def expand_user(typed: str) -> str:
    """Return a path with its leading ``~`` expanded."""
    return os.path.expanduser(typed)  # noqa: PTH111 - the path of an unknown user is kept
