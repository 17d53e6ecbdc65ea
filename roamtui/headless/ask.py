"""`roamtui ask`: one question, its events as progress or JSON lines, its answer as text or JSON.

The JSON lines of `--events` are a contract with other programs. Adding a field keeps the version; removing one or
changing its meaning requires the next version.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec.structs import asdict

from roamtui.agent.answer import list_unopened_hits
from roamtui.agent.loop import Agent
from roamtui.agent.passages import format_proof, list_passages, match_proof, replies_with_passages
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
from roamtui.headless.answer_lines import compute_text_width, render_answer, supports_styles, wrap_lines
from roamtui.headless.output import warn, write_json, write_notices, write_sanitised, write_styled, write_text
from roamtui.models.base import get_startup_note
from roamtui.outline.labels import format_path

_EVENTS_VERSION = 1
"""Version of the format of the JSON lines, not of the program."""
_EXPAND_RESULT_FIELDS = ("id", "section_id", "status", "tokens")


async def run_ask(
    agent: Agent,
    question: str,
    within: str | None = None,
    *,
    is_watched: bool,
    output_format: str = "text",
) -> int:
    """Ask, write progress and the answer, and return the exit status: 1 if it failed, 130 if it was cancelled.

    If it is cancelled, the partial answer is written. The conversation and the model are closed at the end.

    Args:
        agent: Answers the question.
        question: The question as the person typed it.
        within: Id of the section to search, or None for the whole document.
        is_watched: Whether a person sees stderr. If not, only warnings are written there.
        output_format: ``text``, ``json``, or ``events`` for a JSON line per event, with the answer as the last line.

    Raises:
        UnknownSectionError: There is no section `within`.
    """
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
        final = self.final
        if final is None:
            return 1
        if self._output_format == "events":
            _print_line("answer", self.make_answer())
        elif self._output_format == "json":
            write_json(self.make_answer())
        elif final.answer or final.citations:
            self._write_answer(final)
        if final.error:
            warn(final.error)
        if final.stopped in (StopReason.ERROR, StopReason.COST):
            return 1
        return EXIT_CANCELLED if final.stopped is StopReason.CANCELLED else 0

    def _write_answer(self, final: QuestionAnswered) -> None:
        """Write the answer with its sources: laid out with verdicts at a terminal, otherwise as it is."""
        state, width = self._agent.conversation.state, compute_text_width()
        exchange, library, lines = state.transcript.exchanges[-1], state.library, list[str]()
        has_verdicts = not replies_with_passages(exchange)
        for number, citation in enumerate(final.citations, start=1):
            label = "no such section"
            if citation.section_id in library:
                verdict = f": {citation.state.label}" if has_verdicts else ""
                label = f"{format_path(library, citation.section_id)}, {citation.place}{verdict}"
            sign = f" {citation.state.sign}" if has_verdicts and citation.state.sign else ""
            mark = f"[{citation.section_id}]" if width is None else f"{number}{sign}"
            lines.append(f"  {mark} {label}")
        if verification := format_proof(exchange) or ("no quotes to verify" if final.is_unproven else ""):
            lines.append(f"  {verification}")
        if unopened := list_unopened_hits(exchange, library):
            likely = "; ".join(format_path(library, hit.section_id) for hit in unopened)
            lines.append(f"  {format_count(len(unopened), 'likely section')} not opened: {likely}")
        tokens = final.usage.input_tokens + final.usage.output_tokens
        lines.append(f"  ({self._agent.model.name}{f'; {tokens:,} tokens' if tokens else ''})")
        if width is None:
            gap = [""] if final.citations else []
            write_sanitised("\n".join([*filter(None, [final.answer]), *gap, *lines]) + "\n")
        else:
            proof, is_styled = match_proof(exchange), supports_styles()
            answer = render_answer(final.answer, proof, width=width, is_styled=is_styled)
            write_styled(f"{answer}\n{wrap_lines(lines, width)}")


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
            fields["hits"] = [{"id": hit.section_id, "path": list(hit.path), "score": hit.score} for hit in hits]
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
    results = [{"id": requested, "status": str(status)} for requested, status in event.results]
    return {"tool": event.tool, **request, "results": results}


def _reasons_to_json(reasons: tuple[tuple[str, str], ...]) -> list[dict[str, str]]:
    return [{"section_id": section_id, "reason": reason} for section_id, reason in reasons]
