"""Notices for every kind of event."""

from __future__ import annotations

import pytest

from roamtui.conversation.commands import Origin
from roamtui.conversation.conversation import Conversation
from roamtui.conversation.events import (
    ConversationEvent,
    ExpandResult,
    ExpandStatus,
    QuestionAnswered,
    SearchHit,
    SectionsExpanded,
)
from roamtui.conversation.notices import Notice, make_notices
from roamtui.conversation.state import ConversationState
from roamtui.conversation.transcript import Citation, QuoteState, StopReason, Usage
from roamtui.document.loader import build_library
from roamtui.sources.read import RawText
from tests.tui.driving import TEXT


@pytest.fixture
def state() -> ConversationState:
    return Conversation.start(build_library(RawText(text=TEXT, source="b.md", name="b"))).state


def ids_of(state: ConversationState) -> dict[str, str]:
    return {state.library.title_of(section_id): section_id for section_id in state.library.walk()}


def hit(section_id: str) -> SearchHit:
    return SearchHit(section_id=section_id, path=(), score=1.0, snippet="", why="text rank 1 · title rank 2")


def result(section_id: str | None, status: ExpandStatus) -> ExpandResult:
    return ExpandResult(id=section_id or "0badc0de", section_id=section_id, status=status, text="")


def _list_notices(event: ConversationEvent, state: ConversationState) -> list[Notice]:
    return list(make_notices(event, state.library))


def test_a_batch_has_a_notice_for_each_status(state: ConversationState) -> None:
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
    notices = _list_notices(SectionsExpanded(results=results, origin=Origin.AGENT), state)
    assert [(notice.text, [section.title for section in notice.sections]) for notice in notices] == [
        ("Opened 2 sections", ["Ovens", "Dough"]),
        ("Already open", ["Steam", "Larch Lane Bakery"]),
        ("Asked for unknown ids: 0badc0de", []),
        ("No room for", ["Starter"]),
        ("Could not open", ["Stone oven"]),
    ]


@pytest.mark.parametrize("status", ExpandStatus)
def test_notices_may_name_sections_that_no_longer_exist(state: ConversationState, status: ExpandStatus) -> None:
    results = (result(ids_of(state)["Ovens"], ExpandStatus.OPENED), result("0badc0de", status))
    assert len(_list_notices(SectionsExpanded(results=results, origin=Origin.AGENT), state)) in (1, 2)


@pytest.mark.parametrize(
    ("quote", "stopped", "endings"),
    [
        (None, StopReason.ANSWERED, ["no quotes to verify"]),
        (None, StopReason.STEP_LIMIT, ["stopped at the step limit", "no quotes to verify"]),
        (None, StopReason.NOT_FOUND, ["not found in the document"]),
        ("forty grams", StopReason.ANSWERED, []),
    ],
)
def test_an_answer_without_quotes_is_labelled(
    state: ConversationState, quote: str | None, stopped: StopReason, endings: list[str]
) -> None:
    citation = Citation(section_id="a8a96034", quote=quote, state=QuoteState.NO_QUOTE)
    event = QuestionAnswered(number=1, answer="Fish.", stopped=stopped, citations=(citation,), usage=Usage(), steps=1)
    assert [notice.text for notice in _list_notices(event, state)] == endings
