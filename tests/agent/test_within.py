"""A question about one section is searched for there, unless the model looks elsewhere by intention."""

from __future__ import annotations

import json

import pytest

from roamtui.agent.loop import Agent
from roamtui.conversation.events import SectionsSearched
from roamtui.conversation.session import Session
from roamtui.errors import UnknownSectionError
from roamtui.search.keyword import KeywordSearcher
from tests.agent.recording import make_library
from tests.fakes.scripted_model import ScriptedModel, ScriptedReply

LIBRARY = make_library()
IDS = {LIBRARY.title_of(section_id): section_id for section_id in LIBRARY.walk()}
NOT_FOUND = ScriptedReply(text="Not found: nothing.")


async def search(about: str | None, **arguments: str) -> tuple[set[str], str]:
    """Return the sections that a search finds, and what the model is told."""
    call = ("search_sections", {"query": "herons wait", **arguments})
    model = ScriptedModel([ScriptedReply(calls=(call,)), NOT_FOUND])
    agent = Agent(Session.start(LIBRARY), model, KeywordSearcher(LIBRARY))
    events = [event async for event in agent.ask("Who waits?", within=about)]
    [searched] = [event for event in events if isinstance(event, SectionsSearched)]
    return {hit.section_id for hit in searched.hits}, model.requests[-1].messages[-1].text


async def test_the_section_of_the_question_is_searched_alone() -> None:
    everywhere, _ = await search(None)
    assert {IDS["Herons"], IDS["Owls"], IDS["Swifts"]} <= everywhere
    assert (await search(IDS["Owls"]))[0] == {IDS["Owls"]}


async def test_a_section_that_is_none_falls_back_and_says_so() -> None:
    found, text = await search(IDS["Owls"], within="nonsense")
    assert found == {IDS["Owls"]}
    assert '("nonsense" is no section id, so the section that the question is about was searched.)' in text
    _, text = await search(None, within="nonsense")
    assert '("nonsense" is no section id, so the whole document was searched.)' in text


async def test_the_next_question_is_about_everything_again() -> None:
    call = ScriptedReply(calls=(("search_sections", json.dumps({"query": "herons wait"})),))
    model = ScriptedModel([NOT_FOUND, call, NOT_FOUND])
    agent = Agent(Session.start(LIBRARY), model, KeywordSearcher(LIBRARY))
    _ = [event async for event in agent.ask("Who waits?", within=IDS["Owls"])]
    events = [event async for event in agent.ask("Who waits?")]
    [searched] = [event for event in events if isinstance(event, SectionsSearched)]
    assert len(searched.hits) > 1


async def test_an_unknown_section_is_refused_before_anything_happens() -> None:
    model = ScriptedModel([NOT_FOUND])
    agent = Agent(Session.start(LIBRARY), model)
    with pytest.raises(UnknownSectionError, match='There is no section "nonsense"'):
        _ = [event async for event in agent.ask("Who waits?", within="nonsense")]
    assert agent.session.state.question_number == 0
    assert model.requests == []
