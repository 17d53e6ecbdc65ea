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
    ConversationChanged,
    ConversationEvent,
    DeedUndone,
    DocumentReloaded,
    ExpandStatus,
    LoadingProgressed,
    NodesFolded,
    NodesLoaded,
    NodesUnfolded,
    QuestionAnswered,
    QuestionAsked,
    QuestionsTakenBack,
    ReadingChanged,
    Record,
    ReminderSent,
    RetryScheduled,
    SaveFailed,
    SavingReported,
    SectionsClosed,
    SectionsExpanded,
    SectionsKept,
    SectionsMarked,
    SectionsPinned,
    SectionsSearched,
    StepStarted,
    ThinkingStreamed,
    ToolFinished,
)
from roamtui.conversation.transcript import Stopped
from roamtui.document.library import Library
from roamtui.outline.labels import name_node

_HITS_TOLD = 3
_PROBLEMS_TOLD = 3
_CLOSINGS = {
    CloseReason.BUDGET: "Closed to stay within what may be open",
    CloseReason.FRESH: "Closed before a new question",
    CloseReason.OVERFLOW: "Closed, because the model's context was full",
}
_ENDINGS = {
    Stopped.NOT_FOUND: "nothing found",
    Stopped.STEP_LIMIT: "stopped at the step limit",
    Stopped.CANCELLED: "stopped by you",
    Stopped.COST: "stopped at the cost limit",
}


class Place(StrEnum):
    """Where a piece belongs."""

    ANSWER = auto()
    """Above an answer: what the model did for it."""
    ENDING = auto()
    """Below an answer: how it ended."""
    CHAT = auto()
    """Between the questions: what a person should know, also later."""
    MOMENT = auto()
    """Wherever it is seen now; nobody needs it later."""


class Weight(StrEnum):
    """How much something matters."""

    INFO = auto()
    WARNING = auto()
    ERROR = auto()


@dataclass(frozen=True, slots=True)
class NamedSection:
    """A section as a person is told of it."""

    section_id: str
    title: str
    note: str = ""
    """Said after the title; may hold words of others."""


@dataclass(frozen=True, slots=True)
class Piece:
    """One thing to tell."""

    place: Place
    words: str
    """May hold words of the model, of a document or of a person."""
    sections: tuple[NamedSection, ...] = ()
    """What it was done to."""
    sign: str = ""
    """Stands before it in a list of what the model did."""
    weight: Weight = Weight.INFO
    brief: str = ""
    """All in a few words, where the words are others."""

    def write(self, *, with_ids: bool) -> str:
        """Return all on one line."""
        named = ", ".join(
            f"{section.title}{f' [{section.section_id}]' if with_ids else ''}{section.note and f' ({section.note})'}"
            for section in self.sections
        )
        return f"{self.words}: {named}" if named else self.words


def name_section(section_id: str, library: Library) -> str:
    """Return the title of a section for a person, safe for the screen."""
    return name_node(library.node(section_id)) if section_id in library else f"unknown section {section_id}"


def _count(sections: Sequence[object]) -> str:
    return "1 section" if len(sections) == 1 else f"{len(sections)} sections"


def _count_done(place: Place, verb: str, sections: tuple[NamedSection, ...]) -> Piece:
    """Return what was done to how many sections, in brief to one by its title."""
    brief = f"{verb} “{sections[0].title}”" if len(sections) == 1 else ""
    return Piece(place, f"{verb} {_count(sections)}", sections, sign="◆", brief=brief)


def write_lines(event: ConversationEvent, library: Library) -> Iterator[str]:
    """Yield the lines that tell of an event where nothing that was written can change; answers are told elsewhere."""
    is_repeated = isinstance(event, LoadingProgressed) and bool(event.done or event.bytes_received)
    if not isinstance(event, AnswerStreamed | QuestionAnswered) and not is_repeated:
        for piece in narrate(event, library):
            yield piece.write(with_ids=True)


