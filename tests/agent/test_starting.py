"""A question goes to the model with what search finds for it, and with the section that answers open."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from roamtui.agent.citations import verify_citations
from roamtui.agent.loop import Agent
from roamtui.agent.options import AgentOptions, RetrievalStart
from roamtui.agent.prompt import WHOLE_NOTE
from roamtui.agent.retrieval_context import RIVAL_MAX, pick_confident_hit
from roamtui.conversation.events import (
    ConversationEvent,
    QuestionAnswered,
    QuestionAsked,
    SectionsExpanded,
    SectionsSearched,
)
from roamtui.conversation.session import Session
from roamtui.conversation.state import KeepOpenMode, OpenSectionOptions
from roamtui.conversation.store import ConversationStore
from roamtui.conversation.transcript import FOUND_LEAD, HITS_LEAD, Role
from roamtui.document.library import Library
from roamtui.errors import RoamtuiError, UnknownSectionError
from roamtui.search.base import Hit
from roamtui.search.keyword import KeywordSearcher
from tests.agent.recording import make_library as make_birds
from tests.conversation.conversations import make_library
from tests.fakes.scripted_model import ScriptedModel, ScriptedReply

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
IDS = {LIBRARY.title_of(section_id): section_id for section_id in LIBRARY.walk()}
ANSWER = ScriptedReply(text=f'They "wait for fish" [{IDS["Herons"]}].')
NOTHING = ScriptedReply(text="Not found: no.")
CLEAR = "What do herons wait for?"
UNCLEAR = "What is shallow there?"


class _Desk:
    """An agent whose questions bring what search finds, over a scripted model."""

    def __init__(
        self,
        *replies: ScriptedReply,
        mode: KeepOpenMode = KeepOpenMode.KEEP,
        searcher: object = None,
        library: Library = LIBRARY,
        store: ConversationStore | None = None,
    ) -> None:
        self.model = ScriptedModel([*replies, ANSWER, ANSWER, ANSWER])
        self.session = Session.start(library, options=OpenSectionOptions(mode=mode), store=store)
        options = AgentOptions(confident_start=RetrievalStart.REMOTE)
        found = KeywordSearcher(library) if searcher is None else searcher
        self.agent = Agent(self.session, self.model, found, options)  # type: ignore[arg-type]

    async def ask(self, question: str, within: str | None = None) -> list[ConversationEvent]:
        return [event async for event in self.agent.ask(question, within=within)]

    def last_question(self) -> str:
        return [m.text for m in self.model.requests[-1].messages if m.role is Role.USER][-1]


async def test_the_first_request_holds_the_section_that_answers() -> None:
    desk = _Desk()
    events = await desk.ask(CLEAR)

    assert len(desk.model.requests) == 1
    text = desk.last_question()
    assert text.index(FOUND_LEAD) < text.rindex("Herons wait for fish") < text.index(f"Question: {CLEAR}")
    assert text.count("Herons wait for fish") == 1, "what is opened is no hit too"
    [final] = [event for event in events if isinstance(event, QuestionAnswered)]
    assert [citation.is_verified for citation in final.citations] == [True]


async def test_hits_come_before_the_question_and_are_told_before_what_is_opened() -> None:
    desk = _Desk(NOTHING)
    events = await desk.ask(UNCLEAR)

    _, lead, text = desk.last_question().partition(HITS_LEAD)
    assert lead
    assert text.index(f"- [{IDS['Wrens']}] Wrens (") < text.index("    Wrens sing in shallow")
    assert text.index("    Wrens sing") < text.index(f"Question: {UNCLEAR}")
    [searched] = [event for event in events if isinstance(event, SectionsSearched)]
    assert {hit.section_id for hit in searched.hits} == {IDS["Wrens"], IDS["Herons"]}
    assert isinstance(events[events.index(searched) - 1], QuestionAsked)
    assert desk.session.state.open_sections == ()


async def test_excerpts_can_be_quoted_and_open_nothing_until_they_are() -> None:
    answer = ScriptedReply(text=f'They "sing in shallow hedges" [{IDS["Wrens"]}].')
    opening = ScriptedReply(calls=(("expand_sections", {"section_ids": [IDS["Herons"]]}),))
    desk = _Desk(opening, answer)
    events = await desk.ask(UNCLEAR)

    [opened, quoted] = [event for event in events if isinstance(event, SectionsExpanded)]
    assert opened.opened_ids == (IDS["Herons"],)
    assert "Herons wait for fish" in opened.results[0].text, "an excerpt is no text that stands above"
    assert quoted.opened_ids == (IDS["Wrens"],)
    assert events.index(quoted) == len(events) - 2
    final = events[-1]
    assert isinstance(final, QuestionAnswered)
    assert [citation.is_verified for citation in final.citations] == [True]
    assert "Wrens sing" not in desk.model.requests[-1].messages[-1].text
    await desk.ask("And then?")
    assert f"[{IDS['Wrens']}] Birds > Wrens (lines" in desk.last_question()
    assert set(desk.session.state.open_ids) == {IDS["Herons"], IDS["Wrens"]}


async def test_excerpts_survive_saving_and_going_on(tmp_path: Path) -> None:
    store = ConversationStore(tmp_path / "x")
    desk = _Desk(ScriptedReply(text='They "sing in shallow hedges".'), store=store)
    await desk.ask(UNCLEAR)
    state = desk.session.state
    desk.session.flush()
    resumed = Session.resume(LIBRARY, state.id, store=store).state
    assert resumed.excerpts == state.excerpts != {}
    assert verify_citations('They "wait for fish in shallow water".', resumed)[0].is_verified


async def test_a_small_document_goes_to_the_model_whole_and_all_of_it_is_open() -> None:
    library = make_library(TEXT.partition("## Storks")[0])
    desk = _Desk(library=library)
    events = await desk.ask(UNCLEAR)

    text = desk.last_question()
    assert WHOLE_NOTE in text
    assert HITS_LEAD not in text
    assert f"## Wrens [{IDS['Wrens']}]" in text
    titles = {library.title_of(section_id) for section_id in desk.session.state.open_ids}
    assert titles == {"Birds"}
    assert any(isinstance(event, SectionsExpanded) for event in events)
    await desk.ask("And then?")
    assert desk.last_question() == "And then?"


@pytest.mark.parametrize("question", [UNCLEAR, "Herons!", "", "zebra crossing", "What about red kites?"])
async def test_nothing_is_opened_where_search_is_not_clear(question: str) -> None:
    desk = _Desk(NOTHING)
    await desk.ask(question or " ")
    assert desk.session.state.open_sections == ()
    assert FOUND_LEAD not in desk.last_question()


@pytest.mark.parametrize("mode", list(KeepOpenMode))
async def test_requests_still_begin_with_those_before(mode: KeepOpenMode) -> None:
    desk = _Desk(mode=mode)
    for question in (CLEAR, "Do swifts sleep while they fly?", "How far do owls turn their heads?", CLEAR):
        await desk.ask(question)

    requests = [request.messages for request in desk.model.requests]
    if mode is not KeepOpenMode.FRESH:
        assert all(after[: len(before)] == before for before, after in pairwise(requests))
        assert FOUND_LEAD not in requests[-1][-1].text
    else:
        assert all(FOUND_LEAD in request[-1].text for request in requests)


async def test_a_long_section_is_left_closed_and_its_excerpt_given() -> None:
    desk = _Desk(NOTHING)
    await desk.ask("Which storks clatter again and again?")
    assert desk.session.state.open_sections == ()
    assert f"- [{IDS['Storks']}] Storks (" in desk.last_question()


async def test_a_search_that_fails_costs_nothing() -> None:
    class _Failing:
        def refresh(self, library: Library) -> None: ...

        def search(self, query: str, **_: object) -> tuple[Hit, ...]:
            raise RoamtuiError(query)

    desk = _Desk(searcher=_Failing())
    await desk.ask(CLEAR)
    assert desk.session.state.open_sections == ()


def test_fused_ranks_are_as_clear_as_the_words_behind_them() -> None:
    state = Session.start(LIBRARY).state
    flat = [Hit(section_id=IDS[name], score=0.016, snippet="", why="") for name in ("Herons", "Owls")]
    assert pick_confident_hit(state, flat, CLEAR) == ()
    assert pick_confident_hit(state, [replace(flat[0], runner_up=RIVAL_MAX), flat[1]], CLEAR) == (IDS["Herons"],)
    assert pick_confident_hit(state, [replace(flat[0], runner_up=RIVAL_MAX + 0.01), flat[1]], CLEAR) == ()


_BIRDS = make_birds()
_BIRD_IDS = {_BIRDS.title_of(section_id): section_id for section_id in _BIRDS.walk()}
_NOT_FOUND = ScriptedReply(text="Not found: nothing.")


async def _search(about: str | None, **arguments: str) -> tuple[set[str], str]:
    """Return the sections that a search finds, and what the model is told."""
    call = ("search_sections", {"query": "herons wait", **arguments})
    model = ScriptedModel([ScriptedReply(calls=(call,)), _NOT_FOUND])
    agent = Agent(Session.start(_BIRDS), model, KeywordSearcher(_BIRDS))
    events = [event async for event in agent.ask("Who waits?", within=about)]
    [searched] = [event for event in events if isinstance(event, SectionsSearched)]
    return {hit.section_id for hit in searched.hits}, model.requests[-1].messages[-1].text


async def test_the_section_of_the_question_is_searched_alone() -> None:
    everywhere, _ = await _search(None)
    assert {_BIRD_IDS["Herons"], _BIRD_IDS["Owls"], _BIRD_IDS["Swifts"]} <= everywhere
    assert (await _search(_BIRD_IDS["Owls"]))[0] == {_BIRD_IDS["Owls"]}
    assert (await _search(None, within=f"[{_BIRD_IDS['Swifts']}]"))[0] == {_BIRD_IDS["Swifts"]}


async def test_a_section_that_is_none_falls_back_and_says_so() -> None:
    found, text = await _search(_BIRD_IDS["Owls"], within="nonsense")
    assert found == {_BIRD_IDS["Owls"]}
    assert '("nonsense" is no section id, so the section that the question is about was searched.)' in text
    _, text = await _search(None, within="nonsense")
    assert '("nonsense" is no section id, so the whole document was searched.)' in text


async def test_the_next_question_is_about_everything_again() -> None:
    call = ScriptedReply(calls=(("search_sections", json.dumps({"query": "herons wait"})),))
    model = ScriptedModel([_NOT_FOUND, call, _NOT_FOUND])
    agent = Agent(Session.start(_BIRDS), model, KeywordSearcher(_BIRDS))
    _ = [event async for event in agent.ask("Who waits?", within=_BIRD_IDS["Owls"])]
    events = [event async for event in agent.ask("Who waits?")]
    [searched] = [event for event in events if isinstance(event, SectionsSearched)]
    assert len(searched.hits) > 1


async def test_an_unknown_section_is_refused_before_anything_happens() -> None:
    model = ScriptedModel([_NOT_FOUND])
    agent = Agent(Session.start(_BIRDS), model)
    with pytest.raises(UnknownSectionError, match='No section "nonsense"'):
        _ = [event async for event in agent.ask("Who waits?", within="nonsense")]
    assert agent.session.state.question_number == 0
    assert model.requests == []
