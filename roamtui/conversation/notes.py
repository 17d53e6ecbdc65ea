"""What a person was shown beside an answer, small enough to be kept: from it a conversation looks again as it did.

What only concerns the moment is not noted: what could not be saved, which model answers, how far loading is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from roamtui.conversation.commands import Origin
from roamtui.conversation.events import (
    CloseReason,
    ExpandStatus,
    NodesLoaded,
    SectionsClosed,
    SectionsExpanded,
    SectionsKept,
)
from roamtui.document.plain import shorten

_DRAFT_LENGTH = 300
"""Characters kept of what the model said before it went on working: all of it is in its step."""
_PROBLEMS_TOLD = 3
_TOLD_REASONS = (CloseReason.BUDGET, CloseReason.FRESH, CloseReason.OVERFLOW, CloseReason.GONE)
"""Other closings were asked for, and are no news."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftNote:
    """The model said something before it went on working."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundSection:
    """One result of a search, its rank being its place."""

    section_id: str
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchNote:
    """The agent searched."""

    query: str
    found: tuple[FoundSection, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TriedSection:
    """What became of one id that the agent asked for."""

    id: str
    """Of the section, or as requested where it names none."""
    status: ExpandStatus


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpansionNote:
    """The agent opened a batch of sections."""

    tried: tuple[TriedSection, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptNote:
    """Sections were to be closed and stayed open, with the reason for each."""

    reasons: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReminderNote:
    """The model was told what its reply lacked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryNote:
    """A passing fault of the provider."""

    reason: str
    wait_seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ClosingNote:
    """Sections were closed without being asked for."""

    section_ids: tuple[str, ...]
    reason: CloseReason


@dataclass(frozen=True, slots=True, kw_only=True)
class PageNote:
    """Something to know of pages that were fetched, or why one could not be."""

    text: str
    is_problem: bool = False


Note = DraftNote | SearchNote | ExpansionNote | KeptNote | ReminderNote | RetryNote | ClosingNote | PageNote


def note_draft(text: str) -> tuple[DraftNote, ...]:
    """Return a note of what the model said before it went on working, none where it said nothing."""
    said = text.strip()
    return (DraftNote(text=shorten(said, _DRAFT_LENGTH)),) if said else ()


def note_events(events: Iterable[object]) -> tuple[Note, ...]:
    """Return what is to be kept of events of the conversation while a question is answered."""
    return tuple(note for event in events for note in _note_event(event))


def _note_event(event: object) -> Iterator[Note]:
    match event:
        case SectionsExpanded(origin=Origin.AGENT, results=results):
            yield ExpansionNote(
                tried=tuple(TriedSection(id=one.section_id or one.id, status=one.status) for one in results)
            )
        case SectionsKept(origin=Origin.AGENT, reasons=reasons):
            yield KeptNote(reasons=reasons)
        case SectionsClosed(section_ids=ids, reason=reason) if reason in _TOLD_REASONS:
            yield ClosingNote(section_ids=ids, reason=reason)
        case NodesLoaded(notes=notes, problems=problems):
            yield from (PageNote(text=text) for text in notes[:_PROBLEMS_TOLD])
            yield from (PageNote(text=text, is_problem=True) for _, text in problems[:_PROBLEMS_TOLD])
            if len(problems) > _PROBLEMS_TOLD:
                text = f"{len(problems) - _PROBLEMS_TOLD} more files could not be read."
                yield PageNote(text=text, is_problem=True)
        case _:
            pass
