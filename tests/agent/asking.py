"""Asks an agent questions over a small document, and keeps what happened."""

from __future__ import annotations

from dataclasses import dataclass, field

from roamtui.agent.loop import Agent
from roamtui.agent.options import AgentOptions
from roamtui.conversation.approval import Approver
from roamtui.conversation.events import ConversationEvent, QuestionAnswered
from roamtui.conversation.session import Session
from roamtui.conversation.state import KeepOptions
from roamtui.conversation.store import Store
from roamtui.conversation.transcript import Message
from roamtui.document.library import Library
from roamtui.document.parse import parse_document
from tests.fakes.scripted_model import Reply, ScriptedModel, ScriptedReply

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
        """Ask with these replies of the model and return how it ended."""
        self.model.add_replies(*replies)
        self.events = [event async for event in self.agent.ask(question, within=within)]
        last = self.events[-1]
        assert isinstance(last, QuestionAnswered)
        return last

    def opening(self, *titles: str) -> ScriptedReply:
        """Return a reply that opens sections."""
        return ScriptedReply(calls=(("expand_sections", {"section_ids": [self.ids[title] for title in titles]}),))

    def quoting(self, title: str, quote: str) -> ScriptedReply:
        """Return an answer with words of a section."""
        return ScriptedReply(text=f'It says "{quote}" [{self.ids[title]}].')

    @property
    def sent(self) -> tuple[Message, ...]:
        """The messages of the last request."""
        return self.model.requests[-1].messages


def make_desk(
    *,
    store: Store | None = None,
    window_tokens: int | None = 128_000,
    options: AgentOptions | None = None,
    keep: KeepOptions | None = None,
    approver: Approver | None = None,
) -> Desk:
    """Return an agent over a document about birds; the model has no replies yet."""
    library = Library(source="birds.md", root=parse_document(DOCUMENT, name="birds.md"))
    model = ScriptedModel(window_tokens=window_tokens)
    agent = Agent(Session.start(library, store=store, options=keep), model, None, options)
    if approver is not None:
        agent.session.approver = approver
    return Desk(agent=agent, model=model, ids={library.title_of(i): i for i in library.walk()})
