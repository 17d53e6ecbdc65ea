"""Agents with a scripted model over a manual or a small document about birds.

In the replies of a script, a title stands for the id of its section: in braces in a text, as it is in a call.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from typing_extensions import override

from roamtui.agent.agent import Agent
from roamtui.agent.options import AgentOptions
from roamtui.conversation.conversation import Conversation
from roamtui.conversation.events import ConversationEvent, QuestionAnswered
from roamtui.conversation.library_loader import Approver
from roamtui.conversation.log import ConversationStore
from roamtui.conversation.messages import Message
from roamtui.conversation.state import ConversationState
from roamtui.conversation.update import AskOptions
from roamtui.convert.converted import ProgressCallback
from roamtui.document.library import Library
from roamtui.search.base import Hit
from roamtui.search.searcher import Searcher
from tests.case_files import read_case
from tests.conversation.conversations import check_messages, find, make_library
from tests.fakes.scripted_model import Reply, ScriptedModel, ScriptedReply

MANUAL = read_case("library_manual.md")
NO_HITS = AgentOptions(sends_hits=False)
"""With them, the requests of a model are known: what search finds is not in them."""


class FakeSearcher(Searcher):
    """Returns the same hits for every query, and records the searches."""

    def __init__(self, *hits: Hit, error: Exception | None = None) -> None:
        super().__init__(make_library(MANUAL))
        self._hits = hits
        self.error = error
        self.searches: list[tuple[str, int, str | None]] = []

    @override
    def prepare(self, on_progress: ProgressCallback | None = None) -> None:
        """Do nothing."""

    @override
    def search(
        self,
        library: Library,
        query: str,
        *,
        limit: int = 10,
        within: str | None = None,
        earlier: Sequence[str] = (),
        with_snippets: bool = False,
    ) -> tuple[Hit, ...]:
        self.searches.append((query, limit, within))
        if self.error is not None:
            raise self.error
        return self._hits[:limit]


def make_agent(
    replies: Iterable[Reply] = (),
    *,
    text: str = MANUAL,
    store: ConversationStore | None = None,
    searcher: Searcher | None = None,
    options: AgentOptions | None = None,
    window_tokens: int | None = 128_000,
    approver: Approver | None = None,
) -> Agent:
    conversation = Conversation(make_library(text), store=store)
    if approver is not None:
        conversation.approver = approver
    agent = Agent(conversation, ScriptedModel(window_tokens=window_tokens), searcher, options or NO_HITS)
    script(agent, *replies)
    return agent


def script(agent: Agent, *replies: Reply) -> None:
    """Add replies to those of the agent's model."""
    library = agent.conversation.state.library
    known = {library.node(section_id).title: section_id for section_id in library.walk()}
    model_of(agent).add_replies(*(_name_sections(reply, known) for reply in replies))


def _name_sections(reply: Reply, ids: Mapping[str, str]) -> Reply:
    if not isinstance(reply, ScriptedReply):
        return reply
    text = re.sub(r"\{([^{}]+)\}", lambda title: ids.get(title[1], title[0]), reply.text)
    calls = [(name, _name_opened(arguments, ids)) for name, arguments in reply.calls]
    return replace(reply, text=text, calls=tuple(calls))


def _name_opened(arguments: Any, ids: Mapping[str, str]) -> Any:  # noqa: ANN401 - a mapping, or text that is none
    if not isinstance(arguments, Mapping) or "section_ids" not in arguments:
        return arguments
    return {**arguments, "section_ids": [ids.get(title, title) for title in arguments["section_ids"]]}


def model_of(agent: Agent) -> ScriptedModel:
    assert isinstance(agent.model, ScriptedModel)
    return agent.model


async def collect_events(agent: Agent, question: str, options: AskOptions = AskOptions()) -> list[ConversationEvent]:
    """Ask, and return the events that were published meanwhile."""
    events: list[ConversationEvent] = []
    agent.conversation.subscribe(events.append)
    await agent.ask(question, options)
    return events


async def ask(
    agent: Agent, question: str = "How much is it?", *replies: Reply, within: str | None = None
) -> list[ConversationEvent]:
    """Ask, let the model give these replies, and check that a provider would accept every request."""
    script(agent, *replies)
    events = await collect_events(agent, question, AskOptions(within=within))
    for request in model_of(agent).requests:
        check_messages(request.messages)
    check_messages(tuple(agent.conversation.state.iter_messages()))
    return events


async def answer(agent: Agent, question: str = "How much is it?", *replies: Reply) -> QuestionAnswered:
    last = (await ask(agent, question, *replies))[-1]
    assert isinstance(last, QuestionAnswered)
    return last


def sent(agent: Agent) -> tuple[Message, ...]:
    """Return the messages of the last request."""
    return model_of(agent).requests[-1].messages


def expanding(*section_ids: object, text: str = "") -> ScriptedReply:
    """Return a reply that opens sections in one call."""
    return ScriptedReply(text=text, calls=(("expand_sections", {"section_ids": list(section_ids)}),))


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
DOCUMENT = read_case("birds.md").format(words=WORDS * 30)
