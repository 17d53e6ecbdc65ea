"""What the agent did in words: the lines above an answer, and the notices below it.

Made of notes alone, while an answer is under way as well as when its conversation is taken up again.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import assert_never

from roamtui.conversation.events import CloseReason, ExpandStatus, LoadingProgressed, QuestionAnswered
from roamtui.conversation.notes import (
    ClosingNote,
    DraftNote,
    ExpansionNote,
    KeptNote,
    Note,
    PageNote,
    ReminderNote,
    RetryNote,
    SearchNote,
)
from roamtui.conversation.transcript import Exchange, Step, Stopped
from roamtui.document.library import Library
from roamtui.outline.labels import name_node
from roamtui.tui.chat.exchange_view import Activity, NamedSection
from roamtui.tui.chat.messages import NoticeKind

_HITS_SHOWN = 3
_CLOSE_REASONS = {
    CloseReason.BUDGET: "Closed to stay within what may be open",
    CloseReason.FRESH: "Closed before a new question",
    CloseReason.OVERFLOW: "Closed, because the model's context was full",
    CloseReason.ASKED: "Closed",
    CloseReason.UNDO: "Taken back",
}


def name_section(section_id: str, library: Library) -> str:
    """Return the title of a section for a person, safe for the screen."""
    if section_id not in library:
        return f"unknown section {section_id}"
    return name_node(library.node(section_id))


def name_sections(section_ids: Iterable[str], library: Library) -> tuple[NamedSection, ...]:
    """Return sections with their titles."""
    return tuple(NamedSection(section_id, name_section(section_id, library)) for section_id in section_ids)


def describe_count(section_ids: Sequence[str]) -> str:
    """Return ``1 section`` or ``3 sections``."""
    return "1 section" if len(section_ids) == 1 else f"{len(section_ids)} sections"


def narrate_note(note: Note, library: Library) -> Iterator[Activity]:
    """Yield the lines above an answer that tell of a note, none for a notice."""
    match note:
        case DraftNote(text=text):
            yield Activity("“", text)
        case SearchNote():
            yield _narrate_search(note, library)
        case ExpansionNote():
            yield from _narrate_expansion(note, library)
        case KeptNote(reasons=reasons):
            yield Activity("◆", describe_kept(reasons, library))
        case ReminderNote():
            yield Activity("❝", "asked the model to quote what it says")
        case RetryNote(reason=reason, wait_seconds=wait):
            yield Activity("↻", f"{reason}; trying again in {wait:.0f} s", style="$warning")
        case ClosingNote() | PageNote():
            pass
        case _:
            assert_never(note)


def narrate_notice(note: Note, library: Library) -> tuple[str, NoticeKind] | None:
    """Return what stands below an exchange because of a note, None for what stands above its answer."""
    match note:
        case ClosingNote(section_ids=ids, reason=CloseReason.GONE):
            return f"Closed {describe_count(ids)} that the document of today no longer has.", NoticeKind.INFO
        case ClosingNote(section_ids=ids, reason=reason):
            titles = ", ".join(section.title for section in name_sections(ids, library))
            return f"{_CLOSE_REASONS[reason]}: {titles}", NoticeKind.INFO
        case PageNote(text=text, is_problem=is_problem):
            return text, NoticeKind.WARNING if is_problem else NoticeKind.INFO
        case _:
            return None


def describe_kept(reasons: Iterable[tuple[str, str]], library: Library) -> str:
    """Return which sections stayed open, and why."""
    kept = ", ".join(f"{name_section(section_id, library)} ({reason})" for section_id, reason in reasons)
    return f"kept open: {kept}"


def _narrate_search(note: SearchNote, library: Library) -> Activity:
    words = f"searched “{note.query}”"
    if not note.found:
        return Activity("⌕", f"{words} · found nothing")
    found = tuple(
        NamedSection(
            hit.section_id,
            f"{rank} {name_section(hit.section_id, library)}",
            "" if hit.why == f"text rank {rank}" else hit.why,
        )
        for rank, hit in enumerate(note.found[:_HITS_SHOWN], start=1)
    )
    more = "" if len(note.found) <= _HITS_SHOWN else f", first {len(found)}"
    return Activity("⌕", f"{words} · {len(note.found)} found{more}", found)


def _narrate_expansion(note: ExpansionNote, library: Library) -> Iterator[Activity]:
    """Yield what became of a batch, one line for each status that occurs."""
    by_status: dict[ExpandStatus, list[str]] = {}
    for tried in note.tried:
        by_status.setdefault(tried.status, []).append(tried.id)
    for status, ids in by_status.items():
        known = list(dict.fromkeys(ids))
        if status is ExpandStatus.ALREADY_OPEN:
            yield from _narrate_open(known, by_status.get(ExpandStatus.OPENED, []), library)
        else:
            yield _narrate_status(status, known, library)


def _narrate_open(ids: list[str], opened: list[str], library: Library) -> Iterator[Activity]:
    """Yield which sections came with those just opened, since they are part of them, and which were open before."""
    part = [section_id for section_id in ids if not set(opened).isdisjoint(library.ancestors(section_id))]
    before = [section_id for section_id in ids if section_id not in part]
    if part:
        yield Activity("◆", "part of these", name_sections(part, library))
    if before:
        yield _narrate_status(ExpandStatus.ALREADY_OPEN, before, library)


def _narrate_status(status: ExpandStatus, ids: list[str], library: Library) -> Activity:
    match status:
        case ExpandStatus.OPENED:
            return Activity("◆", f"opened {describe_count(ids)}", name_sections(ids, library))
        case ExpandStatus.ALREADY_OPEN:
            return Activity("◆", "already open", name_sections(ids, library))
        case ExpandStatus.UNKNOWN:
            return Activity("?", f"asked for ids that do not exist: {', '.join(ids)}", style="$warning")
        case ExpandStatus.NO_ROOM:
            return Activity("!", "no room left for", name_sections(ids, library), style="$warning")
        case ExpandStatus.FAILED:
            return Activity("✗", "could not be opened", name_sections(ids, library), style="$error")


def recall_activities(exchange: Exchange, library: Library) -> Iterator[Activity]:
    """Yield the lines above the answer of a saved exchange, as they were; of an older version's as far as known."""
    for note in exchange.notes:
        yield from narrate_note(note, library)
    if not exchange.notes:
        for step in exchange.steps:
            yield from narrate_step(step, library)


