"""Agents with a scripted model over a manual or a small document about birds."""

import asyncio
from collections.abc import Awaitable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from roamtui.agent.loop import Agent, AgentOptions
from roamtui.conversation.conversation import Conversation
from roamtui.conversation.events import ConversationEvent, Message, QuestionAnswered
from roamtui.conversation.library_loader import Approver
from roamtui.conversation.log import ConversationStore
from roamtui.conversation.state import AskOptions, ConversationState, OpenSectionOptions
from roamtui.document.library import Library
from roamtui.search.base import Hit, Progress, Searcher
from tests.case_files import read_case
from tests.conversation.conversations import check_messages, find, make_library
from tests.fakes.scripted_model import Reply, ScriptedModel, ScriptedReply

Result = TypeVar("Result")
MANUAL = read_case("library_manual.md")


class FakeSearcher:
    """Returns the same hits for every query, and records the searches."""

    def __init__(self, *hits: Hit, error: Exception | None = None) -> None:
        self._hits = hits
        self._error = error
        self.searches: list[tuple[str, int, str | None]] = []

    def refresh(self, library: Library) -> None:
        """Do nothing."""

    def embed_ahead(self) -> bool:
        return False

    def prepare(self, on_progress: Progress | None = None) -> None:
        """Do nothing."""

    def search(
        self,
        query: str,
        *,
        limit: int = 10,
        within: str | None = None,
        earlier: Sequence[str] = (),  # noqa: ARG002 - as all
    ) -> tuple[Hit, ...]:
        self.searches.append((query, limit, within))
        if self._error is not None:
            raise self._error
        return self._hits[:limit]


def make_agent(
    replies: Iterable[Reply] = (),
    *,
    text: str = MANUAL,
    store: ConversationStore | None = None,
    searcher: Searcher | None = None,
    options: AgentOptions | None = None,
    keep: OpenSectionOptions | None = None,
    window_tokens: int | None = 128_000,
) -> Agent:
    conversation = Conversation(make_library(text), store=store, options=keep)
    return Agent(conversation, ScriptedModel(replies, window_tokens=window_tokens), searcher, options)


def model_of(agent: Agent) -> ScriptedModel:
    assert isinstance(agent.model, ScriptedModel)
    return agent.model


async def collect_events(agent: Agent, question: str, options: AskOptions = AskOptions()) -> list[ConversationEvent]:
    """Ask, and return the events that were published meanwhile."""
    events: list[ConversationEvent] = []
    agent.conversation.subscribe(events.append)
    await agent.ask(question, options)
    return events


async def ask(agent: Agent, question: str = "How much is it?") -> list[ConversationEvent]:
    """Ask, and check that a provider would accept every request."""
    events = await collect_events(agent, question)
    for request in model_of(agent).requests:
        check_messages(request.messages)
    check_messages(tuple(agent.conversation.state.iter_messages()))
    return events


async def answer(agent: Agent, question: str = "How much is it?") -> QuestionAnswered:
    last = (await ask(agent, question))[-1]
    assert isinstance(last, QuestionAnswered)
    return last


def expanding(*section_ids: object, text: str = "") -> ScriptedReply:
    """Return a reply that opens sections in one call."""
    return ScriptedReply(text=text, calls=(("expand_sections", {"section_ids": list(section_ids)}),))


async def count_turns(work: Awaitable[Result]) -> tuple[Result, int]:
    """Await something. Return its result, and how many turns the event loop took meanwhile."""
    turns = 0

    async def count() -> None:
        nonlocal turns
        while True:
            await asyncio.sleep(0)
            turns += 1

    counting = asyncio.create_task(count())
    try:
        return await work, turns
    finally:
        counting.cancel()


def saying(text: str) -> ScriptedReply:
    return ScriptedReply(text=text)


def results(agent: Agent) -> list[str]:
    """List the results of the tool calls in the last exchange."""
    exchange = agent.conversation.state.exchanges[-1]
    return [use.result for step in exchange.steps for use in step.uses]


def ids(agent: Agent | ConversationState, *titles: str) -> list[str]:
    state = agent.conversation.state if isinstance(agent, Agent) else agent
    return [find(state, title) for title in titles]


WORDS = "Herons stand still in shallow water and wait. "
DOCUMENT = f"""\
# Birds

About birds.

## Herons

A heron eats forty grams of fish a day. {WORDS * 30}

## Owls

An owl turns its head by 270 degrees. {WORDS * 30}

## Swifts

A swift sleeps while it flies. {WORDS * 30}
"""


@dataclass(kw_only=True)
class Desk:
    """An agent with a scripted model, and the ids of the sections by title."""

    agent: Agent
    model: ScriptedModel
    ids: dict[str, str]
    events: list[ConversationEvent] = field(default_factory=list)

    async def ask(self, question: str, *replies: Reply, within: str | None = None) -> QuestionAnswered:
        """Ask, let the model give these replies, and return the outcome."""
        self.model.add_replies(*replies)
        self.events = await collect_events(self.agent, question, AskOptions(within=within))
        last = self.events[-1]
        assert isinstance(last, QuestionAnswered)
        return last

    def opening(self, *titles: str) -> ScriptedReply:
        """Return a reply that opens sections."""
        return ScriptedReply(calls=(("expand_sections", {"section_ids": [self.ids[title] for title in titles]}),))

    def quoting(self, title: str, quote: str) -> ScriptedReply:
        """Return an answer that quotes a section."""
        return ScriptedReply(text=f'It says "{quote}" [{self.ids[title]}].')

    @property
    def sent(self) -> tuple[Message, ...]:
        """The messages of the last request."""
        return self.model.requests[-1].messages


def make_desk(approver: Approver | None = None, *, text: str = DOCUMENT, **options: Any) -> Desk:  # noqa: ANN401 - see `make_agent`
    """Make an agent, by default over the document about birds. The model has no replies yet."""
    agent = make_agent(text=text, **options)
    if approver is not None:
        agent.conversation.loader.approver = approver
    library = agent.conversation.state.library
    return Desk(agent=agent, model=model_of(agent), ids={library.node(i).title: i for i in library.walk()})
