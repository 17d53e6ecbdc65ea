"""Questions come with search results, and with the section that clearly answers them open."""

import asyncio
import re

import pytest

from roamtui.agent.first_request import FAILED_LEAD, HITS_LEAD, NO_ROOM_LEAD, QuestionContext, retrieve_context
from roamtui.agent.loop import Agent
from roamtui.agent.prompt import WHOLE_NOTE
from roamtui.agent.requests import AgentOptions
from roamtui.conversation.events import Role, SectionsExpanded
from roamtui.conversation.question_flow import FOUND_LEAD
from roamtui.document.library import Library
from roamtui.errors import StoreError
from roamtui.retrieval.choose import ModelView
from roamtui.retrieval.policy import DEFAULT_POLICY
from roamtui.search.base import Hit
from roamtui.search.keyword import KeywordSearcher
from roamtui.text import estimate_tokens
from tests.agent.asking import (
    FakeSearcher,
    answer,
    ask,
    count_turns,
    expanding,
    ids,
    make_agent,
    model_of,
    saying,
    sent,
)
from tests.search.libraries import id_of, make_library

TEXT = (
    "# Birds\n\n"
    "## Herons\n\nHerons wait for fish in shallow water. Nothing else is eaten by any of them.\n\n"
    "## Owls\n\nOwls turn their heads 270 degrees. Nothing else is turned by any of them.\n\n"
    "## Swifts\n\nSwifts sleep while they fly. Nothing else is done asleep by any of them.\n\n"
    "## Wrens\n\nWrens sing in shallow hedges. Nothing else is sung in by any of them.\n\n"
    "## Red kites\n\n[About red kites](kites.md)\n\n"
    f"## Storks\n\nStorks clatter. {'They clatter and clatter again. ' * 400}\n\n"
    f"## Cranes\n\nCranes dance, and clatter not. {'They dance and dance again. ' * 400}\n\n"
)
LIBRARY = make_library(TEXT)
IDS = {LIBRARY.node(section_id).title: section_id for section_id in LIBRARY.walk()}
ANSWER = saying('They "wait for fish" [{Herons}].')
CLEAR = "What do herons wait for?"
UNCLEAR = "What is shallow there?"


def _make_agent(text: str = TEXT) -> Agent:
    """Return an agent whose questions come with search results."""
    agent = make_agent(text=text, options=AgentOptions(sends_hits=True))
    agent.search.searcher = KeywordSearcher(agent.conversation.state.library)
    return agent


def _last_question(agent: Agent) -> str:
    return [message.text for message in sent(agent) if message.role is Role.USER][-1]


async def test_the_first_request_contains_the_section_that_answers() -> None:
    agent = _make_agent()
    last = await answer(agent, CLEAR, ANSWER)

    assert len(model_of(agent).requests) == 1
    text = _last_question(agent)
    assert text.index(FOUND_LEAD) < text.rindex("Herons wait for fish") < text.index(f"Question: {CLEAR}")
    assert text.count("Herons wait for fish") == 1, "an opened section is not also a hit"
    assert [citation.is_verified for citation in last.citations] == [True]


async def test_an_excerpt_can_be_quoted_and_opens_its_section_only_then() -> None:
    agent = _make_agent()
    wrens = saying('It says "sing in shallow hedges" [{Wrens}].')
    events = await ask(agent, UNCLEAR, expanding("Herons"), wrens)

    [opened, quoted] = [event for event in events if isinstance(event, SectionsExpanded)]
    assert opened.opened_ids == (IDS["Herons"],)
    assert "Herons wait for fish" in opened.results[0].text, "an excerpt does not count as delivered text"
    assert quoted.opened_ids == (IDS["Wrens"],)
    assert events[-2] is quoted
    assert [citation.is_verified for citation in agent.conversation.state.exchanges[-1].citations] == [True]
    assert "Wrens sing" not in sent(agent)[-1].text
    await ask(agent, "And then?", ANSWER)
    assert f"[{IDS['Wrens']}] Birds > Wrens (lines" in _last_question(agent)
    assert set(agent.conversation.state.open_sections) == {IDS["Herons"], IDS["Wrens"]}


async def test_a_small_document_is_sent_whole_and_open() -> None:
    agent = _make_agent(TEXT.partition("## Storks")[0])
    events = await ask(agent, UNCLEAR, ANSWER)

    text = _last_question(agent)
    assert WHOLE_NOTE in text
    assert HITS_LEAD not in text
    assert f"## Wrens [{IDS['Wrens']}]" in text
    assert [*agent.conversation.state.open_sections] == ids(agent, "Birds")
    assert any(isinstance(event, SectionsExpanded) for event in events)
    await ask(agent, "And then?", ANSWER)
    assert _last_question(agent) == "And then?"


