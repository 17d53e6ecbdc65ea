"""Which conversation to turn to: a saved one, a new one, or one that branches off."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from roamtui.conversation.session import Session
from roamtui.tui.screens.conversations import ConversationChosen, ConversationsScreen

if TYPE_CHECKING:
    from textual.app import App

    from roamtui.conversation.transcript import Exchange
    from roamtui.tui.keys import Keys

MakeSession = Callable[[Session], Session]
"""Makes another conversation from the one before; may take a while."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """Another conversation to go on with."""

    make: MakeSession
    message: str
    """What to say then, in a few words."""
    question: str = ""
    """What then stands in the question box."""
    within: str | None = None
    """Id of the section that this question is about, None for the whole document."""


def choose_conversation(app: App[None], session: Session, keys: Keys, turn: Callable[[Turn], None]) -> str | None:
    """Let a person choose one of the saved conversations; return a sentence where none can be.

    Args:
        app: Shows the list.
        session: The conversation that goes on now.
        keys: Keys in force.
        turn: Called with the choice.
    """
    if session.store is None:
        return "Conversations are not saved here, so there is none to choose."

    def take(chosen: ConversationChosen | None) -> None:
        if chosen is None or chosen.conversation_id == session.state.id:
            return
        turn(begin_anew() if chosen.conversation_id is None else resume(chosen.conversation_id))

    app.push_screen(ConversationsScreen(session, session.store, keys), take)
    return None


def begin_anew() -> Turn:
    """Return a new conversation over the same document."""

    def make(session: Session) -> Session:
        state = session.state
        return Session.start(state.library, store=session.store, options=state.options)

    return Turn(make=make, message="a new conversation")


def resume(conversation_id: str) -> Turn:
    """Return a saved conversation, as it was left."""

    def make(session: Session) -> Session:
        assert session.store is not None
        state = session.state
        return Session.resume(
            state.library, conversation_id, store=session.store, options=state.options, loader=session.loader
        )

    return Turn(make=make, message="the conversation goes on")


def branch_off(exchange: Exchange, within: str | None) -> Turn:
    """Return a conversation that shares all before a question, which stands in the box to be changed."""
    message = f"a new conversation from before question {exchange.number}; the other one is kept"
    question = exchange.question
    return Turn(make=lambda session: session.fork(exchange.number), message=message, question=question, within=within)
