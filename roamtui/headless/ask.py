"""`roamtui ask`: one question, its events as progress, its answer as text or JSON."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from dataclasses import asdict, dataclass, field
from typing import Any

from roamtui.agent.answer import describe_proof, find_unread
from roamtui.agent.loop import Agent
from roamtui.conversation.events import (
    CloseReason,
    ConversationEvent,
    NodesLoaded,
    QuestionAnswered,
    QuestionAsked,
    SaveFailed,
    SavingReported,
    SectionsClosed,
    SectionsExpanded,
    StepStarted,
    ToolFinished,
)
from roamtui.conversation.export import describe_citation
from roamtui.conversation.narration import write_lines
from roamtui.conversation.transcript import Citation, Stopped
from roamtui.document.library import Library
from roamtui.errors import UnknownSectionError
from roamtui.headless.event_lines import ANSWER, describe_tool, print_event, print_line
from roamtui.headless.output import write_json, write_notes, write_text
from roamtui.models.base import find_note
from roamtui.outline.labels import name_path
from roamtui.outline.structure import parse_reference

_CANCELLED = 130


@dataclass(slots=True)
class AskRecord:
    """What happened, as far as the command line's JSON tells it."""

    steps: list[dict[str, Any]] = field(default_factory=list)
    requested: dict[str, None] = field(default_factory=dict)
    is_asked: bool = False
    """Whether the conversation holds the question already."""
    is_roaming: bool = False
    """Whether the model was asked already."""
    final: QuestionAnswered | None = None


async def ask_question(
    agent: Agent, question: str, *, within: str | None = None, is_quiet: bool, as_events: bool = False
) -> AskRecord:
    """Ask, and write what happens to stderr unless `is_quiet`; warnings are always written.

    A question that is cancelled ends here: what was answered so far is the answer.

    Args:
        agent: Answers the question.
        question: A person's words.
        within: Id of the section that the question is about, None for the whole document.
        is_quiet: Whether nobody looks at stderr.
        as_events: Whether each event is written to stdout too, as a JSON line.

    Raises:
        UnknownSectionError: `within` names no section.
    """
    record = AskRecord()
    if as_events:
        for change in agent.session.opening_events:
            print_event(change)
    try:
        async with aclosing(agent.ask(question, within=within)) as events:  # type: ignore[type-var]
            async for event in events:
                if as_events:
                    print_event(event)
                _record_event(agent, event, record)
                if _is_warning(event) if is_quiet else not _is_expected(event):
                    write_notes(write_lines(event, agent.session.state.library))
    except asyncio.CancelledError:
        if not record.is_asked:
            raise
        record.final = agent.session.state.transcript.exchanges[-1].ending
    return record


def _record_event(agent: Agent, event: ConversationEvent, record: AskRecord) -> None:
    if isinstance(event, QuestionAsked):
        record.is_asked = True
        write_notes(filter(None, [find_note(agent.model)]))
    elif isinstance(event, StepStarted):
        record.is_roaming = True
    elif isinstance(event, SectionsExpanded) and not record.is_roaming:
        record.requested |= dict.fromkeys(event.opened_ids)  # search opened them with the question
    elif isinstance(event, ToolFinished):
        _record_tool(event, agent.session.state.library, record)
    elif isinstance(event, QuestionAnswered):
        record.final = event


def _is_expected(event: ConversationEvent) -> bool:
    """Return whether a person was told of an event by choosing it: mode `fresh` closes everything."""
    return isinstance(event, SectionsClosed) and event.reason is CloseReason.FRESH


def _is_warning(event: ConversationEvent) -> bool:
    """Return whether an event is told to whoever looks at stderr, progress or not."""
    return isinstance(event, SaveFailed | SavingReported) or (isinstance(event, NodesLoaded) and bool(event.notes))


def _record_tool(event: ToolFinished, library: Library, record: AskRecord) -> None:
    record.steps.append(describe_tool(event))
    if event.tool == "expand_sections":
        for result in event.results:
            reference = parse_reference(result.id)
            if reference is not None and reference.section_id in library:
                record.requested[reference.section_id] = None


def print_answer(agent: Agent, record: AskRecord) -> None:
    """Write the answer for a person: text, then its sources, each with its state."""
    final = record.final
    if final is None or not (final.answer or final.citations):
        return
    lines = [final.answer] if final.answer else []
    sources = describe_sources(agent, final)
    if final.citations:
        lines.append("")
    lines += [f"  {line}" for line in sources]
    write_text("\n".join(lines) + "\n")


def describe_sources(agent: Agent, final: QuestionAnswered) -> list[str]:
    """Return a line for each citation of an answer, what its quotes prove, the model and its tokens."""
    library = agent.session.state.library
    lines = [f"[{citation.section_id}] {_name_citation(library, citation)}" for citation in final.citations]
    if proof := describe_proof(final.citations):
        lines.append(proof)
    elif final.is_unproven:
        lines.append("no quotes, so nothing was checked")
    unread = find_unread(agent.session.state.transcript.exchanges[-1], library)
    if unread.likely:
        named = "; ".join(f"{name_path(library, hit.section_id)} [{hit.section_id}]" for hit in unread.likely)
        lines.append(f"{unread.words}: {named}")
    tokens = final.usage.input_tokens + final.usage.output_tokens
    lines.append(f"({agent.model.name}; {tokens:,} tokens)" if tokens else f"({agent.model.name})")
    return lines


def _name_citation(library: Library, citation: Citation) -> str:
    try:
        name = name_path(library, citation.section_id)
    except UnknownSectionError:
        return "no such section"
    return f"{name}, {citation.place}: {citation.state.words}"


def print_answer_json(agent: Agent, record: AskRecord, *, as_events: bool = False) -> None:
    """Write everything about the answer as JSON: by itself, or as the last line of events."""
    final = record.final
    if final is None:
        return
    if as_events:
        print_line(ANSWER, _describe_answer(agent, record, final))
    else:
        write_json(_describe_answer(agent, record, final))


def _describe_answer(agent: Agent, record: AskRecord, final: QuestionAnswered) -> dict[str, Any]:
    state = agent.session.state
    return {
        "conversation": state.id,
        "model": agent.model.name,
        "answer": final.answer,
        "stopped": final.stopped.value,
        "citations": [describe_citation(citation) for citation in final.citations],
        "opened": list(record.requested),
        "open": list(state.open_ids),
        "not_opened": [
            {"id": hit.section_id, "path": list(state.library.node(hit.section_id).path), "score": hit.score}
            for hit in find_unread(state.transcript.exchanges[-1], state.library).likely
        ],
        "steps": record.steps,
        "usage": asdict(final.usage),
    }


def find_exit_code(record: AskRecord) -> int:
    """Return the exit status: 0 for an answer, also that there is none, 1 for a failure, 130 where it was cancelled."""
    if record.final is None or record.final.stopped in (Stopped.ERROR, Stopped.COST):
        return 1
    return _CANCELLED if record.final.stopped is Stopped.CANCELLED else 0
