"""What happens in a conversation, told: the one match over events that become words, for every front end."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum, auto
from typing import assert_never

from roamtui.conversation.commands import Origin
from roamtui.conversation.events import (
    AnswerStreamed,
    CloseReason,
    ClosingDeclined,
    ConversationEvent,
    ConversationSwitched,
    DocumentReloaded,
    ExpandStatus,
    InternalEvent,
    LoadingProgressed,
    NodesFolded,
    NodesLoaded,
    NodesUnfolded,
    QuestionAnswered,
    QuestionAsked,
    QuestionsRewound,
    ReadingSectionChanged,
    ReminderSent,
    RetryScheduled,
    SaveFailed,
    SaveWarningRaised,
    SectionsClosed,
    SectionsExpanded,
    SectionsMarkedForClosing,
    SectionsPinned,
    SectionsSearched,
    StepStarted,
    ThinkingStreamed,
    ToolFinished,
    UndoApplied,
)
from roamtui.conversation.transcript import StopReason
from roamtui.document.library import Library
from roamtui.outline.labels import format_node_title

_HITS_TOLD = 3
_PROBLEMS_TOLD = 3
_CLOSINGS = {
    CloseReason.BUDGET: "Closed to stay within what may be open",
    CloseReason.FRESH: "Closed before a new question",
    CloseReason.OVERFLOW: "Closed, because the model's context was full",
}
_ENDINGS = {
    StopReason.NOT_FOUND: "nothing found",
    StopReason.STEP_LIMIT: "stopped at the step limit",
    StopReason.CANCELLED: "stopped by you",
    StopReason.COST: "stopped at the cost limit",
}


class NoticeSlot(StrEnum):
    """Where a piece belongs."""

    ACTIVITY = auto()
    """Above an answer: what the model did for it."""
    ENDING = auto()
    """Below an answer: how it ended."""
    CHAT = auto()
    """Between the questions: what a person should know, also later."""
    STATUS = auto()
    """Wherever it is seen now; nobody needs it later."""


class Severity(StrEnum):
    """How much something matters."""

    INFO = auto()
    WARNING = auto()
    ERROR = auto()


@dataclass(frozen=True, slots=True)
class SectionLabel:
    """A section as a person is told of it."""

    section_id: str
    title: str
    note: str = ""
    """Said after the title; may hold words of others."""


@dataclass(frozen=True, slots=True)
class Notice:
    """One thing to tell."""

    slot: NoticeSlot
    text: str
    """May hold words of the model, of a document or of a person."""
    sections: tuple[SectionLabel, ...] = ()
    """What it was done to."""
    symbol: str = ""
    """Stands before it in a list of what the model did."""
    severity: Severity = Severity.INFO
    short_text: str = ""
    """All in a few words, where the words are others."""

    def format(self, *, with_ids: bool) -> str:
        """Return all on one line."""
        named = ", ".join(
            f"{section.title}{f' [{section.section_id}]' if with_ids else ''}{section.note and f' ({section.note})'}"
            for section in self.sections
        )
        return f"{self.text}: {named}" if named else self.text


def format_section(section_id: str, library: Library) -> str:
    """Return the title of a section for a person, safe for the screen."""
    return format_node_title(library.node(section_id)) if section_id in library else f"unknown section {section_id}"


def _format_count(sections: Sequence[object]) -> str:
    return "1 section" if len(sections) == 1 else f"{len(sections)} sections"


def _count_done(place: NoticeSlot, verb: str, sections: tuple[SectionLabel, ...]) -> Notice:
    """Return what was done to how many sections, in brief to one by its title."""
    brief = f"{verb} “{sections[0].title}”" if len(sections) == 1 else ""
    return Notice(place, f"{verb} {_format_count(sections)}", sections, symbol="◆", short_text=brief)


def format_event_lines(event: ConversationEvent, library: Library) -> Iterator[str]:
    """Yield the lines that tell of an event where nothing that was written can change; answers are told elsewhere."""
    is_repeated = isinstance(event, LoadingProgressed) and bool(event.done or event.bytes_received)
    if not isinstance(event, AnswerStreamed | QuestionAnswered) and not is_repeated:
        for piece in make_notices(event, library):
            yield piece.format(with_ids=True)


def make_notices(event: ConversationEvent, library: Library) -> Iterator[Notice]:  # noqa: C901, PLR0912 - one case an event
    """Yield what tells a person of an event, nothing where it is not worth it; the library knows titles of sections."""
    if isinstance(event, InternalEvent):
        return
    match event:
        case AnswerStreamed(text=text):
            yield Notice(NoticeSlot.ACTIVITY, text, symbol="“")
        case SectionsSearched():
            yield _narrate_search(event, library)
        case SectionsExpanded():
            yield from _narrate_expansion(event, library)
        case ClosingDeclined(reasons=reasons, origin=origin):
            kept = tuple(SectionLabel(i, format_section(i, library), why) for i, why in reasons)
            is_agents = origin is Origin.AGENT
            place, words = (NoticeSlot.ACTIVITY, "kept open") if is_agents else (NoticeSlot.CHAT, "nothing to close")
            yield Notice(place, words, kept, symbol="◆")
        case ReminderSent():
            yield Notice(NoticeSlot.ACTIVITY, "asked the model to quote what it says", symbol="❝")
        case RetryScheduled(reason=reason, wait_seconds=wait):
            yield Notice(
                NoticeSlot.ACTIVITY, f"{reason}; trying again in {wait:.0f} s", symbol="↻", severity=Severity.WARNING
            )
        case QuestionAnswered():
            yield from make_outcome_notices(event)
        case SectionsClosed(section_ids=ids, reason=CloseReason.GONE):
            yield Notice(NoticeSlot.CHAT, f"Closed {_format_count(ids)} that the document of today no longer has.")
        case SectionsClosed(section_ids=ids, reason=reason) if reason in _CLOSINGS:
            yield Notice(NoticeSlot.CHAT, _CLOSINGS[reason], _name_all(ids, library))
        case SectionsClosed(section_ids=ids):
            yield _count_done(NoticeSlot.STATUS, "closed", _name_all(ids, library))
        case NodesLoaded():
            yield from _narrate_loaded(event)
        case SectionsMarkedForClosing(section_ids=ids):
            yield Notice(
                NoticeSlot.STATUS, f"{_format_count(ids)} will close after this answer", _name_all(ids, library)
            )
        case SectionsPinned(section_ids=ids, is_pinned=is_pinned):
            yield _count_done(NoticeSlot.STATUS, "pinned" if is_pinned else "unpinned", _name_all(ids, library))
        case UndoApplied(deed=deed, is_redo=is_redo):
            of_what = _format_count(deed.section_ids) if deed.section_ids else "what was folded"
            words = f"{'did again' if is_redo else 'took back'} {of_what}"
            yield Notice(NoticeSlot.STATUS, "nothing was left of it to take back" if deed.is_empty else words)
        case LoadingProgressed():
            yield Notice(NoticeSlot.STATUS, _describe_loading(event))
        case SaveFailed(message=message) | SaveWarningRaised(message=message):
            yield Notice(NoticeSlot.CHAT, message, severity=Severity.WARNING)
        case (
            QuestionAsked()
            | StepStarted()
            | ThinkingStreamed()
            | ToolFinished()
            | NodesUnfolded()
            | NodesFolded()
            | ReadingSectionChanged()
            | QuestionsRewound()
            | ConversationSwitched()
            | DocumentReloaded()
        ):
            pass
        case _:
            assert_never(event)


def _name_all(section_ids: Iterable[str], library: Library) -> tuple[SectionLabel, ...]:
    return tuple(SectionLabel(section_id, format_section(section_id, library)) for section_id in section_ids)


def _narrate_search(event: SectionsSearched, library: Library) -> Notice:
    count = len(event.hits)
    found = tuple(
        SectionLabel(
            hit.section_id,
            f"{rank} {format_section(hit.section_id, library)}",
            "" if hit.why == f"text rank {rank}" else hit.why,
        )
        for rank, hit in enumerate(event.hits[:_HITS_TOLD], start=1)
    )
    told = f"{count} found{f', first {_HITS_TOLD}' if count > _HITS_TOLD else ''}" if count else "found nothing"
    words = f"searched “{event.query}” · {told}"
    return Notice(NoticeSlot.ACTIVITY, words, found, symbol="⌕")


def _narrate_expansion(event: SectionsExpanded, library: Library) -> Iterator[Notice]:
    """Yield what became of a batch, a piece for each status that occurs."""
    place = NoticeSlot.ACTIVITY if event.origin is Origin.AGENT else NoticeSlot.STATUS
    by_status: dict[ExpandStatus, dict[str, str]] = {}
    for result in event.results:
        by_status.setdefault(result.status, {})[result.section_id or result.id] = result.text
    for status, texts in by_status.items():
        sections = _name_all(texts, library)
        match status:
            case ExpandStatus.OPENED:
                yield _count_done(place, "opened", sections)
            case ExpandStatus.ALREADY_OPEN:
                opened = by_status.get(ExpandStatus.OPENED, {}).keys()
                known = [one for one in sections if one.section_id in library]  # the document of today may have lost it
                part = tuple(one for one in known if not opened.isdisjoint(library.ancestors(one.section_id)))
                before = tuple(section for section in sections if section not in part)
                for words, named in (("part of these", part), ("already open", before)):
                    if named:
                        yield Notice(place, words, named, symbol="◆")
            case ExpandStatus.UNKNOWN:
                words = f"asked for ids that do not exist: {', '.join(texts)}"
                yield Notice(place, words, symbol="?", severity=Severity.WARNING)
            case ExpandStatus.NO_ROOM:
                yield Notice(place, "no room left for", sections, symbol="!", severity=Severity.WARNING)
            case ExpandStatus.FAILED:
                is_persons = event.origin is Origin.PERSON  # they are told why
                words = " ".join(texts.values()) if is_persons else "could not be opened"
                yield Notice(place, words, () if is_persons else sections, symbol="✗", severity=Severity.ERROR)


def _narrate_loaded(event: NodesLoaded) -> Iterator[Notice]:
    problems = [reason for _, reason in event.problems]
    if len(problems) > _PROBLEMS_TOLD:
        problems[_PROBLEMS_TOLD:] = [f"{len(problems) - _PROBLEMS_TOLD} more files could not be read."]
    for weight, texts in ((Severity.INFO, event.notes[:_PROBLEMS_TOLD]), (Severity.WARNING, problems)):
        for text in texts:
            yield Notice(NoticeSlot.CHAT, text, severity=weight)


def _describe_loading(event: LoadingProgressed) -> str:
    what, begun, done = ("page", "fetching", "fetched") if event.are_pages else ("file", "reading", "read")
    if not event.done and not event.bytes_received:
        return f"{begun} {event.total:,} {what}{'' if event.total == 1 else 's'}"
    received = f", {max(1, event.bytes_received // 1000):,} kB" if event.bytes_received else ""
    return f"{done} {event.done:,} of {event.total:,} {what}s{received}"


def make_outcome_notices(event: QuestionAnswered) -> Iterator[Notice]:
    """Yield how an exchange ended, nothing where it is simply answered."""
    told = (
        (event.error, Severity.ERROR),
        (_ENDINGS.get(event.stopped, ""), Severity.WARNING),
        ("no quotes, so nothing was checked" if event.is_unproven else "", Severity.WARNING),
    )
    for words, weight in told:
        if words:
            yield Notice(NoticeSlot.ENDING, words, severity=weight)
