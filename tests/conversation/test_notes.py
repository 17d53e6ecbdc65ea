"""What is kept of what a person was shown beside an answer."""

from __future__ import annotations

import json

import pytest

from roamtui.conversation.codec import decode_exchange, encode_exchange
from roamtui.conversation.commands import Origin
from roamtui.conversation.events import CloseReason, ExpandStatus, NodesLoaded, SectionsClosed, SectionsKept
from roamtui.conversation.notes import (
    ClosingNote,
    DraftNote,
    ExpansionNote,
    FoundSection,
    KeptNote,
    Note,
    PageNote,
    ReminderNote,
    RetryNote,
    SearchNote,
    TriedSection,
    note_draft,
    note_events,
)
from roamtui.conversation.transcript import Exchange, Stopped

_NOTES: tuple[Note, ...] = (
    DraftNote(text="Let me look.\ud800"),
    SearchNote(query="late fees", found=(FoundSection(section_id="a8a96034", why="title rank 1"),)),
    ExpansionNote(tried=tuple(TriedSection(id=f"a8a9603{i}", status=status) for i, status in enumerate(ExpandStatus))),
    KeptNote(reasons=(("a8a96034", "pinned"),)),
    ReminderNote(),
    RetryNote(reason="busy", wait_seconds=1.5),
    ClosingNote(section_ids=("a8a96034",), reason=CloseReason.BUDGET),
    PageNote(text="An older copy.", is_problem=True),
)


def _save(*notes: Note) -> dict[str, object]:
    exchange = Exchange(number=1, question="Why?", stopped=Stopped.ANSWERED, notes=notes, steps_taken=2)
    saved = json.loads(json.dumps(encode_exchange(exchange)))
    assert decode_exchange(saved) == exchange
    return dict(saved)


def test_notes_of_every_kind_come_back() -> None:
    _save(*_NOTES)


def test_files_of_older_and_newer_versions_are_read() -> None:
    saved = _save(ReminderNote())
    assert decode_exchange({**saved, "notes": [{"kind": "smell"}, {"kind": "reminder"}]}).notes == (ReminderNote(),)
    older = {key: value for key, value in saved.items() if key not in ("notes", "steps_taken")}
    assert decode_exchange(older).notes == ()


@pytest.mark.parametrize("damaged", [{}, {"kind": "draft", "text": 3}, {"kind": "expansion", "tried": [{"id": "x"}]}])
def test_a_damaged_note_is_damage(damaged: dict[str, object]) -> None:
    with pytest.raises((KeyError, TypeError, ValueError)):
        decode_exchange({**_save(), "notes": [damaged]})


def test_what_a_person_asked_for_is_no_news() -> None:
    asked = (
        SectionsClosed(section_ids=("a8a96034",), origin=Origin.PERSON, reason=CloseReason.ASKED),
        SectionsKept(reasons=(("a8a96034", "pinned"),), origin=Origin.PERSON),
    )
    assert note_events(asked) == ()
    assert note_draft(" \n") == ()


def test_of_many_problems_the_first_are_named() -> None:
    loaded = NodesLoaded(section_ids=(), problems=tuple((f"a{i}", f"Page {i} is gone.") for i in range(5)))
    texts = [note.text for note in note_events((loaded,)) if isinstance(note, PageNote)]
    assert texts == ["Page 0 is gone.", "Page 1 is gone.", "Page 2 is gone.", "2 more files could not be read."]
