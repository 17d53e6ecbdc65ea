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


class Verb(StrEnum):
    """What was done."""

    SAID = auto()
    SEARCHED = auto()
    OPENED = auto()
    MISSED = auto()
    """Asked for what is not there."""
    LACKED_ROOM = auto()
    FAILED = auto()
    KEPT = auto()
    CLOSED = auto()
    PINNED = auto()
    REMINDED = auto()
    RETRIED = auto()
    LOADED = auto()
    GOT_ON = auto()
    """Came further with what takes its time."""
    SAVED = auto()
    ENDED = auto()


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """One thing to tell."""

    place: Place
    verb: Verb
    words: str
    """May hold words of the model, of a document or of a person."""
    sections: tuple[NamedSection, ...] = ()
    """What it was done to."""
    is_counted: bool = False
    """Whether the words lead to how many sections these are."""
    weight: Weight = Weight.INFO

    @property
    def head(self) -> str:
        """What stands before the sections."""
        return f"{self.words} {count_sections(self.sections)}" if self.is_counted else self.words

    @property
    def brief(self) -> str:
        """All in a few words: a section by its title, several by their number."""
        if not self.is_counted:
            return self.words
        return f"{self.words} “{self.sections[0].title}”" if len(self.sections) == 1 else self.head

    def write(self, *, with_ids: bool) -> str:
        """Return all on one line."""
        named = ", ".join(
            f"{section.title}{f' [{section.section_id}]' if with_ids else ''}{section.note and f' ({section.note})'}"
            for section in self.sections
        )
        return f"{self.head}: {named}" if named else self.head


def name_section(section_id: str, library: Library) -> str:
    """Return the title of a section for a person, safe for the screen."""
    return name_node(library.node(section_id)) if section_id in library else f"unknown section {section_id}"


def count_sections(sections: Sequence[object]) -> str:
    """Return ``1 section`` or ``3 sections``."""
    return "1 section" if len(sections) == 1 else f"{len(sections)} sections"


def write_lines(event: ConversationEvent, library: Library) -> Iterator[str]:
    """Yield the lines that tell of an event where nothing that was written can change; answers are told elsewhere."""
    is_repeated = isinstance(event, LoadingProgressed) and bool(event.done or event.bytes_received)
    if not isinstance(event, AnswerStreamed | QuestionAnswered) and not is_repeated:
        for piece in narrate(event, library):
            yield piece.write(with_ids=True)


def narrate(event: ConversationEvent, library: Library) -> Iterator[Piece]:  # noqa: C901, PLR0912 - one case an event
    """Yield what tells a person of an event, nothing where it is not worth it.

    Args:
        event: Something that happened.
        library: Knows the titles of sections.
    """
    if isinstance(event, Record):
        return
    match event:
        case AnswerStreamed(text=text):
            yield Piece(place=Place.ANSWER, verb=Verb.SAID, words=text)
        case SectionsSearched():
            yield _narrate_search(event, library)
        case SectionsExpanded():
            yield from _narrate_expansion(event, library)
        case SectionsKept():
            yield _narrate_kept(event, library)
        case ReminderSent():
            yield Piece(place=Place.ANSWER, verb=Verb.REMINDED, words="asked the model to quote what it says")
        case RetryScheduled(reason=reason, wait_seconds=wait):
            words = f"{reason}; trying again in {wait:.0f} s"
            yield Piece(place=Place.ANSWER, verb=Verb.RETRIED, words=words, weight=Weight.WARNING)
        case QuestionAnswered():
            yield from narrate_ending(event)
        case SectionsClosed():
            yield _narrate_closing(event, library)
        case NodesLoaded():
            yield from _narrate_loaded(event)
        case SectionsMarked(section_ids=ids):
            words = f"{count_sections(ids)} will close after this answer"
            yield Piece(place=Place.MOMENT, verb=Verb.CLOSED, words=words, sections=_name_all(ids, library))
        case SectionsPinned(section_ids=ids, is_pinned=is_pinned):
            words, named = "pinned" if is_pinned else "unpinned", _name_all(ids, library)
            yield Piece(place=Place.MOMENT, verb=Verb.PINNED, words=words, sections=named, is_counted=True)
        case DeedUndone(deed=deed, is_redo=is_redo):
            of_what = count_sections(deed.section_ids) if deed.section_ids else "what was folded"
            words = f"{'did again' if is_redo else 'took back'} {of_what}"
            if deed.is_empty:
                words = "nothing was left of it to take back"
            yield Piece(place=Place.MOMENT, verb=Verb.CLOSED, words=words)
        case LoadingProgressed():
            yield Piece(place=Place.MOMENT, verb=Verb.GOT_ON, words=_describe_loading(event))
        case SaveFailed(message=message) | SavingReported(message=message):
            yield Piece(place=Place.CHAT, verb=Verb.SAVED, words=message, weight=Weight.WARNING)
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
    return Piece(place=Place.ANSWER, verb=Verb.SEARCHED, words=words, sections=found)


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
                yield Piece(place=place, verb=Verb.OPENED, words="opened", sections=sections, is_counted=True)
            case ExpandStatus.ALREADY_OPEN:
                yield from _narrate_open(sections, by_status.get(ExpandStatus.OPENED, {}), library, place)
            case ExpandStatus.UNKNOWN:
                words = f"asked for ids that do not exist: {', '.join(texts)}"
                yield Piece(place=place, verb=Verb.MISSED, words=words, weight=Weight.WARNING)
            case ExpandStatus.NO_ROOM:
                words, weight = "no room left for", Weight.WARNING
                yield Piece(place=place, verb=Verb.LACKED_ROOM, words=words, sections=sections, weight=weight)
            case ExpandStatus.FAILED if event.origin is Origin.PERSON:
                words = " ".join(texts.values())
                yield Piece(place=place, verb=Verb.FAILED, words=words, weight=Weight.ERROR)
            case ExpandStatus.FAILED:
                words, weight = "could not be opened", Weight.ERROR
                yield Piece(place=place, verb=Verb.FAILED, words=words, sections=sections, weight=weight)


