"""Events of the agent in words, for the lines above an answer."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from roamtui.agent.events import QuestionAnswered, SectionsSearched
from roamtui.conversation.events import ExpandStatus, LoadingProgressed, SectionsExpanded
from roamtui.conversation.transcript import Exchange, Step, Stopped
from roamtui.outline.labels import name_node
from roamtui.tui.chat.activity_view import Activity, NamedSection

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from roamtui.conversation.state import ConversationState
    from roamtui.document.library import Library

_HITS_SHOWN = 3


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


def narrate_search(event: SectionsSearched, state: ConversationState) -> Activity:
    """Return what a search found."""
    ids = [hit.section_id for hit in event.hits]
    words = f"searched “{event.query}”"
    if not ids:
        return Activity("⌕", f"{words} · found nothing")
    found = tuple(
        NamedSection(
            hit.section_id,
            f"{rank} {name_section(hit.section_id, state.library)}",
            "" if hit.why == f"text rank {rank}" else hit.why,
        )
        for rank, hit in enumerate(event.hits[:_HITS_SHOWN], start=1)
    )
    more = "" if len(ids) <= _HITS_SHOWN else f", first {len(found)}"
    return Activity("⌕", f"{words} · {len(ids)} found{more}", found)


def narrate_expansion(event: SectionsExpanded, state: ConversationState) -> Iterator[Activity]:
    """Yield what became of a batch, one line for each status that occurs."""
    by_status: dict[ExpandStatus, list[str]] = {}
    for result in event.results:
        by_status.setdefault(result.status, []).append(result.section_id or result.id)
    for status, ids in by_status.items():
        known = list(dict.fromkeys(ids))
        if status is ExpandStatus.ALREADY_OPEN:
            yield from _narrate_open(known, by_status.get(ExpandStatus.OPENED, []), state.library)
        else:
            yield _narrate_status(status, known, state.library)


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


def narrate_step(step: Step, library: Library) -> Iterator[Activity]:
    """Yield what a step of a saved conversation did, as far as its calls tell."""
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
        yield narrate_reminder()


def narrate_loading(event: LoadingProgressed) -> str:
    """Return how far files are read or pages fetched, for the status line."""
    if not event.are_pages:
        return f"read {event.done:,} of {event.total:,} files"
    received = f", {max(1, event.bytes_received // 1000):,} kB" if event.bytes_received else ""
    return f"fetched {event.done:,} of {event.total:,} pages{received}"


def narrate_reminder() -> Activity:
    """Return that the model was told what its reply lacked."""
    return Activity("❝", "asked the model to quote what it says")


def recall_ending(exchange: Exchange) -> QuestionAnswered:
    """Return the last event of an exchange that is in the transcript."""
    return QuestionAnswered(
        number=exchange.number,
        answer=exchange.answer,
        stopped=exchange.stopped or Stopped.CANCELLED,
        citations=exchange.citations,
        usage=exchange.usage,
        steps=len(exchange.steps) + (1 if exchange.answer else 0),
        error=exchange.error,
    )


def _read_arguments(text: str) -> dict[str, object]:
    try:
        arguments = json.loads(text)
    except ValueError:
        return {}
    return arguments if isinstance(arguments, dict) else {}
