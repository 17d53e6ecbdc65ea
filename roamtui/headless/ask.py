"""`roamtui ask`: one question, its events as progress or JSON lines, its answer as text or JSON.

The JSON lines of `--events` are a contract with other programs. Adding a field keeps the version; removing one or
changing its meaning requires the next version.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import msgspec

from roamtui.agent.answer import list_unopened_hits
from roamtui.agent.loop import Agent
from roamtui.agent.passages import format_proof, list_passages, replies_with_passages
from roamtui.conversation.events import (
    EVENT_NAMES,
    CloseReason,
    ConversationEvent,
    NodesLoaded,
    QuestionAnswered,
    QuestionAsked,
    SectionsClosed,
    SectionsExpanded,
    SectionsSearched,
    ToolFinished,
    WarningRaised,
)
from roamtui.conversation.notices import format_event_lines
from roamtui.conversation.state import AskOptions
from roamtui.conversation.transcript import StopReason
from roamtui.document.counts import format_count
from roamtui.errors import EXIT_CANCELLED
from roamtui.export.json import to_json_citation, to_json_passage
from roamtui.headless.answer_lines import (
    compute_text_width,
    render_answer,
    render_passages,
    render_source_list,
    supports_styles,
    wrap_lines,
)
from roamtui.headless.output import warn, write_json, write_notices, write_sanitised, write_styled, write_text
from roamtui.models.base import get_startup_note
from roamtui.outline.labels import format_path
from roamtui.outline.structure import resolve_scope
from roamtui.quotes.verdicts import make_proof

_EVENTS_VERSION = 1
"""Version of the format of the JSON lines, not of the program."""
_EXPAND_RESULT_FIELDS = ("id", "section_id", "status", "tokens")


async def run_ask(
    agent: Agent,
    question: str,
    *,
    within: str | None = None,
    is_watched: bool,
    output_format: str = "text",
) -> int:
    """Ask, write progress and the answer, and return the exit status: 1 if it failed, 130 if it was cancelled.

    If it is cancelled, the partial answer is written. The conversation and the model are closed at the end.

    Args:
        agent: Answers the question.
        question: The question as the person typed it.
        within: Id of the section to search, or None for the whole document. An index page stands for its folder.
        is_watched: Whether a person sees stderr. If not, only warnings are written there.
        output_format: ``text``, ``json``, or ``events`` for a JSON line per event, with the answer as the last line.

    Raises:
        UnknownSectionError: There is no section `within`.
    """
    library = agent.conversation.state.library
    within = resolve_scope(library, within) if within is not None else None
    report = AskReport(agent, is_watched=is_watched, output_format=output_format)
    agent.conversation.subscribe(report.add)
    try:
        await agent.ask(question, AskOptions(within=within))
    except asyncio.CancelledError:
        if report.final is None:
            raise
    finally:
        agent.conversation.close()
        await agent.model.close()
    return report.finish()


class AskReport:
    """Writes the progress of one question, then its answer. `run_ask` explains the arguments."""

    def __init__(self, agent: Agent, *, is_watched: bool, output_format: str = "text") -> None:
        self._agent = agent
        self._is_watched = is_watched and output_format != "events"
        self._output_format = output_format
        self._steps: list[dict[str, Any]] = []
        self._opened_ids: dict[str, None] = {}
        """Ids of the sections that search or the model asked for, in order."""
        self.final: QuestionAnswered | None = None

    def add(self, event: ConversationEvent) -> None:
        """Record an event. Write it to stdout with `--events`, and to stderr if a person should see it."""
        library = self._agent.conversation.state.library
        if self._output_format == "events":
            print_event(event)
        match event:
            case QuestionAsked():
                write_notices(filter(None, [get_startup_note(self._agent.model)]))
            case SectionsExpanded(opened_ids=opened, results=results):
                asked = (result.section_id for result in results if result.section_id)
                self._opened_ids |= dict.fromkeys((*opened, *asked))
            case ToolFinished():
                self._steps.append(_tool_to_json(event))
            case QuestionAnswered():
                self.final = event
            case _:
                pass
        if self._is_watched:  # closed sections are not reported in mode `fresh`, because the person chose that
            is_reported = not (isinstance(event, SectionsClosed) and event.reason is CloseReason.FRESH)
        else:
            is_warning = isinstance(event, WarningRaised)
            is_reported = is_warning or (isinstance(event, NodesLoaded) and bool(event.notes))
        if is_reported:
            write_notices(format_event_lines(event, library))

    def make_answer(self) -> dict[str, Any]:
        """Return the answer as JSON values."""
        agent, final, state = self._agent, self.final, self._agent.conversation.state
        assert final is not None, "the question has ended"
        exchange, library = state.transcript.exchanges[-1], state.library
        unopened = list_unopened_hits(exchange, library)
        return {
            "conversation": state.id,
            "model": agent.model.name,
            "answer": final.answer,
            "stopped": final.stopped.value,
            "citations": [to_json_citation(citation) for citation in final.citations],
            "passages": [to_json_passage(passage) for passage in list_passages(exchange, library)],
            "opened": list(self._opened_ids),
            "open": list(state.open_ids),
            "not_opened": [
                {"id": hit.section_id, "path": list(library.node(hit.section_id).path), "score": hit.score}
                for hit in unopened
            ],
            "steps": self._steps,
            "usage": asdict(final.usage),
        }

    def finish(self) -> int:
        """Write the answer and return the exit status."""
        agent, final = self._agent, self.final
        if final is None:
            return 1
        width = compute_text_width()
        if self._output_format == "text" and width is not None:
            self._show_answer(final, width)
        elif self._output_format == "text":
            if final.answer or final.citations:
                lines = [final.answer] if final.answer else []
                lines += [""] if final.citations else []
                lines += [f"  {line}" for line in _format_sources(agent, final)]
                write_sanitised("\n".join(lines) + "\n")
        elif self._output_format == "events":
            _print_line("answer", self.make_answer())
        else:
            write_json(self.make_answer())
        if final.error:
            warn(final.error)
        if final.stopped in (StopReason.ERROR, StopReason.COST):
            return 1
        return EXIT_CANCELLED if final.stopped is StopReason.CANCELLED else 0

    def _show_answer(self, final: QuestionAnswered, width: int) -> None:
        """Write the answer for a person at a terminal."""
        proof, is_styled = make_proof(final.answer, final.citations), supports_styles()
        state = self._agent.conversation.state
        exchange = state.transcript.exchanges[-1]
        if passages := list_passages(exchange, state.library):
            parts = [render_passages(passages, exchange.question, state.library, width=width, is_styled=is_styled)]
            outcome = ["No model has read these passages. Choose one with --model to get an answer."]
        else:
            parts = (
                [render_answer(final.answer, proof, width=width, is_styled=is_styled)] if final.answer.strip() else []
            )
            outcome = [proof.summary] if proof.summary and final.citations else []
            if final.citations:
                sources = render_source_list(
                    final.citations, final.answer, state.library, width=width, is_styled=is_styled
                )
                parts.append(sources)
            elif final.is_unproven:
                outcome.append("no quotes to verify")
        if parts:
            parts.append(wrap_lines((*outcome, *_format_outcome(self._agent, final)), width))
            write_styled("\n".join(parts))


def _format_sources(agent: Agent, final: QuestionAnswered) -> list[str]:
    """Format a line for each citation, then the verification, unopened sections, and the model with its tokens."""
    library, lines = agent.conversation.state.library, []
    exchange = agent.conversation.state.transcript.exchanges[-1]
    for citation in final.citations:
        label = "no such section"
        if citation.section_id in library:
            verdict = "" if replies_with_passages(exchange) else f": {citation.state.label}"
            label = f"{format_path(library, citation.section_id)}, {citation.place}{verdict}"
        lines.append(f"[{citation.section_id}] {label}")
    if proof := format_proof(exchange):
        lines.append(proof)
    elif final.is_unproven:
        lines.append("no quotes to verify")
    return [*lines, *_format_outcome(agent, final)]


def _format_outcome(agent: Agent, final: QuestionAnswered) -> list[str]:
    library, lines = agent.conversation.state.library, []
    unopened = list_unopened_hits(agent.conversation.state.transcript.exchanges[-1], library)
    if unopened:
        likely = "; ".join(format_path(library, hit.section_id) for hit in unopened)
        lines.append(f"{format_count(len(unopened), 'likely section')} not opened: {likely}")
    tokens = final.usage.input_tokens + final.usage.output_tokens
    lines.append(f"({agent.model.name}; {tokens:,} tokens)" if tokens else f"({agent.model.name})")
    return lines


def print_event(event: ConversationEvent) -> None:
    """Write an event as one line. The end of a question is not written here: `finish` writes it as the answer."""
    if named_fields := to_json_event(event):
        _print_line(*named_fields)


def _print_line(name: str, fields: Mapping[str, Any]) -> None:
    # ASCII, because some readers also split lines at other characters, such as U+2028.
    write_text(json.dumps({"v": _EVENTS_VERSION, "event": name, **fields}) + "\n")


def to_json_event(
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
            fields = _tool_to_json(event)
        case SectionsExpanded(results=results):
            fields = {
                "results": [{name: getattr(result, name) for name in _EXPAND_RESULT_FIELDS} for result in results],
                "origin": event.origin.value,
            }
        case SectionsClosed(kept=kept):
            fields["kept"] = _reasons_to_json(kept)
        case NodesLoaded(problems=problems):
            fields["problems"] = _reasons_to_json(problems)
            del fields["pages"], fields["approved_origins"]
        case _:
            pass
    return EVENT_NAMES[type(event)], fields


def _tool_to_json(event: ToolFinished) -> dict[str, Any]:
    # The answer contains the same values, in `steps`.
    request = {"section_ids": list(event.section_ids)} if event.query is None else {"query": event.query}
    results = [{"id": result.id, "status": str(result.status)} for result in event.results]
    return {"tool": event.tool, **request, "results": results}


def _reasons_to_json(reasons: tuple[tuple[str, str], ...]) -> list[dict[str, str]]:
    return [{"section_id": section_id, "reason": reason} for section_id, reason in reasons]
