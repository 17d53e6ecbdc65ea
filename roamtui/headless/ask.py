"""`roamtui ask`: one question, its events as progress or JSON lines, its answer as text or JSON.

The JSON lines of `--events` are a contract with other programs. Adding a field keeps the version; removing one or
changing its meaning requires the next version.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import aclosing
from dataclasses import asdict, dataclass, field
from typing import Any

import msgspec

from roamtui.agent.answer import format_verification, list_unopened_hits
from roamtui.agent.loop import Agent
from roamtui.conversation.events import (
    EVENT_NAMES,
    CloseReason,
    ClosingDeclined,
    ConversationEvent,
    ConversationSwitched,
    LoadingProgressed,
    NodesLoaded,
    QuestionAnswered,
    QuestionAsked,
    SaveFailed,
    SaveWarningRaised,
    SectionsClosed,
    SectionsExpanded,
    SectionsPinned,
    SectionsSearched,
    StepStarted,
    ToolFinished,
    UndoApplied,
)
from roamtui.conversation.notices import format_event_lines
from roamtui.conversation.transcript import StopReason
from roamtui.export.json import to_json_citation
from roamtui.headless.output import warn, write_json, write_json_line, write_notes, write_text
from roamtui.models.base import get_startup_note
from roamtui.outline.labels import format_path
from roamtui.outline.structure import parse_reference

_CANCELLED = 130
_VERSION = 1
"""Version of the lines, not of the program."""
_EXPANDED = ("id", "section_id", "status", "tokens")


@dataclass(slots=True)
class _AskLog:
    """The facts about a question that the command line's JSON reports."""

    steps: list[dict[str, Any]] = field(default_factory=list)
    requested: dict[str, None] = field(default_factory=dict)
    is_asked: bool = False
    """Whether the conversation already contains the question."""
    has_started: bool = False
    """Whether the model was already asked."""
    final: QuestionAnswered | None = None


async def run_ask(
    agent: Agent, question: str, *, within: str | None = None, is_watched: bool, form: str = "text"
) -> int:
    """Ask, write progress and the answer, and return the exit status: 1 if it failed, 130 if it was cancelled.

    After a cancellation, the partial answer is the answer.

    Args:
        agent: Answers the question; its model is closed at the end.
        question: A person's words.
        within: Id of the section to limit the question to, or None for the whole document.
        is_watched: Whether a person sees stderr; warnings are written there in any case.
        form: ``text``, ``json``, or ``events`` for a JSON line per event, with the answer as the last line.

    Raises:
        UnknownSectionError: There is no section `within`.
    """
    record = _AskLog()
    if form == "events":
        for change in agent.session.opening_events:
            print_event(change)
    try:
        async with aclosing(agent.ask(question, within=within)) as events:  # type: ignore[type-var]
            async for event in events:
                if form == "events":
                    print_event(event)
                _record_event(agent, event, record)
                if _is_reported(event, is_watched=is_watched and form != "events"):
                    write_notes(format_event_lines(event, agent.session.state.library))
    except asyncio.CancelledError:
        if not record.is_asked:
            raise
        record.final = agent.session.state.transcript.exchanges[-1].outcome
    finally:
        await agent.model.close()
    return _print_answer(agent, record, form)


def _record_event(agent: Agent, event: ConversationEvent, record: _AskLog) -> None:
    match event:
        case QuestionAsked():
            record.is_asked = True
            write_notes(filter(None, [get_startup_note(agent.model)]))
        case StepStarted():
            record.has_started = True
        case SectionsExpanded(opened_ids=opened) if not record.has_started:
            record.requested |= dict.fromkeys(opened)  # search opened them with the question
        case ToolFinished(tool=tool, results=results):
            record.steps.append(_describe_tool(event))
            references = [parse_reference(result.id) for result in results] if tool == "expand_sections" else []
            for reference in references:
                if reference is not None and reference.section_id in agent.session.state.library:
                    record.requested[reference.section_id] = None
        case QuestionAnswered():
            record.final = event
        case _:
            pass


def _is_reported(event: ConversationEvent, *, is_watched: bool) -> bool:
    # Warnings are always reported; closed sections are not in mode `fresh`, because the person chose that.
    if is_watched:
        return not (isinstance(event, SectionsClosed) and event.reason is CloseReason.FRESH)
    return isinstance(event, SaveFailed | SaveWarningRaised) or (isinstance(event, NodesLoaded) and bool(event.notes))


