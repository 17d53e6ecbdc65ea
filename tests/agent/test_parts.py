"""One question of several sources, each by itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from roamtui.agent.controller import ConversationController
from roamtui.agent.loop import Agent
from roamtui.agent.parts import list_last_parts, list_named_parts, list_parts
from roamtui.conversation.session import Session
from roamtui.document.added_sources import add_source, mute_source
from roamtui.document.library import Library
from roamtui.document.library_source import LibrarySource
from roamtui.errors import ModelError
from roamtui.library_loader import open_library
from tests.agent.asking import saying
from tests.conversation.conversations import make_library
from tests.fakes.scripted_model import Reply, ScriptedModel, ScriptedReply


@pytest.fixture
def library(tmp_path: Path) -> Library:
    texts = {"lease_2024.md": "# Contract of lease\n\nSixty days.\n", "labour.md": "# Labour act\n\nNinety days.\n"}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    first, second = (open_library((str(tmp_path / name),)) for name in texts)
    return add_source(first, LibrarySource(name=second.source, key="labour.md"), second)


def list_titles(question: str, library: Library) -> list[str]:
    return [part.title for part in list_named_parts(question, library)]


@pytest.mark.parametrize(
    "question",
    [
        "What do the lease 2024 and the labour act each say about notice?",
        "Do both the Contract of Lease and labour name a period?",
        "Was sagen lease_2024 und Labour act jeweils zur Kündigung?",
    ],
)
def test_a_question_that_names_several_sources_one_by_one_is_asked_of_each(question: str, library: Library) -> None:
    assert list_titles(question, library) == ["lease_2024.md", "labour.md"]


@pytest.mark.parametrize(
    "question",
    [
        "What does each say about notice?",
        "What does the labour act say about each notice?",
        "Which is longer, the period of the labour act or that of lease_2024?",
        "",
    ],
)
def test_any_other_question_is_asked_of_all_together(question: str, library: Library) -> None:
    assert list_titles(question, library) == []


def test_a_muted_source_and_a_single_document_are_no_parts(library: Library) -> None:
    assert [part.title for part in list_parts(library)] == ["lease_2024.md", "labour.md"]
    assert list_parts(mute_source(library, "", is_muted=True)) == ()
    assert list_parts(make_library()) == ()


def control(library: Library, *replies: Reply) -> tuple[ConversationController, ScriptedModel]:
    model = ScriptedModel(replies)
    return ConversationController(Agent(Session.start(library), model)), model


async def test_each_source_gets_a_question_within_it_and_all_are_found_again(library: Library) -> None:
    question = "What do lease 2024 and labour each say?"
    controller, model = control(library, saying("Sixty."), saying("Ninety."), saying("Both."))
    assert await controller.ask_or_each(question)
    exchanges = controller.state.transcript.exchanges
    found = list_last_parts(exchanges, library)
    assert [(part.title, exchange.answer) for part, exchange in found] == [
        ("lease_2024.md", "Sixty."),
        ("labour.md", "Ninety."),
    ]
    assert "The question is about" in model.requests[1].messages[-1].text

    await controller.ask_or_each("And together?")
    assert controller.state.transcript.exchanges[-1].within is None
    assert list_last_parts(controller.state.transcript.exchanges, library) == ()


async def test_when_one_answer_fails_the_other_sources_are_not_asked(library: Library) -> None:
    controller, _ = control(library, ScriptedReply(error=ModelError("It is down.")), saying("Ninety."))
    assert not await controller.ask_each("Notice?", list_parts(library))
    assert len(controller.state.transcript.exchanges) == 1
