"""`OpenDialog`: a box for a path or URL, and a list of what can be opened, filtered as a person types.

It is the first screen if no document was named; later it opens over the document on the screen. It offers recent
documents, files of this folder, recent conversations, examples and sites.
"""

from __future__ import annotations

import asyncio
import os
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice

from textual import events, on, work
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input, Log, OptionList, Static
from textual.worker import Worker, WorkerState
from typing_extensions import override

from roamtui.document.plain import sanitise_line
from roamtui.errors import OpeningCancelledError, RoamtuiError
from roamtui.models.base import Model
from roamtui.sources.listing import is_document_name, is_skipped_folder, make_sort_key
from roamtui.tui.actions import SHARED, Keymap, Scope, make_bindings
from roamtui.tui.context import DocumentOpener, OfferGroup, StartOffer, StartupContext
from roamtui.tui.labels import format_error
from roamtui.tui.messages import DocumentRequested
from roamtui.tui.screens.dialogs import ConfirmDialog, Dialog, ItemList
from roamtui.tui.status_line import format_key_hint

_TICK_SECONDS = 0.12
_FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_NAME_WIDTH = 34
_NAME_WIDTH_MAX = 48
"""Column of the notes beside names of usual lengths."""
_TWO_COLUMNS_MIN = 60
_EDGES_WIDTH = 4
"""Cells for the sign of the chosen line, and the scroll bar."""
_WHAT = "Ask a document. A model opens the sections it needs and backs its answer with verified quotes."
_HINT = "Type a path, a URL, or text to filter the list."
_FOOT = ("start.open", "start.complete", "start.leave", *SHARED)


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenChoice:
    """What the person chose."""

    source: str
    conversation_id: str | None
    """The conversation to resume, if one was chosen."""
    opened: StartupContext | None
    """None if it was open before."""


@dataclass(slots=True)
class _OpeningJob:
    """The opening of a source, by a worker that waits for a thread."""

    name: str
    worker: Worker[None] | None = None
    done: int = 0
    count: int = 0
    texts: deque[str] = field(default_factory=deque)
    """The text of pages that are not shown yet."""
    is_stopped: bool = False

    def report(self, done: int, count: int, text: str) -> None:
        """Take the progress and the text of another page; called in the thread.

        Raises:
            OpeningCancelledError: The person stopped the opening.
        """
        if self.is_stopped:
            raise OpeningCancelledError
        self.done, self.count = done, count
        self.texts.append(text)

    def stop(self) -> None:
        """Let the thread end at its next report, and stop waiting for it."""
        self.is_stopped = True
        if self.worker is not None:
            self.worker.cancel()