def narrate(event: ConversationEvent, library: Library) -> Iterator[Piece]:  # noqa: C901, PLR0912 - one case an event
    """Yield what tells a person of an event, nothing where it is not worth it; the library knows titles of sections."""
    if isinstance(event, Record):
        return
    match event:
        case AnswerStreamed(text=text):
            yield Piece(Place.ANSWER, text, sign="“")
        case SectionsSearched():
            yield _narrate_search(event, library)
        case SectionsExpanded():
            yield from _narrate_expansion(event, library)
        case SectionsKept(reasons=reasons, origin=origin):
            kept = tuple(NamedSection(i, name_section(i, library), why) for i, why in reasons)
            is_agents = origin is Origin.AGENT
            place, words = (Place.ANSWER, "kept open") if is_agents else (Place.CHAT, "nothing to close")
            yield Piece(place, words, kept, sign="◆")
        case ReminderSent():
            yield Piece(Place.ANSWER, "asked the model to quote what it says", sign="❝")
        case RetryScheduled(reason=reason, wait_seconds=wait):
            yield Piece(Place.ANSWER, f"{reason}; trying again in {wait:.0f} s", sign="↻", weight=Weight.WARNING)
        case QuestionAnswered():
            yield from narrate_ending(event)
        case SectionsClosed(section_ids=ids, reason=CloseReason.GONE):
            yield Piece(Place.CHAT, f"Closed {_count(ids)} that the document of today no longer has.")
        case SectionsClosed(section_ids=ids, reason=reason) if reason in _CLOSINGS:
            yield Piece(Place.CHAT, _CLOSINGS[reason], _name_all(ids, library))
        case SectionsClosed(section_ids=ids):
            yield _count_done(Place.MOMENT, "closed", _name_all(ids, library))
        case NodesLoaded():
            yield from _narrate_loaded(event)
        case SectionsMarked(section_ids=ids):
            yield Piece(Place.MOMENT, f"{_count(ids)} will close after this answer", _name_all(ids, library))
        case SectionsPinned(section_ids=ids, is_pinned=is_pinned):
            yield _count_done(Place.MOMENT, "pinned" if is_pinned else "unpinned", _name_all(ids, library))
        case DeedUndone(deed=deed, is_redo=is_redo):
            of_what = _count(deed.section_ids) if deed.section_ids else "what was folded"
            words = f"{'did again' if is_redo else 'took back'} {of_what}"
            yield Piece(Place.MOMENT, "nothing was left of it to take back" if deed.is_empty else words)
        case LoadingProgressed():
            yield Piece(Place.MOMENT, _describe_loading(event))
        case SaveFailed(message=message) | SavingReported(message=message):
            yield Piece(Place.CHAT, message, weight=Weight.WARNING)
        case (
            QuestionAsked()
            | StepStarted()
            | ThinkingStreamed()
            | ToolFinished()
            | NodesUnfolded()
            | NodesFolded()
            | ReadingChanged()
            | QuestionsTakenBack()
            | ConversationChanged()
            | DocumentReloaded()
        ):
            pass
        case _:
            assert_never(event)


def _name_all(section_ids: Iterable[str], library: Library) -> tuple[NamedSection, ...]:
    return tuple(NamedSection(section_id, name_section(section_id, library)) for section_id in section_ids)


def _narrate_search(event: SectionsSearched, library: Library) -> Piece:
    count = len(event.hits)
    found = tuple(
        NamedSection(
            hit.section_id,
            f"{rank} {name_section(hit.section_id, library)}",
            "" if hit.why == f"text rank {rank}" else hit.why,
        )
        for rank, hit in enumerate(event.hits[:_HITS_TOLD], start=1)
    )
    told = f"{count} found{f', first {_HITS_TOLD}' if count > _HITS_TOLD else ''}" if count else "found nothing"
    words = f"searched “{event.query}” · {told}"
    return Piece(Place.ANSWER, words, found, sign="⌕")


def _narrate_expansion(event: SectionsExpanded, library: Library) -> Iterator[Piece]:
    """Yield what became of a batch, a piece for each status that occurs."""
    place = Place.ANSWER if event.origin is Origin.AGENT else Place.MOMENT
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
                        yield Piece(place, words, named, sign="◆")
            case ExpandStatus.UNKNOWN:
                words = f"asked for ids that do not exist: {', '.join(texts)}"
                yield Piece(place, words, sign="?", weight=Weight.WARNING)
            case ExpandStatus.NO_ROOM:
                yield Piece(place, "no room left for", sections, sign="!", weight=Weight.WARNING)
            case ExpandStatus.FAILED:
                is_persons = event.origin is Origin.PERSON  # they are told why
                words = " ".join(texts.values()) if is_persons else "could not be opened"
                yield Piece(place, words, () if is_persons else sections, sign="✗", weight=Weight.ERROR)


def _narrate_loaded(event: NodesLoaded) -> Iterator[Piece]:
    problems = [reason for _, reason in event.problems]
    if len(problems) > _PROBLEMS_TOLD:
        problems[_PROBLEMS_TOLD:] = [f"{len(problems) - _PROBLEMS_TOLD} more files could not be read."]
    for weight, texts in ((Weight.INFO, event.notes[:_PROBLEMS_TOLD]), (Weight.WARNING, problems)):
        for text in texts:
            yield Piece(Place.CHAT, text, weight=weight)


def _describe_loading(event: LoadingProgressed) -> str:
    what, begun, done = ("page", "fetching", "fetched") if event.are_pages else ("file", "reading", "read")
    if not event.done and not event.bytes_received:
        return f"{begun} {event.total:,} {what}{'' if event.total == 1 else 's'}"
    received = f", {max(1, event.bytes_received // 1000):,} kB" if event.bytes_received else ""
    return f"{done} {event.done:,} of {event.total:,} {what}s{received}"


def narrate_ending(event: QuestionAnswered) -> Iterator[Piece]:
    """Yield how an exchange ended, nothing where it is simply answered."""
    told = (
        (event.error, Weight.ERROR),
        (_ENDINGS.get(event.stopped, ""), Weight.WARNING),
        ("no quotes, so nothing was checked" if event.is_unproven else "", Weight.WARNING),
    )
    for words, weight in told:
        if words:
            yield Piece(Place.ENDING, words, weight=weight)
