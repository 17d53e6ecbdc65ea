"""Turn conversation events into notices for a person. All front ends show the same texts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum, auto

from msgspec import Struct
from msgspec.structs import replace

from roamtui.conversation.events import (
    AnswerStreamed,
    CloseReason,
    ConversationEvent,
    ExpandStatus,
    LoadingStarted,
    NodesLoaded,
    Origin,
    QuestionAnswered,
    ReminderSent,
    RetryScheduled,
    SectionsClosed,
    SectionsExpanded,
    SectionsSearched,
    StopReason,
    WarningRaised,
)
from roamtui.document.library import Library
from roamtui.document.plain import format_count
from roamtui.outline.labels import format_node_title

_SHOWN_MAX = 3
"""Maximum number of search results, notes or problems of one event that are shown."""
_STOP_TEXTS = {
    StopReason.NOT_FOUND: "not found in the document",
    StopReason.STEP_LIMIT: "stopped at the step limit",
    StopReason.CANCELLED: "stopped",
    StopReason.COST: "stopped at the spending limit",
}


class NoticeSlot(StrEnum):
    """Where a front end shows a notice."""

    ACTIVITY = auto()
    """Above an answer, in the list of the model's actions."""
    ENDING = auto()
    """Below an answer, to say how it ended."""
    CHAT = auto()
    """Between the questions, for a notice that a person may need later."""
    STATUS = auto()
    """In the status line, for a notice that nobody needs later."""


class Severity(StrEnum):
    """How serious a notice is."""

    INFO = auto()
    WARNING = auto()
    ERROR = auto()


_EXPANSION_WORDS = {
    ExpandStatus.OPENED: ("Opened {}", "◆", Severity.INFO),
    ExpandStatus.PINNED: ("Pinned {}", "◆", Severity.INFO),
    ExpandStatus.UNPINNED: ("Unpinned {}", "◆", Severity.INFO),
    ExpandStatus.ALREADY_OPEN: ("Already open: {}", "◆", Severity.INFO),
    ExpandStatus.UNKNOWN: ("Not in this document: {}", "?", Severity.WARNING),
    ExpandStatus.NO_ROOM: ("No room for {}", "!", Severity.WARNING),
    ExpandStatus.FAILED: ("Could not open {}", "✗", Severity.ERROR),
}
_CLOSE_WORDS = {
    CloseReason.ASKED: (NoticeSlot.STATUS, "Closed {}"),
    CloseReason.BUDGET: (NoticeSlot.CHAT, "Closed {} to stay within the open-section budget"),
    CloseReason.FRESH: (NoticeSlot.CHAT, "Closed {} before a new question"),
    CloseReason.GONE: (NoticeSlot.CHAT, "Closed {} no longer in the document"),
    CloseReason.OVERFLOW: (NoticeSlot.CHAT, "Closed {} because the model's context window was full"),
}


class Notice(Struct, frozen=True):
    """One message for a person."""

    slot: NoticeSlot
    text: str
    """Not sanitised: may quote the model, a document or a person."""
    sections: tuple[tuple[str, str], ...] = ()
    """Ids and titles of sections."""
    symbol: str = ""
    """Precedes the message in the list of the model's actions."""
    severity: Severity = Severity.INFO

    def format(self) -> str:
        """Return text and sections as one line."""
        labels = ", ".join(title for _, title in self.sections)
        return f"{self.text}: {labels}" if labels else self.text


def format_section(section_id: str, library: Library) -> str:
    """Return the title of a section, safe for the screen."""
    if section_id not in library:
        return f"section {section_id} (not in this document)"
    return format_node_title(library.node(section_id))


