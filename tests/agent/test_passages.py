"""The answer of the offline model is read as passages of the document, and nothing else is."""

import re

import pytest
from msgspec.structs import replace

from roamtui.agent.answer import list_passages
from roamtui.agent.loop import Agent
from roamtui.conversation.conversation import Conversation
from roamtui.conversation.state import Exchange
from roamtui.document.library import Library
from roamtui.document.parse import parse_document
from roamtui.export.html import render_html
from roamtui.export.markdown import render_markdown
from roamtui.models.registry import NoModel
from roamtui.search.keyword import KeywordSearcher
from tests.case_files import read_case
from tests.conversation.conversations import make_state
from tests.real_documents import PROJECT_DIR

MILL = read_case("mill_fees.md")


async def _ask(question: str, *, text: str = MILL) -> tuple[Exchange, Library]:
    library = Library(source="mill.md", root=parse_document(text))
    session = Conversation(library)
    agent = Agent(session, NoModel(), KeywordSearcher(library))
    await agent.ask(question)
    return session.state.exchanges[-1], library


async def test_a_passage_is_the_text_of_the_document() -> None:
    exchange, library = await _ask("How heavy is the upper stone?")
    first = list_passages(exchange)[0]
    assert first.span is not None
    assert first.quote == library.text_at(first.span)
    assert first.quote.startswith("There are two stones")
    assert first.quote.endswith("| lower | 1,400 kg |")
    assert first.path == ("Mill", "Stones")


async def test_no_front_end_names_a_verdict_of_a_passage() -> None:
    exchange, library = await _ask("How heavy is the upper stone?")
    state = replace(make_state(), library=library, exchanges=(exchange,))
    for exported in (render_markdown(state, "mill.md"), render_html(state, "mill.md", library)):
        assert "1 passage" in exported
        assert not re.search("✓|found in the text|is quoted", exported)


async def test_a_card_comes_from_each_section_and_begins_with_its_likeliest_statement() -> None:
    text = f"{MILL}\nWheat comes by road. It is ground on Fridays, and the flour leaves by boat.\n"
    exchange, _ = await _ask("When is the flour of wheat ground?", text=text)
    passages = list_passages(exchange)
    assert len(passages) == len({passage.section_id for passage in passages})
    assert "> It is ground on Fridays, and the flour leaves by boat.\n\n“Rye" in exchange.answer


@pytest.mark.parametrize(
    ("question", "answer", "place"),
    [
        ("How long is the grace period for a late bicycle?", "grace period of 24 hours", 0),
        ("What may never be left in the returns locker?", "anything with wheels may never be left in the locker", 0),
        ("Every tallow command dies with T-1103. How far wrong may my clock be?", "at most 120 seconds", 0),
    ],
    ids=["grace period", "locker", "clock"],
)
async def test_passages_answer_the_questions_of_the_handbook(question: str, answer: str, place: int) -> None:
    handbook = (PROJECT_DIR / "examples" / "handbook.md").read_text("utf-8")
    exchange, _ = await _ask(question, text=handbook)
    texts = [" ".join((passage.quote or "").split()) for passage in list_passages(exchange)]
    assert [number for number, text in enumerate(texts) if answer in text][:1] == [place]