def narrate_step(step: Step, library: Library) -> Iterator[Activity]:
    """Yield what a step without notes did, as far as its calls tell."""
    if step.text.strip():
        yield Activity("“", step.text)
    for use in step.uses:
        arguments = _read_arguments(use.call.arguments)
        if use.call.name == "search_sections":
            yield Activity("⌕", f"searched “{arguments.get('query', '')}”")
        elif use.call.name == "expand_sections":
            wanted = arguments.get("section_ids")
            named = [str(item).partition(":")[0] for item in wanted] if isinstance(wanted, list) else []
            known = [section_id for section_id in dict.fromkeys(named) if section_id in library]
            if known:
                yield Activity("◆", f"opened {describe_count(known)}", name_sections(known, library))
    if step.reminder:
        yield from narrate_note(ReminderNote(), library)


def narrate_loading(event: LoadingProgressed) -> str:
    """Return how far files are read or pages fetched, for the status line."""
    if not event.are_pages:
        return f"read {event.done:,} of {event.total:,} files"
    received = f", {max(1, event.bytes_received // 1000):,} kB" if event.bytes_received else ""
    return f"fetched {event.done:,} of {event.total:,} pages{received}"


def recall_ending(exchange: Exchange) -> QuestionAnswered:
    """Return the last event of an exchange that is in the transcript."""
    return QuestionAnswered(
        number=exchange.number,
        answer=exchange.answer,
        stopped=exchange.stopped or Stopped.CANCELLED,
        citations=exchange.citations,
        usage=exchange.usage,
        steps=exchange.steps_taken or len(exchange.steps) + (1 if exchange.answer else 0),
        error=exchange.error,
    )


def _read_arguments(text: str) -> dict[str, object]:
    try:
        arguments = json.loads(text)
    except ValueError:
        return {}
    return arguments if isinstance(arguments, dict) else {}
