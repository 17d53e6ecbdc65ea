"""What is kept of what happened while an answer was made, and how it comes back."""

from __future__ import annotations

import json

import pytest

from roamtui.conversation.codec import decode_exchange, encode_exchange
from roamtui.conversation.commands import Origin
from roamtui.conversation.events import (
    AnswerStreamed,
    CloseReason,
    ConversationEvent,
    ExpandResult,
    ExpandStatus,
    LoadingProgressed,
    NodesLoaded,
    ReminderSent,
    RetryScheduled,
    SaveFailed,
    SearchHit,
    SectionsClosed,
    SectionsExpanded,
    SectionsKept,
    SectionsSearched,
    keep_event,
    make_draft,
)
from roamtui.conversation.state import Exchange
from roamtui.conversation.transcript import Stopped

_ID = "a8a96034"
_HIT = SearchHit(section_id=_ID, score=0.5, why="title rank 1")
_RESULTS = tuple(
    ExpandResult(id=f"a8a9603{i}", section_id=None if status is ExpandStatus.UNKNOWN else f"a8a9603{i}", status=status)
    for i, status in enumerate(ExpandStatus)
)
_KEPT: tuple[ConversationEvent, ...] = (
    AnswerStreamed(text="Let me look.\ud800"),
    SectionsSearched(query="late fees", hits=(_HIT,)),
    SectionsExpanded(results=_RESULTS, origin=Origin.AGENT),
    SectionsKept(reasons=((_ID, "pinned"),), origin=Origin.AGENT),
    ReminderSent(text="Quote."),
    RetryScheduled(reason="busy", wait_seconds=1.5),
    SectionsClosed(section_ids=(_ID,), origin=Origin.AGENT, reason=CloseReason.BUDGET),
    NodesLoaded(section_ids=(_ID,), problems=((_ID, "It is gone."),), notes=("An older copy.",)),
)
_NOTES = (
    ({"kind": "draft", "text": "Let me look."}, AnswerStreamed(text="Let me look.")),
    (
        {"kind": "search", "query": "late fees", "found": [{"section_id": _ID, "why": "title rank 1"}]},
        SectionsSearched(query="late fees", hits=(SearchHit(section_id=_ID, why="title rank 1"),)),
    ),
    (
        {"kind": "expansion", "tried": [{"id": result.id, "status": result.status.value} for result in _RESULTS]},
        SectionsExpanded(results=_RESULTS, origin=Origin.AGENT),
    ),
    (
        {"kind": "kept", "reasons": [[_ID, "pinned"]]},
        SectionsKept(reasons=((_ID, "pinned"),), origin=Origin.AGENT),
    ),
    ({"kind": "reminder"}, ReminderSent(text="")),
    ({"kind": "retry", "reason": "busy", "wait_seconds": 1.5}, RetryScheduled(reason="busy", wait_seconds=1.5)),
    (
        {"kind": "closing", "section_ids": [_ID], "reason": "budget"},
        SectionsClosed(section_ids=(_ID,), origin=Origin.AGENT, reason=CloseReason.BUDGET),
    ),
    (
        {"kind": "page", "text": "It is gone.", "is_problem": True},
        NodesLoaded(section_ids=(), problems=(("", "It is gone."),)),
    ),
    (
        {"kind": "page", "text": "An older copy.", "is_problem": False},
        NodesLoaded(section_ids=(), notes=("An older copy.",)),
    ),
)


def _save(*events: ConversationEvent) -> dict[str, object]:
    exchange = Exchange(number=1, question="Why?", stopped=Stopped.ANSWERED, events=events, steps_taken=2)
    saved = json.loads(json.dumps(encode_exchange(exchange)))
    assert decode_exchange(saved) == exchange
    return dict(saved)


def test_events_of_every_kind_that_is_kept_come_back() -> None:
    assert tuple(map(keep_event, _KEPT)) == _KEPT
    _save(*_KEPT)


@pytest.mark.parametrize(("note", "event"), _NOTES, ids=[str(note["kind"]) for note, _ in _NOTES])
def test_a_note_of_version_0_1_is_read_as_an_event(note: dict[str, object], event: ConversationEvent) -> None:
    old = {key: value for key, value in _save().items() if key != "events"}
    assert decode_exchange({**old, "notes": [note]}).events == (event,)


def test_what_a_newer_version_alone_knows_is_left_out() -> None:
    saved = _save(ReminderSent(text="Quote."))
    events = [{"kind": "roof_fell"}, {"kind": "reminder_sent", "text": "Quote.", "colour": "red"}]
    assert decode_exchange({**saved, "events": events, "notes": [{"kind": "smell"}]}).events == (
        ReminderSent(text="Quote."),
    )
    older = {key: value for key, value in saved.items() if key not in ("events", "steps_taken")}
    assert decode_exchange(older).events == ()


@pytest.mark.parametrize(
    "damaged",
    [
        {"events": [{}]},
        {"events": [{"kind": "answer_streamed", "text": 3}]},
        {"notes": [{}]},
        {"notes": [{"kind": "draft", "text": 3}]},
        {"notes": [{"kind": "expansion", "tried": [{"id": "x"}]}]},
    ],
)
def test_a_damaged_event_is_damage(damaged: dict[str, object]) -> None:
    with pytest.raises((KeyError, TypeError, ValueError)):
        decode_exchange({**_save(), **damaged})


def test_text_of_the_document_is_not_kept_twice() -> None:
    result = ExpandResult(id=_ID, section_id=_ID, status=ExpandStatus.OPENED, text="All of it.", tokens=9)
    kept = keep_event(SectionsExpanded(results=(result,), origin=Origin.AGENT))
    assert kept is not None
    assert "All of it." not in repr(kept)
    hit = SearchHit(section_id=_ID, path=("All of it.",), score=1.0, snippet="All of it.")
    assert "All of it." not in repr(keep_event(SectionsSearched(query="it", hits=(hit,))))


def test_what_a_person_asked_for_and_what_is_over_at_once_is_not_kept() -> None:
    events = (
        SectionsClosed(section_ids=(_ID,), origin=Origin.PERSON, reason=CloseReason.ASKED),
        SectionsKept(reasons=((_ID, "pinned"),), origin=Origin.PERSON),
        SectionsExpanded(results=_RESULTS, origin=Origin.PERSON),
        LoadingProgressed(done=1, total=2),
        NodesLoaded(section_ids=(_ID,)),
        SaveFailed(message="The disk is full."),
    )
    assert [event for event in events if keep_event(event)] == []
    assert make_draft(" \n") == ()
