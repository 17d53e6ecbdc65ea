"""Which events of an answer in the making are kept with it, and as what."""

from __future__ import annotations

from typing import TYPE_CHECKING

from roamtui.conversation.events import AnswerStreamed, ReminderSent, RetryScheduled, SectionsSearched, StepStarted
from roamtui.conversation.notes import (
    ClosingNote,
    FoundSection,
    Note,
    PageNote,
    ReminderNote,
    RetryNote,
    SearchNote,
    note_draft,
    note_events,
)

if TYPE_CHECKING:
    from roamtui.conversation.events import ConversationEvent

NOTICES = (ClosingNote, PageNote)
"""Notes that stand after an exchange, not among what the model did for it."""


class Chronicle:
    """Makes notes of the events of one question; what the model said is a draft as soon as it does something else."""

    def __init__(self) -> None:
        self._said = ""

    def take(self, event: ConversationEvent) -> tuple[Note, ...]:
        """Return what is to be kept now that this has happened."""
        if isinstance(event, AnswerStreamed):
            self._said += event.text
            return ()
        notes = note_event(event)
        if not isinstance(event, StepStarted) and all(isinstance(note, NOTICES) for note in notes):
            return notes
        draft, self._said = note_draft(self._said), ""
        return (*draft, *notes)


def note_event(event: ConversationEvent) -> tuple[Note, ...]:
    """Return what is to be kept of an event while a question is answered."""
    match event:
        case SectionsSearched(query=query, hits=hits):
            return (
                SearchNote(query=query, found=tuple(FoundSection(section_id=h.section_id, why=h.why) for h in hits)),
            )
        case ReminderSent():
            return (ReminderNote(),)
        case RetryScheduled(reason=reason, wait_seconds=wait_seconds):
            return (RetryNote(reason=reason, wait_seconds=wait_seconds),)
        case _:
            return note_events((event,))
