"""The list of saved conversations: to go on with one, rename, delete or export it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option
from textual.worker import Worker, WorkerState
from typing_extensions import override

from roamtui.conversation.loading import identify_source, is_gone
from roamtui.conversation.session import Session
from roamtui.conversation.state import Exchange
from roamtui.conversation.store import ConversationSummary, Store
from roamtui.errors import StoreError
from roamtui.tui.actions import Scope
from roamtui.tui.app import describe_failure
from roamtui.tui.commands import DocumentWanted
from roamtui.tui.conversation_list import (
    ConversationList,
    delete_all,
    describe_conversation,
    name_conversation,
    propose_file_name,
    render_conversation,
)
from roamtui.tui.keys import Keys, bind
from roamtui.tui.screens.asking import Asking, aim_again
from roamtui.tui.screens.overlays import ListOverlay, PromptScreen
from roamtui.tui.screens.pane_switch import Panes, PaneSwitch
from roamtui.tui.screens.reading import Reading
from roamtui.tui.screens.writing import ask_and_write
from roamtui.tui.status_line import ScreenHints

_STEP = 200
"""Conversations that are listed at first, and added whenever the cursor comes to the last one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationChosen:
    """What a person wants to go on with."""

    conversation_id: str | None
    """None for a new conversation."""
    source: str = ""
    """Of another document, which is opened then."""


