"""Example questions: from headings at once, from the model only where a person asks for it."""

from __future__ import annotations

import pytest

from roamtui.agent.examples import ask_model_for_questions, propose_questions
from roamtui.app import propose_examples
from roamtui.document.library import Library
from roamtui.document.parse import parse_document
from roamtui.errors import ModelError
from roamtui.libraries import open_library
from roamtui.locations import find_resource_dir
from tests.agent.asking import DOCUMENT
from tests.fakes.scripted_model import ScriptedModel, ScriptedReply


def make_library(text: str) -> Library:
    return Library(source="x.md", root=parse_document(text))


def test_a_document_proposes_what_it_asks_and_defines_and_nothing_else() -> None:
    text = (
        "# T\n\n## How do I join?\n\nBy post.\n\n## Fees\n\nTwo.\n\n## Values\n\n### N/A\n\nNone.\n\n"
        "### Locks\n\nA *lock* is a thing of iron.\n\n## Tides\n\nTides are what the moon does.\n"
    )
    questions = propose_questions(make_library(text))
    assert questions == ("How do I join?", "What is a lock?", "What are Tides?")


@pytest.mark.parametrize(
    ("title", "questions"),
    [
        ("Who we are", ()),
        ("What is late", ("What is late?",)),
        ("How to join", ("How to join?",)),
        ("Can I swim", ("Can I swim?",)),
        ("May 14, 2024", ()),
        ("When", ()),
        ("Introducing ?", ()),
    ],
)
def test_a_question_mark_is_added_where_that_makes_a_question(title: str, questions: tuple[str, ...]) -> None:
    assert propose_questions(make_library(f"# T\n\n## {title}\n\nWords.\n")) == questions


def test_the_examples_have_questions_that_were_written_for_them() -> None:
    for name in ("handbook.md", "llms.txt", "pages"):
        library = open_library([str(find_resource_dir("examples") / name)])
        questions = propose_examples(ScriptedModel(()), library)
        assert len(questions) == 3
        assert not set(questions) & set(propose_questions(library))


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
