"""Turn conversation events into notices for a person. All front ends show the same texts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum, auto

from roamtui.conversation.commands import Origin
from roamtui.conversation.events import (
    AnswerStreamed,
    CloseReason,
    ConversationEvent,
    ExpandStatus,
    LoadingStarted,
    NodesLoaded,
    QuestionAnswered,
    ReminderSent,
    RetryScheduled,
    SectionsClosed,
    SectionsExpanded,
    SectionsSearched,
    WarningRaised,
)
from roamtui.conversation.transcript import StopReason
from roamtui.document.counts import format_count
from roamtui.document.library import Library
from roamtui.outline.labels import format_node_title

_HITS_MAX = 3
_PROBLEMS_MAX = 3
_CLOSE_TEXTS = {
    CloseReason.BUDGET: "Closed to stay within the open-section budget",
    CloseReason.FRESH: "Closed before a new question",
    CloseReason.OVERFLOW: "Closed because the model's context window was full",
}
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
    ExpandStatus.ALREADY_OPEN: ("Already open", "◆", Severity.INFO),
    ExpandStatus.NO_ROOM: ("No room for", "!", Severity.WARNING),
    ExpandStatus.FAILED: ("Could not open", "✗", Severity.ERROR),
}


@dataclass(frozen=True, slots=True)
class SectionLabel:
    """A section as a notice shows it."""

    section_id: str
    title: str
    note: str = ""
    """Shown in parentheses after the title. Not sanitised: may quote the model or a document."""


@dataclass(frozen=True, slots=True)
class Notice:
    """One message for a person."""

    slot: NoticeSlot
    text: str
    """Not sanitised: may quote the model, a document or a person."""
    sections: tuple[SectionLabel, ...] = ()
    symbol: str = ""
    """Precedes the message in the list of the model's actions."""
    severity: Severity = Severity.INFO
    short_text: str = ""
    """Shown instead of text and sections if there is only room for a few words."""

    def format(self) -> str:
        """Return text and sections as one line."""
        labels = ", ".join(f"{section.title}{section.note and f' ({section.note})'}" for section in self.sections)
        return f"{self.text}: {labels}" if labels else self.text


def format_section(section_id: str, library: Library) -> str:
    """Return the title of a section, safe for the screen."""
    if section_id not in library:
        return f"section {section_id} (not in this document)"
    return format_node_title(library.node(section_id))


def format_event_lines(event: ConversationEvent, library: Library) -> Iterator[str]:
    """Yield the lines that show an event in output that cannot be redrawn. Answers are written elsewhere."""
    if not isinstance(event, AnswerStreamed | QuestionAnswered):
        for notice in make_notices(event, library):
            yield notice.format()


def make_notices(event: ConversationEvent, library: Library) -> Iterator[Notice]:  # noqa: PLR0912 - one case an event
    """Yield the notices for an event. Many events have none."""
    match event:
        case AnswerStreamed(text=text):
            yield Notice(NoticeSlot.ACTIVITY, text, symbol="“")
        case SectionsSearched(query=query, hits=hits):
            results = format_count(len(hits), "result") if hits else "no results"
            if len(hits) > _HITS_MAX:
                results += f", top {_HITS_MAX}"
            labels = tuple(
                SectionLabel(
                    hit.section_id,
                    f"{rank} {format_section(hit.section_id, library)}",
                    "" if hit.why == f"text rank {rank}" else hit.why,
                )
                for rank, hit in enumerate(hits[:_HITS_MAX], start=1)
            )
            yield Notice(NoticeSlot.ACTIVITY, f"Searched “{query}” · {results}", labels, symbol="⌕")
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
        case NodesLoaded(notes=notes, problems=loading_problems):
            for note in notes[:_PROBLEMS_MAX]:
                yield Notice(NoticeSlot.CHAT, note)
            problems = [reason for _, reason in loading_problems]
            if len(problems) > _PROBLEMS_MAX:
                problems[_PROBLEMS_MAX:] = [f"Could not read {len(problems) - _PROBLEMS_MAX} more files."]
            for problem in problems:
                yield Notice(NoticeSlot.CHAT, problem, severity=Severity.WARNING)
        case LoadingStarted(count=count):
            yield Notice(NoticeSlot.STATUS, f"Loading {format_count(count, 'document')}")
        case WarningRaised(message=message):
            yield Notice(NoticeSlot.CHAT, message, severity=Severity.WARNING)
        case _:
            pass


def _make_labels(section_ids: Iterable[str], library: Library) -> tuple[SectionLabel, ...]:
    return tuple(SectionLabel(section_id, format_section(section_id, library)) for section_id in section_ids)


def _make_action_notice(slot: NoticeSlot, verb: str, section_ids: Iterable[str], library: Library) -> Notice:
    sections = _make_labels(section_ids, library)
    short_text = f"{verb} “{sections[0].title}”" if len(sections) == 1 else ""
    return Notice(slot, f"{verb} {format_count(len(sections), 'section')}", sections, symbol="◆", short_text=short_text)


def _make_closing_notices(event: SectionsClosed, library: Library) -> Iterator[Notice]:
    ids, reason = event.section_ids, event.reason
    count, labels = format_count(len(ids), "section"), _make_labels(ids, library)
    if reason is CloseReason.GONE:
        yield Notice(NoticeSlot.CHAT, f"Closed {count} no longer in the document.")
    elif reason in _CLOSE_TEXTS:
        yield Notice(NoticeSlot.CHAT, _CLOSE_TEXTS[reason], labels)
    elif event.is_pending and ids:
        yield Notice(NoticeSlot.STATUS, f"Closing {count} after this answer", labels)
    elif ids:
        yield _make_action_notice(NoticeSlot.STATUS, "Closed", ids, library)
    if event.kept:
        declined = tuple(SectionLabel(i, format_section(i, library), why) for i, why in event.kept)
        is_agent = event.origin is Origin.AGENT
        slot, text = (NoticeSlot.ACTIVITY, "Left open") if is_agent else (NoticeSlot.CHAT, "Not closed")
        yield Notice(slot, text, declined, symbol="◆")


def _make_expansion_notices(event: SectionsExpanded, library: Library) -> Iterator[Notice]:
    """Yield one notice for each status that occurs in the batch."""
    slot = NoticeSlot.ACTIVITY if event.origin is Origin.AGENT else NoticeSlot.STATUS
    by_status: dict[ExpandStatus, dict[str, str]] = {}
    for result in event.results:
        by_status.setdefault(result.status, {})[result.section_id or result.id] = result.text
    for status, texts in by_status.items():
        labels = _make_labels(texts, library)
        if status in (ExpandStatus.OPENED, ExpandStatus.PINNED, ExpandStatus.UNPINNED):
            yield _make_action_notice(slot, status.capitalize(), texts, library)
        elif status is ExpandStatus.UNKNOWN:
            text = f"Asked for unknown ids: {', '.join(texts)}"
            yield Notice(slot, text, symbol="?", severity=Severity.WARNING)
        elif status is ExpandStatus.FAILED and event.origin is Origin.PERSON:  # the agent's texts are tool results
            yield Notice(slot, " ".join(texts.values()), symbol="✗", severity=Severity.ERROR)
        else:
            words, symbol, severity = _EXPANSION_WORDS[status]
            yield Notice(slot, words, labels, symbol=symbol, severity=severity)


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