def _print_answer(agent: Agent, record: _AskLog, form: str) -> int:
    final = record.final
    if final is None:
        return 1
    if form == "events":
        _print_line("answer", _describe_answer(agent, record, final))
    elif form == "json":
        write_json(_describe_answer(agent, record, final))
    elif final.answer or final.citations:
        lines = [final.answer] if final.answer else []
        lines += [""] if final.citations else []
        lines += [f"  {line}" for line in format_sources(agent, final)]
        write_text("\n".join(lines) + "\n")
    if final.error:
        warn(final.error)
    if final.stopped in (StopReason.ERROR, StopReason.COST):
        return 1
    return _CANCELLED if final.stopped is StopReason.CANCELLED else 0


def format_sources(agent: Agent, final: QuestionAnswered) -> list[str]:
    """Format a line per citation, then the proof by quotes, the model and its tokens."""
    library, lines = agent.session.state.library, []
    for citation in final.citations:
        label = "no such section"
        if citation.section_id in library:
            label = f"{format_path(library, citation.section_id)}, {citation.place}: {citation.state.label}"
        lines.append(f"[{citation.section_id}] {label}")
    if proof := format_verification(final.citations):
        lines.append(proof)
    elif final.is_unproven:
        lines.append("no quotes to verify")
    unread = list_unopened_hits(agent.session.state.transcript.exchanges[-1], library)
    if unread.likely:
        likely = "; ".join(f"{format_path(library, hit.section_id)} [{hit.section_id}]" for hit in unread.likely)
        lines.append(f"{unread.summary}: {likely}")
    tokens = final.usage.input_tokens + final.usage.output_tokens
    lines.append(f"({agent.model.name}; {tokens:,} tokens)" if tokens else f"({agent.model.name})")
    return lines


def _describe_answer(agent: Agent, record: _AskLog, final: QuestionAnswered) -> dict[str, Any]:
    state = agent.session.state
    return {
        "conversation": state.id,
        "model": agent.model.name,
        "answer": final.answer,
        "stopped": final.stopped.value,
        "citations": [to_json_citation(citation) for citation in final.citations],
        "opened": list(record.requested),
        "open": list(state.open_ids),
        "not_opened": [
            {"id": hit.section_id, "path": list(state.library.node(hit.section_id).path), "score": hit.score}
            for hit in list_unopened_hits(state.transcript.exchanges[-1], state.library).likely
        ],
        "steps": record.steps,
        "usage": asdict(final.usage),
    }


def print_event(event: ConversationEvent) -> None:
    """Write an event as one line, immediately; the end of a question is written as its answer."""
    described = to_json_event(event)
    if described is not None:
        _print_line(*described)


def _print_line(name: str, fields: Mapping[str, Any]) -> None:
    write_json_line({"v": _VERSION, "event": name, **fields})


def to_json_event(  # noqa: PLR0912 - one case an event
    event: ConversationEvent,
) -> tuple[str, dict[str, Any]] | None:
    """Convert an event to a name and JSON values, or None for the end of a question."""
    fields: dict[str, Any] = msgspec.to_builtins(event)
    match event:
        case QuestionAnswered():
            return None
        case QuestionAsked(number=number, question=question):
            fields = {"number": number, "question": question}
        case SectionsSearched(hits=hits):
            fields["hits"] = [
                {"id": hit.section_id, "path": list(hit.path), "score": hit.score, "snippet": hit.snippet}
                for hit in hits
            ]
        case ToolFinished():
            fields = _describe_tool(event)
        case SectionsExpanded(results=results):
            fields = {
                "results": [{name: getattr(result, name) for name in _EXPANDED} for result in results],
                "origin": event.origin.value,
            }
        case ClosingDeclined(reasons=reasons, origin=origin):
            fields = {"kept": _describe_reasons(reasons), "origin": origin.value}
        case SectionsPinned(section_ids=ids, is_pinned=is_pinned):
            fields = {"section_ids": list(ids), "pinned": is_pinned}
        case LoadingProgressed():
            del fields["are_pages"]
        case UndoApplied(deed=deed, is_redo=is_redo):
            fields = {"section_ids": list(deed.section_ids), "again": is_redo}
        case NodesLoaded(problems=problems):
            fields["problems"] = _describe_reasons(problems)
            del fields["moved"]
        case SaveWarningRaised(message=message, conversation_id=conversation_id):
            fields = {"message": message, "conversation": conversation_id}
        case ConversationSwitched(conversation_id=conversation_id):
            fields = {"conversation": conversation_id}
        case _:
            pass
    return EVENT_NAMES[type(event)], fields


def _describe_tool(event: ToolFinished) -> dict[str, Any]:
    # Also an entry of the answer's `steps`.
    asked = {"section_ids": list(event.section_ids)} if event.query is None else {"query": event.query}
    results = [{"id": result.id, "status": str(result.status)} for result in event.results]
    return {"tool": event.tool, **asked, "results": results}


def _describe_reasons(reasons: tuple[tuple[str, str], ...]) -> list[dict[str, str]]:
    return [{"section_id": section_id, "reason": reason} for section_id, reason in reasons]