class OpenDialog(Dialog[OpenChoice | RoamtuiError | None]):
    """Opens a document that the person types or chooses. The result is None if the person leaves.

    If it is the first screen and was given a source that cannot be opened, the result is the error.
    """

    AUTO_FOCUS = "Input"
    BINDINGS = make_bindings(Scope.START) + make_bindings(Scope.GLOBAL, only=SHARED)

    def __init__(
        self,
        opening: DocumentOpener,
        keys: Keymap,
        model: Model | None = None,
        open_now: tuple[StartOffer, ...] = (),
        begin: DocumentRequested | None = None,
        problems: tuple[str, ...] = (),
    ) -> None:
        """Offer what `opening` lists.

        Args:
            opening: Lists offers and opens sources.
            keys: The keys.
            model: Answers about what is opened, None for the model of the settings.
            open_now: The open documents, the one on the screen last; if there is none, this is the first screen.
            begin: A source to open at once.
            problems: Sentences about the configuration.
        """
        super().__init__()
        self.VERTICAL_BREAKPOINTS = [(0, "-short"), (30, "-tall")]
        self._opening = opening
        self._keys = keys
        self._model = model
        self._problem = " ".join(problems)
        self._begin_with = begin
        self._offers = open_now[:-1]
        self._open_now = frozenset(offer.source for offer in open_now)
        self.set_class(not open_now, "-alone")
        self._list = ItemList[StartOffer]()
        self._field = Input(placeholder="Path or URL", select_on_focus=False)
        self._log = Log(auto_scroll=False)
        self._work: _OpeningJob | None = None
        self._frame = 0

    @override
    def compose(self) -> ComposeResult:
        with Vertical():
            if self.has_class("-alone"):
                yield Static(Content.assemble(("◆ ", "$secondary"), ("roamtui", "bold $primary")))
                yield Static(Content(_WHAT), id="open-what")
            else:
                yield Static(Content.styled("Open a document", "bold $primary"))
            with Vertical(id="open-box"):
                yield self._field
            yield Static(id="open-message")
            yield self._list
            yield self._log
            labels = {action.id: action.label.lower() for action in self._keys.actions}
            hints = [format_key_hint(self._keys.format_first_key(action_id), labels[action_id]) for action_id in _FOOT]
            yield Static(Content("  ").join(hints), id="open-foot")

    def on_mount(self) -> None:
        """List the offers, and open the source that was given."""
        self._list.can_focus = False  # a click must not take the focus: typing filters the list
        self._set_message(self._problem, is_problem=True)
        self.set_interval(_TICK_SECONDS, self._advance_spinner)
        self._load_offers()
        if self._begin_with is not None:
            self.add_class("-named")
            self._begin(self._begin_with.source, self._begin_with.conversation_id)

    @work(group="listing", exit_on_error=False)
    async def _load_offers(self) -> None:
        offers, problem = await asyncio.to_thread(self._opening.list_offers)
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
        fitting = [*filter_offers(self._offers, self._typed), *list_path_completions(self._typed)]
        longest = max((Content(offer.name).cell_length for offer in fitting), default=0)
        name_width = max(_NAME_WIDTH, min(longest + 2, _NAME_WIDTH_MAX))
        for group in OfferGroup:
            offers = [offer for offer in fitting if offer.group is group]
            if offers:
                lines.append((None, Content(("\n" if lines else "") + group.value)))
                lines += [(offer, self._draw(offer, name_width)) for offer in offers]
        self._list.set_items(lines, 1 if lines and not _is_existing_source(self._typed) else None)
        if self._typed and not lines and self._work is None:
            address = self._opening.suggest_address(self._typed)
            problem = f"no match; enter fetches {sanitise_line(address)}" if address else "No match"
            self._set_message("enter to open" if _is_existing_source(self._typed) else problem)

    def _draw(self, offer: StartOffer, name_width: int) -> Content:
        width = max(20, self._list.size.width - _EDGES_WIDTH)
        if width < _TWO_COLUMNS_MIN:
            return Content(offer.name).truncate(width, ellipsis=True)
        name = Content(offer.name)
        gap = max(2, name_width - name.cell_length)  # a long name goes on where the notes of others stand
        return (name + " " * gap + Content.styled(offer.note, "$muted")).truncate(width, ellipsis=True)

    def _set_message(self, words: str, *, is_problem: bool = False) -> None:
        message = self.query_one("#open-message", Static)
        message.set_class(is_problem and bool(words), "-problem")
        message.update(Content(words or _HINT))

    @on(Input.Changed)
    def _filter(self) -> None:
        if self._work is None:
            self._set_message("")
        self._show()

    @on(events.Resize)
    def _lay_out_again(self) -> None:
        self.call_after_refresh(self._show)

    @on(OptionList.OptionSelected)
    @on(Input.Submitted)
    def action_open(self) -> None:
        chosen = self._list.chosen
        if self._work is None and chosen is not None:
            self._begin(expand_user(chosen.source), chosen.conversation_id)
        elif self._work is None and self._typed:
            self._open_name(self._typed)

    def action_complete(self) -> None:
        """Complete the path to what the listed files have in common, else to the chosen one."""
        files = [offer for offer in self.offers if offer.group is OfferGroup.FILE]
        chosen = self._list.chosen or next(iter(files), None)
        value = complete_path(self._typed, files) or (chosen.source if chosen is not None else "")
        if value and value != self._typed:
            self._field.value = value
            self._field.cursor_position = len(value)
        elif self._work is None:
            self._set_message("Nothing to complete")

    def _open_name(self, typed: str) -> None:
        address = None if _is_existing_source(typed) else self._opening.suggest_address(typed)
        if typed == "-":
            self._set_message("Standard input works from the command line only: roamtui -", is_problem=True)
            return
        if address is None:
            self._begin(typed if "://" in typed else expand_user(typed), None)
            return

        def take(answer: bool | None) -> None:  # noqa: FBT001 - the result of a screen
            if answer:
                self._begin(address, None)

        question = "No such file. Fetch it from the web?"
        self.app.push_screen(ConfirmDialog(question, address, yes="Fetch"), take)

    def _begin(self, source: str, conversation_id: str | None) -> None:
        names = (source, os.path.abspath(source))  # noqa: PTH100 - keeps links
        if open_now := next((name for name in names if name in self._open_now), None):
            self.finish(OpenChoice(source=open_now, conversation_id=conversation_id, opened=None))
            return
        self._work = _OpeningJob(sanitise_line(source))
        self._work.worker = self._open(source, conversation_id, self._work)

    @work(group="opening", exit_on_error=False)
    async def _open(self, source: str, conversation_id: str | None, work: _OpeningJob) -> None:
        try:
            opened = await asyncio.to_thread(
                self._opening.open_source, source, conversation_id, self._model, work.report
            )
        except RoamtuiError as error:
            if self.has_class("-named") and self.has_class("-alone"):
                self.finish(error)
            else:
                self._on_opening_ended(sanitise_line(str(error)))
            return
        self.finish(OpenChoice(source=source, conversation_id=conversation_id, opened=opened))

    def _advance_spinner(self) -> None:
        """Show how far the opening is, how to stop it, and the pages that have been read."""
        if self._work is not None:
            self._frame = (self._frame + 1) % len(_FRAMES)
            far = f" {self._work.done:,} of {self._work.count:,}" if self._work.count else ""
            self._set_message(f"{_FRAMES[self._frame]} Opening {self._work.name}…{far} · esc to cancel")
            text = "".join(self._work.texts.popleft() for _ in range(len(self._work.texts)))
            if text:  # the person may read the first pages while the rest is converted
                self.add_class("-reading")
                self._log.write(text)

    def _on_opening_ended(self, problem: str = "") -> None:
        """Show the offers again, and the problem unless the person stopped the opening."""
        self._work = None
        self.remove_class("-reading", "-named")
        self._log.clear()
        self._set_message(problem, is_problem=True)

    @on(Worker.StateChanged)
    def _on_worker_failed(self, event: Worker.StateChanged) -> None:
        if event.state is WorkerState.ERROR:
            self._on_opening_ended(format_error(event.worker.error))

    def action_step(self, direction: int) -> None:
        """Select the next (1) or previous (-1) offer; while pages are shown, scroll them."""
        if self.has_class("-reading"):
            (self._log.scroll_page_down if direction > 0 else self._log.scroll_page_up)()
        else:
            (self._list.action_cursor_down if direction > 0 else self._list.action_cursor_up)()

    @override
    def action_leave(self) -> None:
        """Stop an opening, else clear the box, else leave."""
        if self._work is not None:
            self._work.stop()
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


