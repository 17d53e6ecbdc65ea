"""Records a conversation with a scripted model, and has it again from the trace."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import aclosing
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from roamtui.agent.loop import Agent
from roamtui.agent.options import AgentOptions
from roamtui.conversation.commands import ExpandSections, Origin
from roamtui.conversation.events import AnswerStreamed, ConversationEvent, LoadingProgressed, ThinkingStreamed
from roamtui.conversation.log import Trace
from roamtui.conversation.session import Session
from roamtui.document.library import Library
from roamtui.document.parse import parse_document
from roamtui.errors import RoamtuiError
from roamtui.models.base import Model
from roamtui.models.recorded import RecordedModel
from roamtui.models.secrets import Secrets
from roamtui.search.keyword import KeywordSearcher
from tests.agent.asking import DOCUMENT
from tests.fakes.scripted_model import ScriptedModel, ScriptedReply

_NONCE = re.compile(r"<<<[g-z]{8}|[g-z]{8}>>>|(?<=, model=)'[^']*'")
OPTIONS = AgentOptions(steps_max=4)


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """What a person does once."""

    question: str
    replies: tuple[ScriptedReply, ...]
    opens: tuple[str, ...] = ()
    """Sections that the person opens before."""
    stops_after: int | None = None
    """Events after which the person stops the question."""
    within: str | None = None


def make_library(text: str = DOCUMENT) -> Library:
    """Return the document about birds, or another under its name."""
    return Library(source="birds.md", root=parse_document(text, name="birds.md"))


def make_replies(turns: tuple[Turn, ...]) -> list[ScriptedReply]:
    """Return the script of a whole conversation."""
    return [reply for turn in turns for reply in turn.replies]


async def talk(agent: Agent, turns: tuple[Turn, ...]) -> list[list[str]]:
    """Have a conversation and return its events, told as text without what differs by conversation and by the moment.

    What a model says is one event, and what ends a question with an exception is its last.
    """
    told = []
    for turn in turns:
        if turn.opens:
            command = ExpandSections(section_ids=turn.opens, origin=Origin.PERSON)
            _ = [event async for event in agent.session.dispatch(command)]
        told.append(await _ask(agent, turn))
    return told


async def _ask(agent: Agent, turn: Turn) -> list[str]:
    events: list[ConversationEvent] = []
    failure: tuple[str, ...] = ()
    try:
        async with aclosing(agent.ask(turn.question, within=turn.within)) as stream:  # type: ignore[type-var]
            async for event in stream:
                events.append(event)
                if len(events) == turn.stops_after:
                    break
    except RoamtuiError as error:
        failure = (f"{type(error).__name__}: {error}",)
    return [*_tell_all(events), *failure]


def _tell_all(events: list[ConversationEvent]) -> Iterator[str]:
    told = (event for event in events if not isinstance(event, ThinkingStreamed | LoadingProgressed))
    for is_said, group in groupby(told, lambda event: isinstance(event, AnswerStreamed)):
        if is_said:
            yield f"said {''.join(event.text for event in group if isinstance(event, AnswerStreamed))}"
        else:
            yield from (_NONCE.sub("", repr(event)) for event in group)


async def record(
    path: Path, turns: tuple[Turn, ...], model: Model | None = None, environ: dict[str, str] | None = None
) -> list[list[str]]:
    """Have a conversation with a scripted model, or another, traced."""
    session = start_traced(path, make_library(), environ)
    searcher = KeywordSearcher(session.state.library)
    return await talk(Agent(session, model or ScriptedModel(make_replies(turns)), searcher, OPTIONS), turns)


def start_traced(path: Path, library: Library, environ: dict[str, str] | None = None) -> Session:
    """Return a new conversation that is written into a file."""
    session = Session.start(library)
    session.trace = Trace(path, Secrets.from_environ(environ or {}).redact)
    return session


async def replay(
    path: Path,
    turns: tuple[Turn, ...],
    *,
    text: str = DOCUMENT,
    options: AgentOptions = OPTIONS,
    environ: dict[str, str] | None = None,
) -> list[list[str]]:
    """Have the conversation of a trace again."""
    library = make_library(text)
    searcher = KeywordSearcher(library)
    return await talk(Agent(Session.start(library), RecordedModel(path, environ or {}), searcher, options), turns)
