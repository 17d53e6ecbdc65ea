"""`roamtui SOURCE --plain`: a conversation as lines of text, for a screen reader, a dumb terminal or a pipe.

There are no colours or cursor movements: written text stays as it is. A line that starts with a slash is a command.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress

from roamtui.agent.loop import Agent
from roamtui.conversation.commands import (
    ApprovalRequest,
    CloseSections,
    ExpandSections,
    FoldNodes,
    Origin,
    ReadSection,
    deny,
)
from roamtui.conversation.events import ConversationEvent
from roamtui.conversation.notices import format_event_lines
from roamtui.document.counts import format_count
from roamtui.document.loader import is_loadable
from roamtui.document.plain import sanitise_line, sanitise_text
from roamtui.errors import RoamtuiError
from roamtui.headless.answer_lines import compute_text_width, render_markdown, wrap_lines
from roamtui.headless.ask import AskReport
from roamtui.headless.hits import format_hits
from roamtui.headless.output import write_notices, write_sanitised
from roamtui.headless.sections import find_reference, iter_texts
from roamtui.models.base import Model
from roamtui.outline.labels import format_node_title, format_path, format_size
from roamtui.outline.render import render_outline
from roamtui.outline.structure import ChildRanges, Reference

_PROMPT = "Ask: "
_HITS_MAX = 10
_HELP = """\
Any other line is a question. A full title works in place of an ID.
/outline [ID]: Show the outline that the model reads, or list the subsections of one section.
/read ID: Show the text of a section. Reading costs nothing.
/search WORDS: Find sections.
/open [ID]: Open a section, so that the model gets its text with your next question, or list the open ones.
/close ID: Close a section, so that the model forgets its text.
/model NAME: Choose another model.
/help: List the commands.
/quit: Quit (or ctrl+d).
ctrl+c stops the current answer and keeps what has arrived."""


async def approve(approval: ApprovalRequest) -> bool:
    """Ask the person on a separate line. ctrl+c and ctrl+d mean no."""
    question = sanitise_line(f"{approval.question} {approval.detail} [y/N]") + " "
    previous_handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return input(question).strip().lower() in ("y", "yes")  # noqa: ASYNC250 - nothing else runs
    except (EOFError, KeyboardInterrupt):
        return False
    finally:
        signal.signal(signal.SIGINT, previous_handler)


class PlainChat:
    """Reads lines, asks questions and reports events."""

    def __init__(
        self,
        agent: Agent,
        *,
        choose_model: Callable[[str], Model],
        notes: Iterable[str] = (),
        examples: Iterable[str] = (),
    ) -> None:
        """Prepare a conversation, new or resumed.

        Args:
            agent: Answers the questions.
            choose_model: Creates a model, given its name.
            notes: Sentences to show at the start, such as replacements made while reading the document.
            examples: Suggested questions.
        """
        self._agent = agent
        self._choose_model = choose_model
        self._notes = notes
        self._examples = examples
        self._is_typed = sys.stdin.isatty()
        self._has_failed = False
        self._report: AskReport | None = None
        """Writes the current question's progress and answer. None between questions."""
        self._conversation = agent.conversation
        self._conversation.approver = approve if self._is_typed else deny

    def run(self) -> int:
        """Answer lines until the input ends or the person quits, and return the exit status."""
        os.environ["TERM"] = "dumb"  # keeps readline and answers from writing escape sequences
        if self._is_typed:
            with suppress(ImportError):  # not available on Windows
                import readline  # noqa: F401, PLC0415 - importing it gives `input` a history
        with suppress(AttributeError):
            sys.stdin.reconfigure(errors="replace")  # type: ignore[union-attr]
        self._greet()
        with asyncio.Runner() as runner:
            try:
                while (line := self._read_line()) is not None and line.strip().lower() != "/quit":
                    is_command = line.startswith("/")
                    try:
                        runner.run(self._run_command(line) if is_command else self._ask(line.strip()))
                    except KeyboardInterrupt:
                        if not self._is_typed:
                            raise
                        write_sanitised(f"\nStopped.{'' if is_command else ' The partial answer is kept.'}\n")
            finally:
                runner.run(self._agent.model.close())
                self._conversation.close()
        return int(self._has_failed and not self._is_typed)

    def _greet(self) -> None:
        state = self._conversation.state
        write_notices(self._notes)
        title = sanitise_line(state.library.title)
        write_sanitised(f"{title}, {format_count(len(state.library), 'section')}. {self._agent.model.name} answers.\n")
        self._conversation.subscribe(self._on_event)
        if exchanges := state.transcript.exchanges:
            write_sanitised(f"Resuming after question {len(exchanges)}: {exchanges[-1].question}\n")
            write_sanitised(f"{exchanges[-1].answer.strip()}\n")
        elif self._is_typed and self._examples:
            write_sanitised("For example:\n" + "".join(f"- {question}\n" for question in self._examples))
        if self._is_typed:
            write_sanitised("/help lists the commands, ctrl+d quits.\n")

    def _read_line(self) -> str | None:
        # Piped questions are echoed, so that the answers have headings.
        while not self._is_typed:
            line = sys.stdin.readline()
            if line.strip():
                write_sanitised(f"\n{_PROMPT}{line.strip()}\n")
            if line.strip() or not line:
                return line.rstrip("\n") or None
        while True:
            try:
                if (line := input(f"\n{_PROMPT}")).strip():
                    return line
            except EOFError:
                write_sanitised("\n")
                return None
            except KeyboardInterrupt:
                write_sanitised("\nctrl+d or /quit quits.\n")

    async def _ask(self, question: str) -> None:
        report = self._report = AskReport(self._agent, is_watched=True)
        try:
            await self._agent.ask(question)
        finally:
            self._report = None
            if report.final is not None:
                self._has_failed = report.finish() == 1 or self._has_failed

    def _on_event(self, event: ConversationEvent) -> None:
        if self._report is not None:
            self._report.add(event)
        else:  # the result of a command
            _write_lines(*format_event_lines(event, self._conversation.state.library))

    async def _run_command(self, line: str) -> None:
        name, _, text = line.strip().partition(" ")
        name, text, library = name.lower(), text.strip(), self._conversation.state.library
        try:
            match name:
                case "/help":
                    _write_lines(_HELP)
                case "/outline" if not text:
                    _write_lines(render_outline(library))
                case "/open" if not text:
                    state = self._conversation.state
                    lines = [f"[{open_id}] {format_path(library, open_id)}" for open_id in state.open_ids]
                    _write_lines(*lines, f"{len(lines)} open, ~{state.open_tokens:,} tokens")
                case "/model" | "/search" | "/read" | "/close" if not text:
                    _write_lines(f"{name} needs something after it. /help lists the commands.")
                case "/model":
                    previous_model = self._agent.model
                    self._agent.model = self._choose_model(text)
                    await previous_model.close()
                    _write_lines(f"{self._agent.model.name} answers from now on.")
                case "/search":
                    hits = await self._agent.search(text, _HITS_MAX)
                    _write_lines(format_hits(library, hits).rstrip() or "Nothing found. Try other words.")
                case "/outline" | "/read" | "/open" | "/close":
                    await self._run_section_command(name, find_reference(library, text))
                case _:
                    hint = "/help lists the commands; a space before the slash makes the line a question."
                    _write_lines(f"Unknown command {name}. {hint}")
        except RoamtuiError as error:
            _write_lines(str(error))

    async def _run_section_command(self, name: str, reference: Reference) -> None:
        conversation, section_id = self._conversation, reference.section_id
        match name:
            case "/outline":
                if is_loadable(conversation.state.library, section_id):
                    await conversation.execute(FoldNodes(section_ids=(section_id,), is_folded=False))
                library = conversation.state.library
                ranges = ChildRanges.for_section(library, section_id)
                nodes = map(library.node, ranges.children[slice(*(ranges.get_bounds(reference.steps) or (0, 0)))])
                lines = [f"- [{node.id}] {format_node_title(node)} ({format_size(library, node)})" for node in nodes]
                _write_lines(*(lines or ["No subsections."]))
            case "/read":
                await conversation.execute(ReadSection(section_id=section_id))
                width = compute_text_width()
                for source in filter(str.strip, iter_texts(conversation.state.library, reference)):
                    text = sanitise_text(source).strip("\n") + "\n"
                    write_sanitised((text if width is None else render_markdown(text, width=width)) + "\n")
            case _:
                make_command = ExpandSections if name == "/open" else CloseSections
                command = make_command(section_ids=(section_id,), origin=Origin.PERSON)
                await conversation.execute(command)


def _write_lines(*lines: str) -> None:
    width = compute_text_width()
    write_sanitised("".join(f"{line}\n" for line in lines) if width is None else wrap_lines(lines, width))