_FILES_SHOWN = 6
"""Files of the current folder that are offered until a path is typed."""
_ENTRIES_MAX = 5_000
"""Entries that are read of a folder."""


def filter_offers(offers: Iterable[StartOffer], pattern: str) -> tuple[StartOffer, ...]:
    """Return the offers that contain each typed word."""
    words = pattern.casefold().split()
    return tuple(
        offer
        for offer in offers
        if all(word in f"{offer.group} {offer.name} {offer.note} {offer.source}".casefold() for word in words)
    )


def list_path_completions(typed: str) -> tuple[StartOffer, ...]:
    """Return the documents and folders that complete a typed path, or some of the current folder."""
    head, part = os.path.split(typed)
    is_path = bool(head) or typed.startswith((".", "~"))
    try:
        with os.scandir(expand_user(head) or ".") as entries:
            found = [(entry.name, entry.is_dir()) for entry in islice(entries, _ENTRIES_MAX)]
    except (OSError, ValueError):
        return ()
    files = []
    for name, is_folder in sorted(found, key=lambda entry: (entry[1], make_sort_key(entry[0]))):
        is_wanted = not is_skipped_folder(name) if is_folder else is_document_name(name)
        if not name.casefold().startswith(part.casefold() if is_path else "") or not (is_wanted or (is_path and part)):
            continue
        path = os.path.join(head, name) + (os.sep if is_folder else "")  # noqa: PTH118 - as it is typed
        note = "a folder" if is_folder else ""
        files.append(StartOffer(group=OfferGroup.FILE, name=sanitise_line(path), note=note, source=path))
    return tuple(files) if is_path else filter_offers(files, typed)[:_FILES_SHOWN]


def complete_path(typed: str, files: Sequence[StartOffer]) -> str | None:
    """Return the common start of all `files` that begin as typed, or None if it is no longer than that."""
    names = [offer.source for offer in files if offer.source.casefold().startswith(typed.casefold())]
    common = os.path.commonprefix(names)  # noqa: RUF071 - characters are meant
    return common if len(common) > len(typed) else None


def expand_user(typed: str) -> str:
    """Return a path with its leading ``~`` expanded."""
    return os.path.expanduser(typed)  # noqa: PTH111 - a path of an unknown user stays as it is
