"""Records a conversation with a scripted model, and replays it from the log."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path

from roamtui.agent.loop import Agent
from roamtui.agent.options import AgentOptions
from roamtui.conversation.commands import ExpandSections, Origin
from roamtui.conversation.conversation import Conversation, start_log
from roamtui.conversation.events import (
    AnswerStreamed,
    ConversationEvent,
    LoadingProgressed,
    QuestionAnswered,
    ThinkingStreamed,
)
from roamtui.conversation.log import ConversationLog
from roamtui.conversation.state import AskOptions, OpenSectionOptions, start_conversation
from roamtui.document.library import Library
from roamtui.document.loader import Loader
from roamtui.document.parse import parse_document
from roamtui.errors import RoamtuiError
from roamtui.models.base import Model
from roamtui.models.recorded import RecordedModel
from roamtui.search.keyword import KeywordSearcher
from tests.agent.asking import DOCUMENT
from tests.fakes.scripted_model import ScriptedModel, ScriptedReply

_NONCE = re.compile(r"<<<[g-z]{8}|[g-z]{8}>>>|(?<=, model=)'[^']*'")
OPTIONS = AgentOptions(steps_max=4)


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """A question, and what the person does before and during it."""

    question: str
    replies: tuple[ScriptedReply, ...]
    opens: tuple[str, ...] = ()
    """Sections that the person opens first."""
    stops_after: int | None = None
    """Number of events after which the person stops the question."""
    within: str | None = None


def make_library(text: str = DOCUMENT) -> Library:
    """Parse a text, by default the document about birds, as ``birds.md``."""
    return Library(source="birds.md", root=parse_document(text, name="birds.md"))


def make_replies(turns: tuple[Turn, ...]) -> list[ScriptedReply]:
    """List the replies of a whole conversation."""
    return [reply for turn in turns for reply in turn.replies]


async def talk(agent: Agent, turns: tuple[Turn, ...]) -> list[list[str]]:
    """Have a conversation and return its events as text, without ids and times that differ each time.

    Streamed text becomes one event. An exception becomes the last event of its question.
    """
    described = []
    for turn in turns:
        if turn.opens:
            command = ExpandSections(section_ids=turn.opens, origin=Origin.PERSON)
            await agent.conversation.execute(command)
        described.append(await _ask(agent, turn))
    return described


async def _ask(agent: Agent, turn: Turn) -> list[str]:
    events: list[ConversationEvent] = []
    failure: tuple[str, ...] = ()
    task = asyncio.create_task(agent.ask(turn.question, AskOptions(within=turn.within)))

    def listen(event: ConversationEvent) -> None:
        if not task.done():
            events.append(event)
        if len(events) == turn.stops_after:
            task.cancel()

    agent.conversation.subscribe(listen)
    try:
        await task
    except asyncio.CancelledError:
        assert isinstance(events[-1], QuestionAnswered)
    except RoamtuiError as error:
        failure = (f"{type(error).__name__}: {error}",)
    return [*_describe_all(events), *failure]


def _describe_all(events: list[ConversationEvent]) -> Iterator[str]:
    lasting = (event for event in events if not isinstance(event, ThinkingStreamed | LoadingProgressed))
    for is_text, group in groupby(lasting, lambda event: isinstance(event, AnswerStreamed)):
        if is_text:
            yield f"said {''.join(event.text for event in group if isinstance(event, AnswerStreamed))}"
        else:
            yield from (_NONCE.sub("", repr(event)) for event in group)


async def record(path: Path, turns: tuple[Turn, ...], model: Model | None = None) -> list[list[str]]:
    """Have a conversation with a scripted or another model, and write its log."""
    conversation = start_recorded(path, make_library())
    searcher = KeywordSearcher(conversation.state.library)
    told = await talk(Agent(conversation, model or ScriptedModel(make_replies(turns)), searcher, OPTIONS), turns)
    conversation.close()
    return told


def start_recorded(path: Path, library: Library, loader: Loader | None = None) -> Conversation:
    """Start a conversation with a log of any name."""
    opened = start_log(start_conversation(library, OpenSectionOptions()), None, loader)
    return Conversation(replace(opened, log=ConversationLog(path, opened.log.events)))


async def replay(
    path: Path,
    turns: tuple[Turn, ...],
    *,
    text: str = DOCUMENT,
    options: AgentOptions = OPTIONS,
) -> list[list[str]]:
    """Replay the conversation of a log."""
    library = make_library(text)
    searcher = KeywordSearcher(library)
    return await talk(Agent(Conversation.start(library), RecordedModel(path), searcher, options), turns)