def _narrate_open(
    sections: Iterable[NamedSection], opened: Iterable[str], library: Library, place: Place
) -> Iterator[Piece]:
    """Yield which sections came with those just opened, since they are part of them, and which were open before."""
    new = frozenset(opened)
    part: list[NamedSection] = []
    before: list[NamedSection] = []
    for section in sections:
        is_known = section.section_id in library  # the document of today may have lost it
        is_part = is_known and not new.isdisjoint(library.ancestors(section.section_id))
        (part if is_part else before).append(section)
    for words, named in (("part of these", part), ("already open", before)):
        if named:
            yield Piece(place=place, verb=Verb.OPENED, words=words, sections=tuple(named))


def _narrate_kept(event: SectionsKept, library: Library) -> Piece:
    is_agents = event.origin is Origin.AGENT
    place, words = (Place.ANSWER, "kept open") if is_agents else (Place.CHAT, "nothing to close")
    kept = tuple(NamedSection(section_id, name_section(section_id, library), why) for section_id, why in event.reasons)
    return Piece(place=place, verb=Verb.KEPT, words=words, sections=kept)


def _narrate_closing(event: SectionsClosed, library: Library) -> Piece:
    if event.reason is CloseReason.GONE:
        words = f"Closed {count_sections(event.section_ids)} that the document of today no longer has."
        return Piece(place=Place.CHAT, verb=Verb.CLOSED, words=words)
    sections = _name_all(event.section_ids, library)
    if event.reason in _CLOSINGS:
        return Piece(place=Place.CHAT, verb=Verb.CLOSED, words=_CLOSINGS[event.reason], sections=sections)
    return Piece(place=Place.MOMENT, verb=Verb.CLOSED, words="closed", sections=sections, is_counted=True)


def _narrate_loaded(event: NodesLoaded) -> Iterator[Piece]:
    problems = [reason for _, reason in event.problems]
    if len(problems) > _PROBLEMS_TOLD:
        problems[_PROBLEMS_TOLD:] = [f"{len(problems) - _PROBLEMS_TOLD} more files could not be read."]
    for weight, texts in ((Weight.INFO, event.notes[:_PROBLEMS_TOLD]), (Weight.WARNING, problems)):
        for text in texts:
            yield Piece(place=Place.CHAT, verb=Verb.LOADED, words=text, weight=weight)


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
            yield Piece(place=Place.ENDING, verb=Verb.ENDED, words=words, weight=weight)
