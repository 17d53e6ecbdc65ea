"""Events as lines of text, for every front end without a screen."""

from __future__ import annotations

from collections.abc import Iterable
from typing import assert_never

from roamtui.conversation.events import (
    AnswerStreamed,
    BatchUndone,
    CloseReason,
    ConversationEvent,
    ExpandStatus,
    LoadingProgressed,
    NodesFolded,
    NodesLoaded,
    NodesUnfolded,
    QuestionAnswered,
    QuestionAsked,
    ReadingChanged,
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
from roamtui.document.library import Library
from roamtui.outline.labels import name_node

_TITLE_LENGTH_MAX = 40
_CLOSE_REASONS = {
    CloseReason.ASKED: "",
    CloseReason.BUDGET: " to stay within what may be open",
    CloseReason.FRESH: " before a new question",
    CloseReason.UNDO: "",
    CloseReason.GONE: ", because the document has them no longer",
    CloseReason.OVERFLOW: ", because the model's context was full",
}


def narrate_event(event: ConversationEvent, library: Library) -> str:  # noqa: C901, PLR0911, PLR0912 - one case an event
    """Return the line that tells a person of an event, empty where it is not worth one."""
    match event:
        case SectionsSearched(query=query, hits=hits):
            return f'searched "{query}": {len(hits)} found'
        case SectionsExpanded():
            return _narrate_expansion(event, library)
        case SectionsClosed(section_ids=ids, reason=reason):
            return f"closed {_count(ids)}{_CLOSE_REASONS[reason]}: {_name_all(ids, library)}"
        case SectionsMarked(section_ids=ids):
            return f"will close after this answer: {_name_all(ids, library)}"
        case SectionsKept(reasons=reasons):
            kept = "; ".join(f"{_name(section_id, library)} ({reason})" for section_id, reason in reasons)
            return f"nothing changed for {kept}"
        case SectionsPinned(section_ids=ids, is_pinned=is_pinned):
            return f"{'pinned' if is_pinned else 'unpinned'} {_name_all(ids, library)}"
        case BatchUndone(section_ids=ids):
            return f"took back {_count(ids)}"
        case RetryScheduled(reason=reason, wait_seconds=seconds):
            return f"{reason} Trying again in {seconds:.0f} s."
        case ReminderSent():
            return "asked the model for quotes"
        case SaveFailed(message=message) | SavingReported(message=message):
            return message
        case LoadingProgressed(done=0, total=total, bytes_received=0, are_pages=are_pages):
            what = ("fetching", "page") if are_pages else ("reading", "file")
            return f"{what[0]} {total:,} {what[1]}{'' if total == 1 else 's'}"
        case LoadingProgressed():
            return ""
        case NodesLoaded(problems=problems, notes=notes):
            return " ".join((*notes, *(reason for _, reason in problems)))
        case (
            QuestionAsked()
            | QuestionAnswered()
            | StepStarted()
            | AnswerStreamed()
            | ThinkingStreamed()
            | ToolFinished()
            | NodesUnfolded()
            | NodesFolded()
            | ReadingChanged()
        ):
            return ""
        case _:
            assert_never(event)


def _narrate_expansion(event: SectionsExpanded, library: Library) -> str:
    opened = event.opened_ids
    told = [f"opened {_count(opened)}: {_name_all(opened, library)}"] if opened else []
    for status, words in ((ExpandStatus.NO_ROOM, "no room for"), (ExpandStatus.FAILED, "could not open")):
        ids = [result.section_id or result.id for result in event.results if result.status is status]
        told += [f"{words} {_name_all(ids, library)}"] if ids else []
    return "; ".join(told)


def _count(section_ids: tuple[str, ...]) -> str:
    return f"{len(section_ids)} section{'' if len(section_ids) == 1 else 's'}"


def _name_all(section_ids: Iterable[str], library: Library) -> str:
    return ", ".join(_name(section_id, library) for section_id in section_ids)


def _name(section_id: str, library: Library) -> str:
    if section_id not in library:
        return f"[{section_id}]"
    return f"{name_node(library.node(section_id), length_max=_TITLE_LENGTH_MAX)} [{section_id}]"