@pytest.mark.parametrize("question", [UNCLEAR, " ", "zebra crossing"])
async def test_nothing_is_opened_unless_the_first_hit_is_clear(question: str) -> None:
    agent = _make_agent()
    await ask(agent, question, saying("Not found: no."))
    assert agent.conversation.state.open_sections == {}
    assert FOUND_LEAD not in _last_question(agent)


_FILLER = "Nothing of note is said in this sentence of a long file. " * 120


def _hit(library: Library, title: str, score: float = 1.0) -> Hit:
    return Hit(section_id=id_of(library, title), score=score, snippet="", why="")


def _list_hits(found: QuestionContext) -> list[str]:
    return re.findall(r"^- \[(\w{8})\]", found.text.partition("Also found")[0], re.MULTILINE)


@pytest.mark.parametrize(
    ("error", "room", "lead"),
    [(None, None, HITS_LEAD), (None, 5, NO_ROOM_LEAD), (StoreError("The index is damaged."), None, FAILED_LEAD)],
)
async def test_a_model_is_told_why_there_are_no_hits(error: StoreError | None, room: int | None, lead: str) -> None:
    library = make_library(f"# A\n\n## Late\n\nRed. {'Gray stones. ' * 2_000}")
    searcher = FakeSearcher(_hit(library, "Late"), error=error)
    found = await retrieve_context(searcher, ModelView(library=library, room_tokens=room), "Is it red?", None)
    assert found.text.startswith(lead)


def test_what_a_question_names_is_whole_besides_few_other_hits() -> None:
    rows = "".join(f"| Line {number} of the balance sheet of herons | {number},000 |\n" for number in range(80))
    others = "".join(f"## Part {number}\n\nQuick ratio. {_FILLER}\n\n" for number in range(9))
    library = make_library(f"# Report\n\n{others}## Balance Sheets\n\n| Line | 2022 |\n|---|---|\n{rows}")
    question = "What is the quick ratio?"
    found = asyncio.run(retrieve_context(KeywordSearcher(library), ModelView(library=library), question, None))
    assert _list_hits(found)[0] == id_of(library, "Balance Sheets")
    assert " (complete)\n" in found.text.partition("| Line")[0]
    _, table_end, beside = found.text.partition("| 79,000 |")
    assert table_end
    assert estimate_tokens(beside) <= DEFAULT_POLICY.beside_named_tokens_max + DEFAULT_POLICY.neighbourhood_tokens


async def test_missing_names_are_looked_for_beside_the_event_loop() -> None:
    text = "# A\n\n## B\n\nRed bricks.\n\n## C\n\n" + "Gray stones of Überlingen lie here.\n" * 100_000
    library = make_library(text)
    view = ModelView(library=library)
    searcher = FakeSearcher(_hit(library, "B"))
    question = "Which bricks are red, says Fabrikam?"
    found, turns = await count_turns(retrieve_context(searcher, view, question, None))
    assert "(“Fabrikam” does not occur in the document.)" in found.text
    assert turns > 100, "the event loop went on meanwhile"


async def test_a_section_that_clearly_answers_comes_with_only_a_line_for_each_other_hit() -> None:
    text = "Herons wait for fish in shallow water, and they eat nothing else at all."
    others = "".join(f"## Bird {number}\n\nBird {number} waits for mice.\n\n" for number in range(5))
    others += f"## The rest\n\n{'Of other animals. ' * 1_000}"
    library = make_library(f"# Birds\n\n## Herons\n\n{text}\n\n#{others}")  # the first of them is below the herons
    view = ModelView(library=library)
    searcher = FakeSearcher(_hit(library, "Herons"), *(_hit(library, f"Bird {number}", 0.7) for number in range(5)))
    found = await retrieve_context(searcher, view, "Do herons wait for fish?", None)
    assert found.auto_opened == (id_of(library, "Herons"),)
    assert _list_hits(found) == []
    assert "Bird 1: … Bird 1 waits for mice. …" in found.text
    assert "Bird 0 waits" not in found.text, "it comes with its chapter"
    unclear = await retrieve_context(searcher, view, "Do herons fear owls or foxes?", None)
    assert len(_list_hits(unclear)) > 3
