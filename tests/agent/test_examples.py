"""Example questions: from headings at once, from the model only where a person asks for it."""

from __future__ import annotations

import pytest

from roamtui.agent.examples import ask_model_for_questions, propose_questions
from roamtui.document.library import Library
from roamtui.document.parse import parse_document
from roamtui.errors import ModelError
from roamtui.models.scripted import ScriptedModel, ScriptedReply
from tests.agent.asking import DOCUMENT


def make_library(text: str) -> Library:
    return Library(source="x.md", root=parse_document(text))


def test_headings_become_questions() -> None:
    text = "# T\n\n## How do I join?\n\nBy post.\n\n## Fees\n\nTwo.\n\n## Overview\n\nWords.\n\n## Locks\n\nOne each.\n"
    questions = propose_questions(make_library(text))
    assert questions == ("How do I join?", "What does it say about “Fees”?", "What does it say about “Locks”?")


@pytest.mark.parametrize(
    ("title", "question"),
    [
        ("Who we are", "What does it say about “Who we are”?"),
        ("What is late", "What is late?"),
        ("How to join", "How to join?"),
        ("Can I swim", "Can I swim?"),
        ("When", "What does it say about “When”?"),
    ],
)
def test_a_question_mark_is_added_where_that_makes_a_question(title: str, question: str) -> None:
    assert propose_questions(make_library(f"# T\n\n## {title}\n\nWords.\n")) == (question,)


@pytest.mark.parametrize("text", ["", "\n\n", "# \n", "## Overview\n", "just words\n"])
def test_a_document_without_telling_headings_gives_none(text: str) -> None:
    assert propose_questions(make_library(text)) == ()


async def test_the_model_sees_the_outline_and_its_questions_are_read() -> None:
    model = ScriptedModel([ScriptedReply(text='Sure!\n1. What do herons eat?\n- "How far can an owl turn?"\n* No.\n')])
    questions = await ask_model_for_questions(model, make_library(DOCUMENT), budget_tokens=2_000)
    assert questions == ("What do herons eat?", "How far can an owl turn?")
    assert "] Herons (" in model.requests[0].messages[1].text
    assert model.requests[0].tools == ()


async def test_a_model_that_fails_says_so() -> None:
    model = ScriptedModel([ScriptedReply(error=ModelError("The server is down."))])
    with pytest.raises(ModelError, match="down"):
        await ask_model_for_questions(model, make_library(DOCUMENT), budget_tokens=2_000)
