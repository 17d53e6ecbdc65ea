"""`roamtui ask`: one question, its events as progress, its answer as text or JSON."""

from __future__ import annotations

from contextlib import aclosing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, assert_never

from roamtui.agent.answer import count_verified
from roamtui.agent.events import (
    AgentEvent,
    AnswerStreamed,
    QuestionAnswered,
    QuestionAsked,
    ReminderSent,
    RetryScheduled,
    SectionsSearched,
    StepStarted,
    ThinkingStreamed,
    ToolFinished,
)
from roamtui.conversation.events import (
    BatchUndone,
    CloseReason,
    NodesFolded,
    NodesUnfolded,
    ReadingChanged,
    SaveFailed,
    SectionsClosed,
    SectionsExpanded,
    SectionsKept,
    SectionsMarked,
    SectionsPinned,
)
from roamtui.conversation.transcript import Citation, QuoteState, Stopped
from roamtui.errors import UnknownSectionError
from roamtui.headless.output import write_json, write_note, write_notes, write_text
from roamtui.models.choose import find_note
from roamtui.outline.labels import name_node, name_path
from roamtui.outline.ranges import parse_reference

if TYPE_CHECKING:
    from roamtui.agent.loop import Agent
    from roamtui.document.library import Library

_QUOTE_WORDS = {
    QuoteState.EXACT: "verified",
    QuoteState.NORMALISED: "verified",
    QuoteState.MISATTRIBUTED: "stands in another section",
    QuoteState.UNVERIFIED: "not found in what was read",
    QuoteState.NO_QUOTE: "no quote",
}


@dataclass(slots=True)
class AskRecord:
    """What happened, as far as the command line's JSON tells it."""

    steps: list[dict[str, Any]] = field(default_factory=list)
    requested: dict[str, None] = field(default_factory=dict)
    final: QuestionAnswered | None = None


async def ask_question(agent: Agent, question: str, *, within: str | None = None, is_quiet: bool) -> AskRecord:
    """Ask, and write what happens to stderr unless `is_quiet`; warnings are always written.

    Raises:
        UnknownSectionError: `within` names no section.
    """
    record = AskRecord()
    async with aclosing(agent.ask(question, within=within)) as events:  # type: ignore[type-var]
        async for event in events:
            if isinstance(event, QuestionAsked):
                write_notes(filter(None, [find_note(agent.model)]))
            note = _note_event(event, agent.session.state.library, record)
            if note and (not is_quiet or isinstance(event, SaveFailed)):
                write_note(note)
    return record


def _note_event(event: AgentEvent, library: Library, record: AskRecord) -> str:  # noqa: PLR0911 - one case an event
    """Record an event and return the line that tells a person of it, if it is worth one."""
    match event:
        case SectionsSearched(query=query, hits=hits):
            return f'searched "{query}": {len(hits)} found'
        case SectionsExpanded() as expanded:
            return _note_expanded(expanded, library)
        case SectionsClosed(section_ids=ids, reason=reason) if reason is not CloseReason.FRESH:
            return f"closed {len(ids)} sections ({reason.value})"
        case RetryScheduled(reason=reason, wait_seconds=seconds):
            return f"{reason} Trying again in {seconds:.0f} s."
        case ReminderSent():
            return "asked the model for quotes"
        case SaveFailed(message=message):
            return message
        case ToolFinished():
            _record_tool(event, library, record)
            return ""
        case QuestionAnswered():
            record.final = event
            return ""
        case (
            QuestionAsked()
            | StepStarted()
            | AnswerStreamed()
            | ThinkingStreamed()
            | SectionsClosed()
            | SectionsMarked()
            | SectionsKept()
            | SectionsPinned()
            | NodesUnfolded()
            | NodesFolded()
            | ReadingChanged()
            | BatchUndone()
        ):
            return ""
        case _:
            assert_never(event)


def _note_expanded(event: SectionsExpanded, library: Library) -> str:
    titles = [name_node(library.node(section_id), length_max=40) for section_id in event.opened_ids]
    if not titles:
        return ""
    return f"opened {len(titles)} section{'s' if len(titles) > 1 else ''}: {', '.join(titles)}"


def _record_tool(event: ToolFinished, library: Library, record: AskRecord) -> None:
    step: dict[str, Any] = {"tool": event.tool}
    if event.query is not None:
        step["query"] = event.query
    else:
        step["section_ids"] = list(event.section_ids)
    step["results"] = [{"id": result.id, "status": result.status} for result in event.results]
    record.steps.append(step)
    if event.tool == "expand_sections":
        for result in event.results:
            reference = parse_reference(result.id)
            if reference is not None and reference.section_id in library:
                record.requested[reference.section_id] = None


def print_answer(agent: Agent, record: AskRecord) -> None:
    """Write the answer for a person: text, then its sources, each with its state."""
    final = record.final
    if final is None:
        return
    library = agent.session.state.library
    lines = [final.answer] if final.answer else []
    if final.citations:
        lines.append("")
        for citation in final.citations:
            lines.append(f"  [{citation.section_id}] {_name_citation(library, citation)}")
        verified, quotes = count_verified(final.citations)
        if quotes:
            lines.append(f"  {verified}/{quotes} quotes verified")
    lines.append(f"  ({agent.model.name}; {final.usage.input_tokens + final.usage.output_tokens:,} tokens)")
    write_text("\n".join(lines) + "\n")


def _name_citation(library: Library, citation: Citation) -> str:
    try:
        name = name_path(library, citation.section_id)
    except UnknownSectionError:
        return "no such section"
    return f"{name}, lines {citation.start_line}-{citation.end_line}: {_QUOTE_WORDS[citation.state]}"


def print_answer_json(agent: Agent, record: AskRecord) -> None:
    """Write everything about the answer as JSON."""
    final = record.final
    if final is None:
        return
    state = agent.session.state
    write_json(
        {
            "conversation": state.id,
            "model": agent.model.name,
            "answer": final.answer,
            "stopped": final.stopped.value,
            "citations": [describe_citation(citation) for citation in final.citations],
            "opened": list(record.requested),
            "open": list(state.open_ids),
            "steps": record.steps,
            "usage": {
                "input_tokens": final.usage.input_tokens,
                "output_tokens": final.usage.output_tokens,
                "cached_tokens": final.usage.cached_tokens,
                "cost_usd": final.usage.cost_usd,
                "source": final.usage.source,
            },
        }
    )


def describe_citation(citation: Citation) -> dict[str, Any]:
    """Return a citation as the command line's JSON has it."""
    return {
        "section_id": citation.section_id,
        "doc": citation.doc,
        "path": list(citation.path),
        "quote": citation.quote,
        "state": citation.state.value,
        "verified": citation.is_verified,
        "start_line": citation.start_line,
        "end_line": citation.end_line,
    }


def is_failure(record: AskRecord) -> bool:
    """Return whether the exit status must say that there is no answer."""
    return record.final is None or record.final.stopped in (Stopped.ERROR, Stopped.COST)