def make_notices(event: ConversationEvent, library: Library) -> Iterator[Notice]:
    """Yield the notices for an event. Many events have none."""
    match event:
        case AnswerStreamed(text=text):
            yield Notice(NoticeSlot.ACTIVITY, text, symbol="“")
        case SectionsSearched(query=query, hits=hits):
            text = f"Searched “{query}” · {format_count(len(hits), 'result') if hits else 'no results'}"
            labels = _make_labels([hit.section_id for hit in hits[:_SHOWN_MAX]], library)
            yield Notice(NoticeSlot.ACTIVITY, text, labels, symbol="⌕")
        case SectionsExpanded():
            yield from _make_expansion_notices(event, library)
        case ReminderSent():
            yield Notice(NoticeSlot.ACTIVITY, "Asked the model for quotes", symbol="❝")
        case RetryScheduled(reason=reason, wait_seconds=wait):
            text = f"{reason}; retrying in {wait:.0f} s"
            yield Notice(NoticeSlot.ACTIVITY, text, symbol="↻", severity=Severity.WARNING)
        case QuestionAnswered():
            yield from make_outcome_notices(event)
        case SectionsClosed():
            yield from _make_closing_notices(event, library)
        case NodesLoaded(notes=notes, problems=problems):
            texts = [problem for _, problem in problems]
            if len(texts) > _SHOWN_MAX:
                texts[_SHOWN_MAX:] = [f"Could not read {len(texts) - _SHOWN_MAX} more files."]
            yield from (Notice(NoticeSlot.CHAT, note) for note in notes[:_SHOWN_MAX])
            yield from (Notice(NoticeSlot.CHAT, text, severity=Severity.WARNING) for text in texts)
        case LoadingStarted(count=count):
            yield Notice(NoticeSlot.STATUS, f"Loading {format_count(count, 'document')}")
        case WarningRaised(message=message):
            yield Notice(NoticeSlot.CHAT, message, severity=Severity.WARNING)
        case _:
            pass


def _make_labels(section_ids: Iterable[str], library: Library) -> tuple[tuple[str, str], ...]:
    """Return the labels of those sections that the document has."""
    return tuple((one, format_section(one, library)) for one in section_ids if one in library)


def _make_section_notice(slot: NoticeSlot, words: str, section_ids: Sequence[str], library: Library) -> Notice:
    """Make a notice on sections. In a status message, a single one is named at once."""
    labels = _make_labels(section_ids, library)
    if slot is NoticeSlot.STATUS and len(section_ids) == len(labels) == 1:
        return Notice(slot, words.format(f"“{labels[0][1]}”"))
    return Notice(slot, words.format(format_count(len(section_ids), "section")), labels, symbol="◆")


def _make_closing_notices(event: SectionsClosed, library: Library) -> Iterator[Notice]:
    slot, words = _CLOSE_WORDS[event.reason]
    if event.section_ids:
        words = "Closing {} after this answer" if event.is_pending else words
        yield _make_section_notice(slot, words, event.section_ids, library)
    if event.kept:
        slot = NoticeSlot.ACTIVITY if event.origin is Origin.AGENT else NoticeSlot.CHAT
        yield _make_section_notice(slot, "Not closed: {}", [section_id for section_id, _ in event.kept], library)


def _make_expansion_notices(event: SectionsExpanded, library: Library) -> Iterator[Notice]:
    """Yield one notice for each status that occurs in the batch."""
    slot = NoticeSlot.ACTIVITY if event.origin is Origin.AGENT else NoticeSlot.STATUS
    by_status: dict[ExpandStatus, dict[str, str]] = {}
    for result in event.results:
        by_status.setdefault(result.status, {})[result.section_id or result.id] = result.text
    for status, texts in by_status.items():
        words, symbol, severity = _EXPANSION_WORDS[status]
        if status is ExpandStatus.FAILED and event.origin is Origin.PERSON:  # the agent's texts are tool results
            yield Notice(slot, " ".join(texts.values()), symbol=symbol, severity=severity)
        else:
            notice = _make_section_notice(slot, words, [*texts], library)
            yield replace(notice, symbol=symbol, severity=severity)


def make_outcome_notices(event: QuestionAnswered) -> Iterator[Notice]:
    """Yield notices that say how an exchange ended, or nothing if it ended with an ordinary answer."""
    notices = (
        (event.error, Severity.ERROR),
        (_STOP_TEXTS.get(event.stopped, ""), Severity.WARNING),
        ("no quotes to verify" if event.is_unproven else "", Severity.WARNING),
    )
    for text, severity in notices:
        if text:
            yield Notice(NoticeSlot.ENDING, text, severity=severity)
