"""`ConversationSwitcher`: switches to a saved conversation, a new one, or a branch of this one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from textual.widget import Widget

from roamtui.agent.loop import Agent
from roamtui.conversation.state import Exchange
from roamtui.tui.actions import Keymap
from roamtui.tui.messages import DocumentRequested, StatusMessage
from roamtui.tui.screens.conversations import ConversationsScreen


class ConversationSwitcher:
    """Switches between the conversations about a document, except while a question is being answered."""

    def __init__(
        self,
        agent: Agent,
        widget: Widget,
        keys: Keymap,
        warn_if_busy: Callable[[], bool],
        on_switched: Callable[[Exchange | None], None],
    ) -> None:
        """Switch the conversation of `controller`. `widget` posts messages and runs the work.

        `warn_if_busy` returns whether a question is being answered, and if so, warns the person. `on_switched` is
        called after a switch, with the exchange whose question the person will edit, or None.
        """
        self._agent = agent
        self._widget = widget
        self._keys = keys
        self._warn_if_busy = warn_if_busy
        self._on_switched = on_switched

    def choose(self) -> None:
        """List the saved conversations, and switch to the one that the person chooses."""
        store = self._agent.conversation.store
        if self._warn_if_busy():
            return
        if store is None:
            problem = "No saved conversations: saving is off here."
            self._widget.notify(problem, severity="warning", markup=False)
            return

        def switch(chosen: DocumentRequested | None) -> None:
            if chosen is not None and chosen.source:
                self._widget.post_message(chosen)
            elif chosen is not None and chosen.conversation_id != self._agent.conversation.state.id:
                self.resume(chosen.conversation_id)

        self._widget.app.push_screen(ConversationsScreen(self._agent, store, self._keys), switch)

    def resume(self, conversation_id: str | None) -> None:
        """Switch to a saved conversation about this document, or to a new one for None."""
        if self._warn_if_busy():
            return
        if conversation_id is None:
            self._switch(self._agent.conversation.start_new(), "Started a new conversation")
        else:
            self._switch(self._agent.conversation.open(conversation_id), "Resumed the conversation")

    def fork(self, number: int) -> None:
        """Switch to a new conversation with everything before a question, by its number from 1."""
        if not self._warn_if_busy():
            exchange = self._agent.conversation.state.transcript.exchanges[number - 1]
            words = f"Branched before question {number}; the original is kept"
            self._switch(self._agent.conversation.fork(exchange), words, exchange)

    def _switch(self, switching: Awaitable[None], words: str, edited: Exchange | None = None) -> None:
        async def switch() -> None:
            before_id = self._agent.conversation.state.id
            await switching
            if self._agent.conversation.state.id != before_id:
                self._on_switched(edited)
                self._widget.post_message(StatusMessage(words))

        self._widget.run_worker(switch(), group="commands", exit_on_error=False)
