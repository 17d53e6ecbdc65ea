"""`roamtui ask`: asks one question, and writes its events and its answer as text or JSON.

The JSON lines of `--events` are a contract with other programs. A new field keeps the version. If a field is
removed or its meaning changes, the version must increase.
"""

import asyncio
import json
import sys
from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any

from msgspec.structs import asdict

from roamtui.agent.agent import Agent
from roamtui.answer_report import AnswerReport, format_provenance
from roamtui.conversation.events import (
    ConversationEvent,
    NodesLoaded,
    QuestionAnswered,
    QuestionAsked,
    SectionsOpened,
    StopReason,
    ToolFinished,
    WarningRaised,
)
from roamtui.conversation.notices import iter_notices
from roamtui.conversation.update import AskOptions
from roamtui.errors import EXIT_CANCELLED, SourceError
from roamtui.export.json import to_json_answer, to_json_event, to_json_passage, to_json_tool
from roamtui.headless.answer_lines import can_show_styles, render_report
from roamtui.headless.live_answer import LiveAnswer
from roamtui.output import warn, write_data, write_json, write_notice, write_raw
from roamtui.sanitiser import sanitise_line
from roamtui.signals import end_after_task
from roamtui.sources.source_names import abbreviate_sources

_EVENTS_VERSION = 1
"""Version of the format of the JSON lines, not of the program."""


class OutputFormat(StrEnum):
    """How `roamtui ask` writes an answer."""

    TEXT = "text"
    JSON = "json"
    EVENTS = "events"
    """A line of JSON for each event. The last line is the answer."""


async def run_ask(
    agent: Agent,
    question: str,
    within: str | None = None,
    output_format: OutputFormat = OutputFormat.TEXT,
) -> int:
    """Ask, write progress and answer, close the conversation and the model, and return the exit status.

    The status is 1 if the question failed or nothing was found, and 130 if it was cancelled: then the partial
    answer is written. `within` is the id of the section to search. Only a terminal gets progress, on stderr.

    Raises:
        RoamtuiError: There is no section `within`, or the document has no text.
    """
    if not agent.conversation.state.library.has_text:
        raise SourceError("The document has no text. Choose another document.")
    is_streaming = output_format is OutputFormat.TEXT and sys.stdout.isatty() and can_show_styles()
    is_watched = output_format is not OutputFormat.EVENTS and sys.stderr.isatty()
    live = LiveAnswer(agent, is_streaming=is_streaming) if is_streaming or is_watched else None
    write = write_raw if live is None else live.write_last
    writer = AnswerWriter(agent, output_format, is_watched=is_watched, write=write)
    try:
        with end_after_task():
            await agent.ask(question, AskOptions(within=within, is_one_shot=True))
    except (asyncio.CancelledError, SystemExit):
        if writer.final is None:
            raise
    finally:
        if live is not None:
            live.stop()
        reported_failure = agent.conversation.save_failure
        failure = agent.conversation.close()
        if failure and failure != reported_failure:
            warn(failure)
        await agent.model.close()
    status = writer.write_answer()
    state = agent.conversation.state
    if state.exchanges and output_format is OutputFormat.TEXT and not sys.stdout.isatty():
        exchange = state.exchanges[-1]
        shown = abbreviate_sources(state.library.source)
        source = f"Source: {shown}" if exchange.citations else ""  # `recheck` reads it
        is_answered = exchange.answer or exchange.citations
        origin = format_provenance(exchange) if is_answered else ""
        lines = [sanitise_line(line) for line in (source, origin) if line]
        write_data("".join(f"{line}\n" for line in ("", *lines) if lines))
    return status


class AnswerWriter:
    """Writes the progress and answer of each question of a conversation."""

    def __init__(
        self,
        agent: Agent,
        output_format: OutputFormat = OutputFormat.TEXT,
        *,
        is_watched: bool,
        write: Callable[[str], None] = write_raw,
    ) -> None:
        """`write` gets each answer that is text. `is_watched`: whether a person sees the progress."""
        self._agent = agent
        self._write = write
        self._is_watched = is_watched
        self._output_format = output_format
        self._tool_calls: list[dict[str, Any]] = []
        self._opened_ids: dict[str, None] = {}
        """Ids of the sections that were opened for the question or already open, in order."""
        self.final: QuestionAnswered | None = None
        agent.conversation.subscribe(self.record)

    def record(self, event: ConversationEvent) -> None:
        """Record an event. Write it to stdout for `--events`, and to stderr if a person should see it."""
        if self._output_format is OutputFormat.EVENTS and (named_fields := to_json_event(event)):
            _print_line(*named_fields)
        is_shown = self._is_watched
        match event:
            case QuestionAsked():
                self._tool_calls = []
                self._opened_ids = {}
                if note := self._agent.model_note:
                    write_notice(note)
            case SectionsOpened(opened_ids=opened, results=results):
                found = (each.section_id for each in results if each.section_id and each.status.is_open)
                self._opened_ids |= dict.fromkeys((*opened, *found))
            case ToolFinished():
                self._tool_calls.append(to_json_tool(event))
            case QuestionAnswered():
                self.final = event
                is_shown = False  # `write_answer` writes the answer
            case NodesLoaded(notes=notes, problems=problems):
                is_shown = is_shown or bool(notes or problems)
            case WarningRaised():
                is_shown = True
            case _:
                pass
        if is_shown:
            library = self._agent.conversation.state.library
            write_notice(*(notice.format() for notice in iter_notices(event, library)))

    def write_answer(self) -> int:
        """Write the answer to the last question, and return the exit status."""
        final = self.final
        self.final = None
        if final is None:
            return 1
        state = self._agent.conversation.state
        if self._output_format is OutputFormat.EVENTS:
            _print_line("answer", self._make_answer())
        elif self._output_format is OutputFormat.JSON:
            write_json(self._make_answer())
        elif final.answer or final.citations:
            is_laid_out = sys.stdout.isatty()
            report = AnswerReport(state.exchanges[-1], state.library)
            self._write(render_report(report, self._agent.model.name, is_laid_out=is_laid_out))
            if report.exchange.passages and not is_laid_out:
                write_notice(f"{report.quote_summary} · for an answer, choose a model with --model")
        if final.error:
            warn(final.error)
        failures = (StopReason.ERROR, StopReason.COST, StopReason.NOT_FOUND)
        if final.error or final.stopped in failures:
            return 1
        return EXIT_CANCELLED if final.stopped is StopReason.CANCELLED else 0

    def _make_answer(self) -> dict[str, Any]:
        state = self._agent.conversation.state
        exchange = state.exchanges[-1]
        return {
            "conversation": state.id,
            **to_json_answer(exchange, state.source),
            "passages": [to_json_passage(passage) for passage in exchange.passages],
            "opened": list(self._opened_ids),
            "open": list(state.open_sections),
            "steps": self._tool_calls,
            "conversation_usage": asdict(state.spent),
        }


def _print_line(name: str, fields: Mapping[str, Any]) -> None:
    # only ASCII, because some readers also split lines at characters such as U+2028
    write_data(json.dumps({"v": _EVENTS_VERSION, "event": name, **fields}) + "\n")
