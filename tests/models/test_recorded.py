"""A recorded conversation is replayed reply by reply, without its model."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from roamtui.agent.loop import Agent
from roamtui.conversation.conversation import Conversation
from roamtui.conversation.log import ConversationStore
from roamtui.conversation.state import Exchange
from roamtui.document.library import Library
from roamtui.document.parse import parse_document
from roamtui.errors import ModelError, UsageError
from roamtui.models.base import Model
from roamtui.models.recorded import RecordedModel
from roamtui.search.keyword import KeywordSearcher
from tests.agent.asking import DOCUMENT
from tests.fakes.scripted_model import ScriptedModel, ScriptedReply
from tests.models.asking import collect, make_request
from tests.real_documents import PROJECT_DIR

LIBRARY = Library(source="birds.md", root=parse_document(DOCUMENT, name="birds.md"))
IDS = {LIBRARY.title_of(section_id): section_id for section_id in LIBRARY.walk()}
OPENING = ScriptedReply(
    text="I look.",
    calls=(("expand_sections", {"section_ids": [IDS["Herons"], "nonsense"]}),),
)
QUOTE = ScriptedReply(
    text=f'A heron eats "forty grams of fish a day" [{IDS["Herons"]}].',
)
QUESTIONS = ("How much?", "And owls?")


async def _talk(model: Model, store: ConversationStore | None = None) -> tuple[Exchange, ...]:
    conversation = Conversation(LIBRARY, store=store)
    agent = Agent(conversation, model, KeywordSearcher(LIBRARY))
    for question in QUESTIONS:
        await agent.ask(question)
    conversation.close()
    return conversation.state.transcript.exchanges


@pytest.fixture
def recorded(tmp_path: Path) -> tuple[Path, tuple[Exchange, ...]]:
    exchanges = asyncio.run(_talk(ScriptedModel([OPENING, QUOTE, QUOTE]), ConversationStore(tmp_path)))
    (path,) = tmp_path.glob("*.jsonl")
    return path, exchanges


async def test_the_log_of_any_conversation_can_be_played(recorded: tuple[Path, tuple[Exchange, ...]]) -> None:
    path, exchanges = recorded
    played = await _talk(RecordedModel(path))
    for one, other in zip(exchanges, played, strict=True):
        assert (one.answer, one.citations, one.stopped) == (other.answer, other.citations, other.stopped)


async def test_another_question_and_one_more_request_are_refused_with_the_reason(
    recorded: tuple[Path, tuple[Exchange, ...]],
) -> None:
    model = RecordedModel(recorded[0])
    with pytest.raises(
        ModelError, match=r'has no reply to this question; the recorded one is "How much\?, And owls\?"'
    ):
        await collect(model, make_request("How many?"))
    for _ in range(2):
        await collect(model, make_request("And owls?"))


@pytest.mark.parametrize("content", ["", "# Heading\n", '{"event": "question_asked"}\n', "[]\n", "\x00", '{"event": "'])
def test_a_file_that_is_no_conversation_is_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "a run.jsonl"
    path.write_text(content, "utf-8")
    with pytest.raises(UsageError, match="is not a conversation of roamtui"):
        RecordedModel(path)


def test_the_conversation_in_the_pictures_can_be_replayed() -> None:
    assert RecordedModel(PROJECT_DIR / "docs" / "answer.jsonl").questions
