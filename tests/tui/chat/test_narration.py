"""What the agent did, in words."""

from __future__ import annotations

import json

import pytest

from roamtui.agent.chronicle import note_event
from roamtui.conversation.commands import Origin
from roamtui.conversation.events import (
    ConversationEvent,
    ExpandResult,
    ExpandStatus,
    SearchHit,
    SectionsExpanded,
    SectionsSearched,
)
from roamtui.conversation.session import Session
from roamtui.conversation.state import ConversationState
from roamtui.conversation.transcript import Exchange, Step, Stopped, ToolCall, ToolUse
from roamtui.document.build import build_library
from roamtui.sources.read import RawText
from roamtui.tui.chat.exchange_view import Activity
from roamtui.tui.chat.narration import narrate_note, narrate_step, recall_ending
from tests.tui.driving import TEXT


@pytest.fixture
def state() -> ConversationState:
    return Session.start(build_library(RawText(text=TEXT, source="b.md", name="b"))).state


def ids_of(state: ConversationState) -> dict[str, str]:
    return {state.library.title_of(section_id): section_id for section_id in state.library.walk()}


def hit(section_id: str) -> SearchHit:
    return SearchHit(section_id=section_id, path=(), score=1.0, snippet="", why="text rank 1 · title rank 2")


def result(section_id: str | None, status: ExpandStatus) -> ExpandResult:
    return ExpandResult(id=section_id or "0badc0de", section_id=section_id, status=status, text="")


def _tell(event: ConversationEvent, state: ConversationState) -> list[Activity]:
    return [activity for note in note_event(event) for activity in narrate_note(note, state.library)]


def test_a_search_names_its_first_hits(state: ConversationState) -> None:
    ids = ids_of(state)
    hits = tuple(hit(ids[title]) for title in ("Ovens", "Steam", "Dough", "Starter"))
    activity = _tell(SectionsSearched(query="oven", hits=hits), state)[0]
    assert activity.text == "searched “oven” · 4 found, first 3"
    assert [section.title for section in activity.sections] == ["1 Ovens", "2 Steam", "3 Dough"]
    assert activity.sections[0].note == "text rank 1 · title rank 2"


def test_a_search_without_hits_says_so(state: ConversationState) -> None:
    activity = _tell(SectionsSearched(query="x", hits=()), state)[0]
    assert activity.text == "searched “x” · found nothing"


def test_a_batch_is_told_by_what_became_of_its_ids(state: ConversationState) -> None:
    ids = ids_of(state)
    results = (
        result(ids["Ovens"], ExpandStatus.OPENED),
        result(ids["Steam"], ExpandStatus.ALREADY_OPEN),
        result(ids["Larch Lane Bakery"], ExpandStatus.ALREADY_OPEN),
        result(ids["Dough"], ExpandStatus.OPENED),
        result(None, ExpandStatus.UNKNOWN),
        result(ids["Starter"], ExpandStatus.NO_ROOM),
        result(ids["Stone oven"], ExpandStatus.FAILED),
    )
    told = _tell(SectionsExpanded(results=results, origin=Origin.AGENT), state)
    assert [(activity.text, [section.title for section in activity.sections]) for activity in told] == [
        ("opened 2 sections", ["Ovens", "Dough"]),
        ("part of these", ["Steam"]),
        ("already open", ["Larch Lane Bakery"]),
        ("asked for ids that do not exist: 0badc0de", []),
        ("no room left for", ["Starter"]),
        ("could not be opened", ["Stone oven"]),
    ]


@pytest.mark.parametrize("arguments", ["", "[1]", "null", '{"section_ids": 3}', '{"section_ids": ["zz", 4]}'])
def test_broken_arguments_of_a_saved_call_tell_nothing(state: ConversationState, arguments: str) -> None:
    call = ToolCall(id="1", name="expand_sections", arguments=arguments)
    assert list(narrate_step(Step(text="", uses=(ToolUse(call=call, result=""),)), state.library)) == []


def test_a_saved_step_is_told_again(state: ConversationState) -> None:
    steam = ids_of(state)["Steam"]
    calls = (
        ToolCall(id="1", name="search_sections", arguments='{"query": "steam"}'),
        ToolCall(id="2", name="expand_sections", arguments=json.dumps({"section_ids": [f"{steam}:2", steam]})),
    )
    step = Step(text="Looking.", uses=tuple(ToolUse(call=call, result="") for call in calls))
    told = list(narrate_step(step, state.library))
    assert [activity.text for activity in told] == ["Looking.", "searched “steam”", "opened 1 section"]
    assert told[2].sections[0].section_id == steam


def test_an_exchange_that_never_ended_is_recalled_as_cancelled() -> None:
    assert recall_ending(Exchange(number=1, question="x")).stopped is Stopped.CANCELLED
