"""`ConversationsDialog`: lists the saved conversations, to resume, rename, delete or export one."""

import asyncio
import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from msgspec.structs import replace
from textual import events, on, work
from textual.content import Content
from textual.worker import Worker
from typing_extensions import override

from roamtui.conversation.conversation import Conversation
from roamtui.conversation.events import ConversationRenamed
from roamtui.conversation.library_sync import get_source_key, is_source_missing
from roamtui.conversation.log import ConversationStore, ConversationSummary, format_time
from roamtui.conversation.notices import format_cost
from roamtui.conversation.state import ConversationState
from roamtui.document.library import Library
from roamtui.export.conversation import CONVERSATION_RENDERERS, reopen_document
from roamtui.paths import format_file_path
from roamtui.sanitiser import sanitise_line
from roamtui.sources.source_names import make_short_name
from roamtui.tui.actions import Keymap, Scope, make_bindings
from roamtui.tui.context import Services
from roamtui.tui.key_queue import LOADING
from roamtui.tui.messages import DocumentRequested
from roamtui.tui.screens.dialogs import (
    ConfirmDialog,
    ExportDialog,
    LocateDialog,
    PromptDialog,
    make_key_hints,
)
from roamtui.tui.screens.lists import ListDialog, Row, contains_words

_FILE_NAME_LENGTH_MAX = 60


class ConversationsDialog(ListDialog[ConversationSummary, DocumentRequested | None]):
    """Lists saved conversations, except those of `roamtui ask`.

    A conversation about the open document is resumed at once. For a conversation about another document, the
    result is a request to open that document.
    """

    AUTO_FOCUS = "ItemList"
    CLEARS_FIRST = True
    BINDINGS = make_bindings(Scope.SAVED)

    def __init__(
        self, conversation: Conversation | None, store: ConversationStore, keys: Keymap, services: Services
    ) -> None:
        foot = make_key_hints(keys, Scope.SAVED)
        super().__init__("Conversations", foot, placeholder="Search titles, questions and answers")
        self._conversation = conversation
        self._store = store
        self._services = services
        self._library = conversation.state.library if conversation is not None else None
        self._source = get_source_key(self._library) if self._library is not None else ""
        self._summaries: tuple[ConversationSummary, ...] = ()
        self._switching: Worker[None] | None = None

    @on(events.Mount)
    @work(group=LOADING, exit_on_error=False)
    async def _load(self) -> None:
        saved = await asyncio.to_thread(self._store.list)
        listed = [item for item in saved if item.is_listed or self._is_current(item)]
        is_open = self._conversation is not None
        self._summaries = tuple(sorted(listed, key=lambda item: is_open and item.source != self._source))
        self.show()
        self.show_message("" if listed else "No conversations yet: ask a question.")

    @override
    def list_rows(self, typed: str) -> Iterator[Row[ConversationSummary]]:
        """Yield the conversations that have each typed word.

        Without typed words, the conversations about the open document come first. Each group starts with the
        newest.
        """
        for summary in self._summaries:
            text = "\n".join((summary.title, summary.source, summary.model, summary.text))
            if not contains_words(text, typed):
                continue
            heading = ""
            if not typed and self._conversation is not None:
                heading = "This document" if summary.source == self._source else "Other documents"
            yield Row(summary, self._draw(summary), Content.styled(heading, "bold $primary"))

    def _is_current(self, summary: ConversationSummary) -> bool:
        return self._conversation is not None and summary.id == self._conversation.state.id

    def _draw(self, summary: ConversationSummary) -> Content:
        model = sanitise_line(summary.model)
        cost = format_cost(summary.usage)
        parts = [summary.size_label, format_time(summary.used_at), model, cost, summary.problem]
        if summary.source not in (self._source, ""):
            parts.append(make_short_name(format_file_path(summary.source)))
        sign = "  ● now" if self._is_current(summary) else ""
        facts = " · ".join(filter(None, parts))
        return Content.assemble((_format_title(summary), "bold"), f"{sign}\n{facts}")

    @override
    def choose(self, item: ConversationSummary) -> None:
        if self._switching is not None and not self._switching.is_finished:
            return
        if self._is_current(item):
            self.dismiss(None)
        elif not item.source:
            self.show_message(f"Cannot resume this conversation. {item.problem}", is_problem=True)
        elif self._conversation is not None and item.source == self._source:
            self._switching = self._switch(self._conversation, item.id)
        elif is_source_missing(item.source):
            self.app.push_screen(
                LocateDialog(item.source),
                lambda new: self.finish(DocumentRequested(new, item.id)) if new else None,
            )
        else:
            self.dismiss(DocumentRequested(item.source, item.id))

    @work(group="switching", exit_on_error=False)
    async def _switch(self, conversation: Conversation, saved_id: str) -> None:
        await conversation.open(saved_id)
        self.finish(None)

    @work(exclusive=True, exit_on_error=False)
    async def action_edit(self) -> None:
        summary = self.list.highlighted_item
        if summary is None:
            return
        prompt = PromptDialog("Rename conversation", summary.title, is_selected=True)
        title = await self.app.push_screen_wait(prompt)
        if title is None:
            return
        if self._conversation is not None and self._is_current(summary):
            await self._conversation.apply(ConversationRenamed(title=title))
        else:
            await asyncio.to_thread(self._store.rename, summary.id, title)
        self._summaries = tuple(
            replace(other, title=title) if other.id == summary.id else other for other in self._summaries
        )
        self.show()
        self.show_message(f"Renamed to “{title}”.")

    @work(exclusive=True, exit_on_error=False)
    async def action_delete(self) -> None:
        summary = self.list.highlighted_item
        if summary is not None and self._is_current(summary):
            self.show_message("Cannot delete the current conversation. Start a new one first.")
        elif summary is not None and await self.app.push_screen_wait(
            ConfirmDialog("Delete this for good?", _format_title(summary), yes="Delete")
        ):
            await asyncio.to_thread(self._store.delete, summary.id)
            self._summaries = tuple(other for other in self._summaries if other is not summary)
            self.show()
            self.show_message("Deleted.")

    @work(exclusive=True, exit_on_error=False)
    async def action_export(self) -> None:
        summary = self.list.highlighted_item
        if summary is None:
            return
        problem = ""

        def load() -> ConversationState:
            nonlocal problem
            if self._conversation is not None and self._is_current(summary):
                return self._conversation.state
            saved = self._store.load(summary.id)
            advice = "resume the conversation first"
            state, problem = reopen_document(saved, saved.source, self._services.reopen, advice)
            return state

        if words := await self.app.push_screen_wait(make_export_dialog(load, summary, self._library)):
            self.show_message(f"{words.removesuffix('.')}, but {problem}" if problem else words)


def make_export_dialog(
    load: Callable[[], ConversationState],
    summary: ConversationSummary | ConversationState,
    library: Library | None,
) -> ExportDialog:
    """Make the dialog that exports a conversation. `library` is the open document, if there is one."""

    def render(suffix: str, _: Path) -> str:
        return CONVERSATION_RENDERERS[suffix](load(), summary.source)

    renderers = {suffix: partial(render, suffix) for suffix in CONVERSATION_RENDERERS}
    words = re.findall(r"\w+", summary.title.lower())
    stem = "-".join(words)[:_FILE_NAME_LENGTH_MAX].strip("-_") or summary.id
    opened = library.source_names if library is not None else ()
    sources = (summary.source, *summary.added_sources, *opened)
    return ExportDialog("Export conversation to", stem, renderers, sources)


def _format_title(summary: ConversationSummary) -> str:
    return sanitise_line(summary.title) or f"Conversation {summary.id}"
