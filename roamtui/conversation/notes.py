"""What a person was shown beside an answer, small enough to be kept: from it a conversation looks again as it did.

What only concerns the moment is not noted: what could not be saved, which model answers, how far loading is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from roamtui.conversation.events import (
    CloseReason,
    ExpandStatus,
    NodesLoaded,
    SectionsClosed,
    SectionsExpanded,
    SectionsKept,
)
from roamtui.conversation.origin import Origin
from roamtui.conversation.plain_values import encode_value, expect_text, expect_texts
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

_KINDS: Mapping[type[Note], str] = {
    DraftNote: "draft",
    SearchNote: "search",
    ExpansionNote: "expansion",
    KeptNote: "kept",
    ReminderNote: "reminder",
    RetryNote: "retry",
    ClosingNote: "closing",
    PageNote: "page",
}


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


def encode_note(note: Note) -> dict[str, Any]:
    """Return a note as JSON values."""
    plain = encode_value(note)
    assert isinstance(plain, dict)
    return {"kind": _KINDS[type(note)], **plain}


def decode_note(data: Mapping[str, Any]) -> Note | None:
    """Return a note from JSON values, None where a newer program knows what it means.

    Raises:
        KeyError, TypeError, ValueError, AttributeError: It is damaged.
    """
    decode = _DECODERS.get(data["kind"])
    return decode(data) if decode is not None else None


def _decode_search(data: Mapping[str, Any]) -> SearchNote:
    found = tuple(
        FoundSection(section_id=expect_text(one["section_id"]), why=expect_text(one["why"])) for one in data["found"]
    )
    return SearchNote(query=expect_text(data["query"]), found=found)


def _decode_expansion(data: Mapping[str, Any]) -> ExpansionNote:
    tried = tuple(TriedSection(id=expect_text(one["id"]), status=ExpandStatus(one["status"])) for one in data["tried"])
    return ExpansionNote(tried=tried)


_DECODERS: Mapping[str, Callable[[Mapping[str, Any]], Note]] = {
    "draft": lambda data: DraftNote(text=expect_text(data["text"])),
    "search": _decode_search,
    "expansion": _decode_expansion,
    "kept": lambda data: KeptNote(
        reasons=tuple((expect_text(name), expect_text(why)) for name, why in data["reasons"])
    ),
    "reminder": lambda _data: ReminderNote(),
    "retry": lambda data: RetryNote(reason=expect_text(data["reason"]), wait_seconds=float(data["wait_seconds"])),
    "closing": lambda data: ClosingNote(
        section_ids=expect_texts(data["section_ids"]), reason=CloseReason(data["reason"])
    ),
    "page": lambda data: PageNote(text=expect_text(data["text"]), is_problem=bool(data["is_problem"])),
}
