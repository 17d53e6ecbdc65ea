"""Notices for every kind of event."""

from __future__ import annotations

import pytest

from roamtui.conversation.commands import Origin
from roamtui.conversation.conversation import Conversation
from roamtui.conversation.events import (
    AnswerStreamed,
    CloseReason,
    ClosingDeclined,
    ConversationEvent,
    ExpandResult,
    ExpandStatus,
    LoadingProgressed,
    NodesLoaded,
    QuestionAnswered,
    SearchHit,
    SectionsClosed,
    SectionsExpanded,
    SectionsMarkedForClosing,
    SectionsPinned,
    SectionsSearched,
)
from roamtui.conversation.notices import Notice, NoticeSlot, Severity, format_event_lines, make_notices
from roamtui.conversation.state import ConversationState, Exchange
from roamtui.conversation.transcript import Citation, QuoteState, StopReason, Usage
from roamtui.document.source_loader import build_library
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


def test_a_search_names_its_first_hits(state: ConversationState) -> None:
    ids = ids_of(state)
    hits = tuple(hit(ids[title]) for title in ("Ovens", "Steam", "Dough", "Starter"))
    notice = _list_notices(SectionsSearched(query="oven", hits=hits), state)[0]
    assert notice.text == "Searched “oven” · 4 results, top 3"
    assert [section.title for section in notice.sections] == ["1 Ovens", "2 Steam", "3 Dough"]
    assert notice.sections[0].note == "text rank 1 · title rank 2"


def test_a_search_without_hits_says_so(state: ConversationState) -> None:
    notice = _list_notices(SectionsSearched(query="x", hits=()), state)[0]
    assert notice.text == "Searched “x” · no results"


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
        ("Included in these", ["Steam"]),
        ("Already open", ["Larch Lane Bakery"]),
        ("Asked for unknown ids: 0badc0de", []),
        ("No room for", ["Starter"]),
        ("Could not open", ["Stone oven"]),
    ]


@pytest.mark.parametrize("status", ExpandStatus)
def test_notices_may_name_sections_that_no_longer_exist(state: ConversationState, status: ExpandStatus) -> None:
    results = (result(ids_of(state)["Ovens"], ExpandStatus.OPENED), result("0badc0de", status))
    assert len(_list_notices(SectionsExpanded(results=results, origin=Origin.AGENT), state)) in (1, 2)


def test_a_persons_commands_give_status_notices(state: ConversationState) -> None:
    ids = ids_of(state)
    ovens, steam = ids["Ovens"], ids["Steam"]
    folder = ExpandResult(id=steam, section_id=steam, status=ExpandStatus.FAILED, text="Steam is a folder.")
    notices: list[tuple[ConversationEvent, str]] = [
        (SectionsExpanded(results=(result(ovens, ExpandStatus.OPENED),), origin=Origin.PERSON), "Opened “Ovens”"),
        (SectionsExpanded(results=(folder,), origin=Origin.PERSON), "Steam is a folder."),
        (SectionsExpanded(results=(result(ovens, ExpandStatus.ALREADY_OPEN),), origin=Origin.PERSON), "Already open"),
        (SectionsPinned(section_ids=(ovens, steam), is_pinned=False), "Unpinned 2 sections"),
        (SectionsClosed(section_ids=(ovens,), origin=Origin.PERSON, reason=CloseReason.ASKED), "Closed “Ovens”"),
        (
            SectionsMarkedForClosing(section_ids=(ovens,), origin=Origin.PERSON),
            "Closing 1 section after this answer",
        ),
        (LoadingProgressed(done=0, total=1), "Loading 1 file"),
        (LoadingProgressed(done=3, total=10), "Loaded 3 of 10 files"),
        (LoadingProgressed(done=0, total=2, bytes_received=12_000, are_pages=True), "Fetched 0 of 2 pages, 12 kB"),
    ]
    for event, brief in notices:
        assert [(notice.short_text or notice.text, notice.slot) for notice in _list_notices(event, state)] == [
            (brief, NoticeSlot.STATUS)
        ]


def test_lines_name_sections_and_do_not_repeat(state: ConversationState) -> None:
    ovens = ids_of(state)["Ovens"]
    kept = ClosingDeclined(reasons=((ovens, "pinned"),), origin=Origin.AGENT)
    assert list(format_event_lines(kept, state.library)) == ["Left open: Ovens (pinned)"]
    for event in (LoadingProgressed(done=3, total=10), AnswerStreamed(text="So.")):
        assert list(format_event_lines(event, state.library)) == []


def test_only_the_first_of_many_problems_are_named(state: ConversationState) -> None:
    problems = tuple((f"a{i}", f"Page {i} is gone.") for i in range(5))
    notices = _list_notices(NodesLoaded(section_ids=(), problems=problems, notes=("An older copy.",)), state)
    assert [(notice.text, notice.severity) for notice in notices] == [
        ("An older copy.", Severity.INFO),
        *((text, Severity.WARNING) for text in ("Page 0 is gone.", "Page 1 is gone.", "Page 2 is gone.")),
        ("Could not read 2 more files.", Severity.WARNING),
    ]


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


def test_an_exchange_without_an_end_counts_as_cancelled() -> None:
    assert Exchange(number=1, question="x").outcome.stopped is StopReason.CANCELLED
