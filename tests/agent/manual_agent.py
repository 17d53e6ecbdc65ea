"""An agent over a small manual, with a model that says what it was told to."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from roamtui.agent.loop import Agent
from roamtui.agent.options import AgentOptions
from roamtui.conversation.events import ConversationEvent, QuestionAnswered
from roamtui.conversation.session import Session
from roamtui.conversation.state import ConversationState, KeepOptions
from roamtui.conversation.store import Store
from roamtui.document.library import Library
from roamtui.search.base import Hit
from tests.conversation.conversations import check_messages, find, make_library
from tests.fakes.scripted_model import Reply, ScriptedModel, ScriptedReply

MANUAL = """\
# Manual

Welcome.

## Lending

Books can be borrowed for *four weeks*. See the [rules](rules.md "Rules") for more.

### Fees

Late returns cost 2 euros a day.

### Lost books

A lost book costs its price
plus a fee of 12 euros.

## Hours

Open daily.
"""


class FakeSearcher:
    """Finds the same sections whatever is asked, and records the searches."""

    def __init__(self, *hits: Hit, error: Exception | None = None) -> None:
        self._hits = hits
        self._error = error
        self.searches: list[tuple[str, int, str | None]] = []
        self.earlier: tuple[str, ...] = ()
        """What the last search was told of the conversation."""

    def refresh(self, library: Library) -> None:
        """Know the same sections as before."""

    def search(
        self, query: str, *, limit: int = 10, within: str | None = None, earlier: Sequence[str] = ()
    ) -> tuple[Hit, ...]:
        self.searches.append((query, limit, within))
        self.earlier = tuple(earlier)
        if self._error is not None:
            raise self._error
        return self._hits[:limit]


def make_agent(
    replies: Iterable[Reply] = (),
    *,
    text: str = MANUAL,
    store: Store | None = None,
    searcher: FakeSearcher | None = None,
    options: AgentOptions | None = None,
    keep: KeepOptions | None = None,
    window_tokens: int | None = 128_000,
) -> Agent:
    session = Session.start(make_library(text), store=store, options=keep)
    return Agent(session, ScriptedModel(replies, window_tokens=window_tokens), searcher, options)


def model_of(agent: Agent) -> ScriptedModel:
    assert isinstance(agent.model, ScriptedModel)
    return agent.model


async def ask(agent: Agent, question: str = "How much is it?") -> list[ConversationEvent]:
    """Ask, and check that a provider would have taken every request."""
    events = [event async for event in agent.ask(question)]
    for request in model_of(agent).requests:
        check_messages(request.messages)
    check_messages(tuple(agent.session.state.transcript.messages()))
    return events


async def answer(agent: Agent, question: str = "How much is it?") -> QuestionAnswered:
    last = (await ask(agent, question))[-1]
    assert isinstance(last, QuestionAnswered)
    return last


def expanding(*section_ids: object, text: str = "") -> ScriptedReply:
    """Return a reply that opens sections in one call."""
    return ScriptedReply(text=text, calls=(("expand_sections", {"section_ids": list(section_ids)}),))


def saying(text: str) -> ScriptedReply:
    return ScriptedReply(text=text)


def results(agent: Agent) -> list[str]:
    """Return what the tools answered in the last exchange, in order."""
    exchange = agent.session.state.transcript.exchanges[-1]
    return [use.result for step in exchange.steps for use in step.uses]


def ids(agent: Agent | ConversationState, *titles: str) -> list[str]:
    state = agent.session.state if isinstance(agent, Agent) else agent
    return [find(state, title) for title in titles]