class ConversationsScreen(ListOverlay[ConversationChosen | None]):
    """Lists what is saved; what is deleted here can be brought back until it is left."""

    AUTO_FOCUS = "OptionList"
    BINDINGS = bind(Scope.CONVERSATIONS)
    DEFAULT_CSS = """
    ConversationsScreen {
        & > Vertical { width: 96; max-width: 96%; height: 90%; max-height: 90%; padding: 0 1; }
        & OptionList { height: 1fr; }
        & .said { height: auto; color: $accent; }
    }
    """

    def __init__(self, session: Session, store: Store, keys: Keys) -> None:
        super().__init__()
        self._session = session
        self._store = store
        self._keys = keys
        self._list = ConversationList(identify_source(session.state.library))
        self._shown: tuple[ConversationSummary, ...] = ()

    @override
    def compose(self) -> ComposeResult:
        with Vertical():
            yield Static(id="conversations-title")
            yield Input(placeholder="search titles, questions and answers", select_on_focus=False)
            yield OptionList()
            yield Static(classes="said", id="conversations-said")
            yield ScreenHints(self._keys, Scope.CONVERSATIONS)

    def on_mount(self) -> None:
        """Read what is saved."""
        self._show()
        self.run_worker(self._load(), exit_on_error=False)

    def on_unmount(self) -> None:
        """Delete what is left to delete, where the program ends from here."""
        with suppress(StoreError):
            self._delete_for_good()

    async def _load(self) -> None:
        self._list.summaries = await asyncio.to_thread(self._store.list)
        self._show()
        self._list.take_words(await asyncio.to_thread(self._store.read_words))
        if self._list.pattern:
            self._show()

    def _show(self, chosen_id: str | None = None) -> None:
        """List what is visible now, the cursor on one conversation, or as near as can be to where it was."""
        options = self.query_one(OptionList)
        chosen = chosen_id or (self._selected.id if self._selected else None)
        line = options.highlighted or 0
        self._shown = self._list.visible
        ids = [summary.id for summary in self._shown]
        place = ids.index(chosen) if chosen in ids else max(0, min(line, len(ids) - 1))
        options.clear_options()
        self._add_options(place + _STEP)
        if ids:
            options.highlighted = place
        scope = "all documents" if self._list.is_all else "this document"
        count = "no conversation" if not self._shown else f"{len(self._shown):,}"
        title = Content.assemble(("Conversations", "bold $primary"), (f" · {scope} · {count}", "$muted"))
        self.query_one("#conversations-title", Static).update(title)

    def _add_options(self, end: int) -> None:
        """List what is visible up to a place; thousands at once would hold up every key of a search."""
        options = self.query_one(OptionList)
        options.add_options([Option(self._draw(summary)) for summary in self._shown[options.option_count : end]])

    @on(OptionList.OptionHighlighted)
    def _add_more(self, event: OptionList.OptionHighlighted) -> None:
        count = event.option_list.option_count
        if event.option_index == count - 1 and count < len(self._shown):
            self._add_options(count + _STEP)

    def _draw(self, summary: ConversationSummary) -> Content:
        is_current = summary.id == self._session.state.id
        words = describe_conversation(summary, with_source=self._list.is_all)
        sign = "  ● now" if is_current else ""
        return Content.assemble((name_conversation(summary), "bold"), f"{sign}\n{words}")

    def _say(self, words: str) -> None:
        self.query_one("#conversations-said", Static).update(Content(words))

    @property
    def _selected(self) -> ConversationSummary | None:
        line = self.query_one(OptionList).highlighted
        return self._shown[line] if line is not None and line < len(self._shown) else None

    @on(Input.Changed)
    def _search(self, event: Input.Changed) -> None:
        self._list.pattern = event.value
        self._show()

    @on(Input.Submitted)
    def _go_to_list(self) -> None:
        self.query_one(OptionList).focus()

    @on(OptionList.OptionSelected)
    def _resume_chosen(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.action_resume()

    @on(Worker.StateChanged)
    def _tell_failure(self, event: Worker.StateChanged) -> None:
        if event.state is WorkerState.ERROR:
            self._say(describe_failure(event.worker.error))

    @override
    def action_leave(self) -> None:
        """Leave the search, then the list."""
        field = self.query_one(Input)
        if field.has_focus or field.value:
            field.value = ""
            self.query_one(OptionList).focus()
        else:
            self._close(None)

    def action_resume(self) -> None:
        """Go on with the conversation."""
        summary = self._selected
        if summary is None:
            return
        if self._list.is_here(summary):
            self._close(ConversationChosen(conversation_id=summary.id))
        elif summary.source.startswith("-"):
            self._say("It is about a document that came by a pipe, which is no longer there.")
        elif is_gone(summary.source):
            self._say(f"Its document is gone. If it was moved: roamtui NEW-PLACE --conversation {summary.id}")
        else:
            self._close(ConversationChosen(conversation_id=summary.id, source=summary.source))

    def action_create(self) -> None:
        """Begin a new conversation."""
        self._close(ConversationChosen(conversation_id=None))

    def action_search(self) -> None:
        """Search as you type."""
        self.query_one(Input).focus()

    def action_toggle_all(self) -> None:
        """Show conversations about all documents, or this one's alone."""
        self._list.is_all = not self._list.is_all
        self._show()

    def action_rename(self) -> None:
        """Give the conversation another title."""
        summary = self._selected
        if summary is not None:
            self.run_worker(self._rename(summary), exclusive=True, exit_on_error=False)

    async def _rename(self, summary: ConversationSummary) -> None:
        title = await self.app.push_screen_wait(PromptScreen("Title of the conversation", summary.title))
        if title is None:
            return
        if summary.id == self._session.state.id:
            await self._session.rename(title)
        await asyncio.to_thread(self._store.rename, summary.id, title)
        self._list.rename(summary.id, title)
        self._show()
        self._say(f"Renamed to “{title}”.")

    def action_delete(self) -> None:
        """Delete the conversation when the list is left."""
        summary = self._selected
        if summary is None:
            return
        if summary.id == self._session.state.id:
            self._say("This is the conversation that goes on now. Begin a new one, then this can be deleted.")
            return
        self._list.delete(summary.id)
        self._show()
        undo = self._keys.show_first("conversations.undo")
        self._say(f"Deleted “{name_conversation(summary)}”. {undo} brings it back until you leave this list.")

    def action_undo(self) -> None:
        """Bring back what was deleted last."""
        brought_id = self._list.undo()
        if brought_id is not None:
            self._show(brought_id)
            self._say("It is back.")

    def action_export(self) -> None:
        """Write the conversation into a file."""
        summary = self._selected
        if summary is not None:
            self.run_worker(self._export(summary), exclusive=True, exit_on_error=False)

    async def _export(self, summary: ConversationSummary) -> None:
        proposal = str(Path.cwd() / propose_file_name(summary))
        foot = "A name that ends in .json gives JSON, any other Markdown. enter writes it, esc closes"
        prompt = PromptScreen("Write the conversation to this file", proposal, foot=foot)
        self._say(await ask_and_write(self.app, prompt, partial(render_conversation, self._store, summary)))

    def _close(self, chosen: ConversationChosen | None) -> None:
        for problem in self._delete_for_good():
            self.app.notify(problem, severity="warning", markup=False)
        self.dismiss(chosen)

    def _delete_for_good(self) -> list[str]:
        """Delete what was hidden; return sentences about what could not be deleted, or not everywhere."""
        deleted_ids, self._list.deleted_ids = self._list.deleted_ids, ()
        return delete_all(self._store, deleted_ids)


class Turning:
    """Brings another conversation onto the screen: a saved one, a new one, or one that branches off."""

    def __init__(
        self, screen: Screen[None], asking: Asking, reading: Reading, panes: Panes, switch: PaneSwitch
    ) -> None:
        """Turn the session that `asking` asks in, by workers of `screen`."""
        self._screen = screen
        self._asking = asking
        self._reading = reading
        self._panes = panes
        self._switch = switch

    def choose(self, keys: Keys) -> str | None:
        """Let a person choose one of the saved conversations; return a sentence where none can be."""
        session = self._asking.session
        if session.store is None:
            return "Conversations are not saved here, so there is none to choose."

        def take(chosen: ConversationChosen | None) -> None:
            if chosen is None or chosen.conversation_id == session.state.id:
                return
            if chosen.source:
                self._screen.post_message(DocumentWanted(chosen.source, chosen.conversation_id))
            elif chosen.conversation_id is None:
                self.begin_anew()
            else:
                self.resume(chosen.conversation_id)

        self._screen.app.push_screen(ConversationsScreen(session, session.store, keys), take)
        return None

    async def tell_earlier(self, keys: Keys) -> None:
        """Say how many other conversations about this document are saved."""
        state, store = self._asking.session.state, self._asking.session.store
        if store is None or store.problem:
            return
        with suppress(StoreError):
            summaries = await asyncio.to_thread(store.list, identify_source(state.library))
            count = sum(summary.id != state.id for summary in summaries)
            what = "1 earlier conversation" if count == 1 else f"{count:,} earlier conversations"
            if count:
                self._panes.status.change(message=f"{what}: {keys.show_first('global.conversations')}")

    def resume(self, conversation_id: str) -> None:
        """Go on with a saved conversation about the same document."""
        self._turn(partial(_resume, conversation_id), "the conversation goes on")

    def begin_anew(self) -> None:
        """Begin a new conversation over the same document."""
        self._turn(_begin_anew, "a new conversation")

    def branch_off(self, number: int) -> None:
        """Begin a conversation that shares all before question `number`, which stands in the box to be changed."""
        exchange = self._asking.session.state.transcript.exchanges[number - 1]
        message = f"a new conversation from before question {number}; the other one is kept"
        self._turn(lambda session: session.fork(number), message, exchange)

    def _turn(self, make: Callable[[Session], Session], message: str, change: Exchange | None = None) -> None:
        turning = self._turn_to(make, message, change)
        self._screen.run_worker(turning, group="commands", exit_on_error=False)

    async def _turn_to(self, make: Callable[[Session], Session], message: str, change: Exchange | None) -> None:
        """Bring a conversation onto the screen, ready for its next question.

        Args:
            make: Makes it from the one before; may take a while.
            message: What to say then, in a few words.
            change: A question to ask anew, None for a question that is still to be written.
        """
        await self._asking.conversing.turn_to(make)
        self._asking.next.leave()
        state = self._asking.session.state
        for exchange in state.transcript.exchanges:
            self._panes.box.remember(exchange.question)
        self._reading.resume()
        self._switch.go_chat()
        self._panes.status.change(message=message)
        if change is not None:
            self._panes.box.fill(change.question)
            within = aim_again(change, state.library).within
            if within is not None:
                self._asking.next.narrow(within, state.library)


def _begin_anew(session: Session) -> Session:
    state = session.state
    return Session.start(state.library, store=session.store, options=state.options)


def _resume(conversation_id: str, session: Session) -> Session:
    assert session.store is not None
    state = session.state
    return Session.resume(
        state.library, conversation_id, store=session.store, options=state.options, loader=session.loader
    )
