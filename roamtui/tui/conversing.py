"""Asks and dispatches: the coroutines that the app runs as workers."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from roamtui.conversation.transcript import Stopped
from roamtui.tui.chat.narration import recall_ending

if TYPE_CHECKING:
    from roamtui.agent.events import AgentEvent
    from roamtui.agent.loop import Agent
    from roamtui.tui.commands import MakeCommand
    from roamtui.tui.dispatch import EventDispatcher


@runtime_checkable
class _Startable(Protocol):
    """A model that can be started before it is asked."""

    async def start(self) -> None:
        """Get ready."""


class Conversing:
    """Sends a person's questions and commands to the core, and what happens to the dispatcher."""

    def __init__(self, agent: Agent, dispatcher: EventDispatcher) -> None:
        self._agent = agent
        self._dispatcher = dispatcher
        self._one_at_a_time = asyncio.Lock()

    async def ask(self, question: str) -> None:
        """Ask, and show all that happens; cancelled, show what was answered so far."""
        try:
            async with aclosing(self._agent.ask(question)) as events:  # type: ignore[type-var]
                async for event in events:
                    self._dispatcher.show(event)
        finally:
            self._show_interrupted()

    async def warm_up(self) -> None:
        """Start what the model needs to start, so that the first question does not wait for it."""
        model = self._agent.model
        if isinstance(model, _Startable):
            await model.start()

    async def dispatch(self, make: MakeCommand) -> None:
        """Carry out a command in its turn, and show what happened."""
        async with self._one_at_a_time:
            session = self._agent.session
            command = make(session.state)
            if command is not None:
                async for event in session.dispatch(command):
                    self._dispatcher.show(event)

    def show(self, event: AgentEvent) -> None:
        """Show something that happened before anything was asked."""
        self._dispatcher.show(event)

    def _show_interrupted(self) -> None:
        exchanges = self._agent.session.state.transcript.exchanges
        if exchanges and exchanges[-1].stopped is Stopped.CANCELLED:
            self._dispatcher.show(recall_ending(exchanges[-1]))
