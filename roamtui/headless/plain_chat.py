"""`roamtui SOURCE --plain`: a conversation as lines of text, for a screen reader, a dumb terminal or a pipe.

There are no colours or cursor movements: written text stays as it is. A line that starts with a slash is a command.
"""

from __future__ import annotations

import asyncio
import os
import re
import signal
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import reduce
from itertools import islice
from typing import assert_never

from roamtui.agent.loop import Agent
from roamtui.conversation.commands import (
    ApprovalRequest,
    CloseSections,
    Command,
    CostApprovalRequest,
    ExpandSections,
    Origin,
    OriginApprovalRequest,
    PinSections,
    ReadSection,
    UnfoldNodes,
    deny,
)
from roamtui.conversation.events import (
    AnswerStreamed,
    ConversationEvent,
    QuestionAnswered,
    QuestionAsked,
    StepStarted,
)
from roamtui.conversation.notices import format_event_lines
from roamtui.conversation.state import ConversationState
from roamtui.conversation.transcript import StopReason
from roamtui.document.counts import format_count
from roamtui.document.library import Library
from roamtui.document.loader import is_loadable
from roamtui.document.plain import sanitise_line, sanitise_text
from roamtui.errors import RoamtuiError
from roamtui.headless.answer_lines import compute_text_width, render_markdown, wrap_lines
from roamtui.headless.ask import format_sources
from roamtui.headless.hits import format_hits
from roamtui.headless.output import warn, write_notices, write_sanitised
from roamtui.markdown.fences import update_fence
from roamtui.models.base import Model, get_startup_note
from roamtui.models.registry import OFFLINE, list_usable_models
from roamtui.outline.labels import WHOLE_TOKENS_MAX, format_node_title, format_path, format_size
from roamtui.outline.structure import LISTED_MAX, ChildRanges, Reference, parse_reference, suggest_ids

_PROMPT = "Ask: "
_SEPARATORS = re.compile(r"[\s,]+")
_HITS_MAX = 10
_SAME_TITLE_MAX = 10
_HELP = """\
Any other line is a question. A full title works in place of an ID.
/outline [ID]: List the top sections, or the subsections of one.
/read ID: Show the text of a section. Reading costs nothing.
/search WORDS: Find sections.
/open ID...: Open sections: the model gets their text with your next question.
/close ID...: Close sections: the model forgets their text.
/pin ID...: Pin or unpin sections.
/sections: List the open sections.
/model [NAME]: Show the current model, or choose another.
/help: List the commands.
/quit: Quit (or ctrl+d).
ctrl+c stops the current answer and keeps what has arrived."""


class AnswerWriter:
    """Writes an answer paragraph by paragraph while it streams, because screen readers mispronounce parts of words."""

    def __init__(self) -> None:
        self._step_text = ""
        """The text of the current step. Only the text of the last step is the answer."""
        self._written = 0
        """Number of its characters that are written."""

    def begin_step(self) -> None:
        """Write the rest of the previous step."""
        self.end_step()
        self._step_text, self._written = "", 0

    def add(self, text: str) -> None:
        """Add text, and write every complete paragraph, but nothing of an open block of code."""
        self._step_text += text
        end = self._step_text.rfind("\n\n")
        if end > self._written and not reduce(update_fence, self._step_text[:end].split("\n"), ""):
            self._write_to(end)

    def end_step(self) -> None:
        """Write the text that is left."""
        self._write_to(len(self._step_text))

    def finish(self, answer: str) -> None:
        """Write the part of the final answer that was not streamed."""
        self.end_step()
        streamed = self._step_text.strip()
        self._step_text = answer[len(streamed) :] if answer.startswith(streamed) else answer
        self._written = 0
        self.end_step()

    def _write_to(self, end: int) -> None:
        _write_markdown(self._step_text[self._written : end])
        self._written = end


async def approve(approval: ApprovalRequest) -> bool:
    """Ask the person on a separate line. ctrl+c and ctrl+d mean no."""
    match approval:
        case CostApprovalRequest(spent_usd=spent, cap_usd=cap):
            question = f"${spent:.4f} spent, ${cap:.2f} allowed. Continue? [y/N] "
        case OriginApprovalRequest(host=host, urls=urls):
            pages = "a page" if len(urls) == 1 else f"{len(urls)} pages"
            question = f"Fetch {pages} from {sanitise_line(host)}, for this conversation? [y/N] "
        case _:
            assert_never(approval)
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
        self._writer: AnswerWriter | None = None
        """Writes the current answer. None between questions."""
        self._conversation = agent.conversation
        self._conversation.approver = approve if self._is_typed else deny

    def run(self) -> int:
        """Answer lines until the input ends or the person quits, and return the exit status."""
        if self._is_typed:
            os.environ["TERM"] = "dumb"  # keeps readline from writing escape sequences
            with suppress(ImportError):  # not available on Windows
                import readline  # noqa: F401, PLC0415 - importing it gives `input` a history
        with suppress(AttributeError):
            sys.stdin.reconfigure(errors="replace")  # type: ignore[union-attr]
        self._greet()
        with asyncio.Runner() as runner:
            try:
                while (line := self._read_line()) is not None:
                    if line.strip().lower() in ("/quit", "/exit"):
                        break
                    is_command = line.startswith("/")
                    try:
                        if is_command:
                            runner.run(self._run_command(line))
                        elif line.strip():
                            runner.run(self._ask(line.strip()))
                    except KeyboardInterrupt:
                        if not self._is_typed:
                            raise
                        write_sanitised("\nStopped.\n" if is_command else "\nStopped. The partial answer is kept.\n")
            finally:
                runner.run(self._agent.model.close())
                self._conversation.close()
        return 1 if self._has_failed and not self._is_typed else 0

    def _greet(self) -> None:
        state = self._conversation.state
        write_notices(self._notes)
        title = sanitise_line(state.library.title)
        write_sanitised(f"{title}, {format_count(len(state.library), 'section')}. {self._agent.model.name} answers.\n")
        self._conversation.subscribe(self._on_event)
        exchanges = state.transcript.exchanges
        if exchanges:
            write_sanitised(f"Resuming after question {len(exchanges)}: {exchanges[-1].question}\n")
            write_sanitised(f"{exchanges[-1].answer.strip()}\n")
        elif self._is_typed and self._examples:
            write_sanitised("For example:\n" + "".join(f"- {question}\n" for question in self._examples))
        if self._is_typed:
            write_sanitised("/help lists the commands, ctrl+d quits.\n")

    def _read_line(self) -> str | None:
        # Piped questions are echoed, so that the answers have headings.
        if not self._is_typed:
            line = sys.stdin.readline()
            if line.strip():
                write_sanitised(f"\n{_PROMPT}{line.strip()}\n")
            return line.rstrip("\n") if line else None
        while True:
            try:
                return input(f"\n{_PROMPT}")
            except EOFError:
                write_sanitised("\n")
                return None
            except KeyboardInterrupt:
                write_sanitised("\nctrl+d or /quit quits.\n")

    async def _ask(self, question: str) -> None:
        self._writer = AnswerWriter()
        try:
            await self._agent.ask(question)
        except asyncio.CancelledError:
            self._writer.end_step()
            raise
        finally:
            self._writer = None

    def _on_event(self, event: ConversationEvent) -> None:
        # Progress of an answer goes to stderr, the result of a command to stdout.
        writer, library = self._writer, self._conversation.state.library
        if writer is None:
            _write_lines(*format_event_lines(event, library))
            return
        match event:
            case QuestionAsked():
                self._writer = AnswerWriter()
                model = self._agent.model
                is_slow = self._is_typed and model.name != OFFLINE
                hint = f"{sanitise_line(model.name)} is answering; ctrl+c stops it." if is_slow else ""
                write_notices(filter(None, [get_startup_note(model), hint]))
            case StepStarted():
                writer.begin_step()
            case AnswerStreamed(text=text):
                writer.add(text)
            case QuestionAnswered(stopped=StopReason.CANCELLED):
                pass  # the person stopped it, and has seen everything that arrived
            case QuestionAnswered():
                writer.finish(event.answer)
                self._has_failed = self._has_failed or event.stopped in (StopReason.ERROR, StopReason.COST)
                heading = ["Sources:"] if event.citations else []
                _write_lines("", *heading, *format_sources(self._agent, event))
                if event.error:
                    warn(_name_commands(event.error))
            case event:
                writer.end_step()
                write_notices(format_event_lines(event, library))

    async def _run_command(self, line: str) -> None:
        word, _, text = line.strip().partition(" ")
        name, text = word.lower(), text.strip()
        try:
            match name:
                case "/outline":
                    await self._outline(text)
                case "/read":
                    for section_id in _resolve_sections(self._conversation.state.library, text):
                        await self._read(section_id)
                case "/search":
                    await self._search(text)
                case "/open" | "/close" | "/pin":
                    await self._update_sections(name, text)
                case "/sections":
                    state = self._conversation.state
                    for section in state.open_sections:
                        marks = ["opened by you" if section.opened_by is Origin.PERSON else "opened by the model"]
                        marks += ["pinned"] if section.is_pinned else []
                        marks += [] if section.deliveries else ["the model gets its text with your next question"]
                        path = format_path(state.library, section.section_id)
                        _write_lines(f"[{section.section_id}] {path}, {', '.join(marks)}")
                    count = len(state.open_sections)
                    _write_lines(f"{count} open, ~{state.open_tokens:,} tokens" if count else "No section is open.")
                case "/model" if text:
                    previous_model = self._agent.model
                    self._agent.model = self._choose_model(text)
                    await previous_model.close()
                    _write_lines(f"{self._agent.model.name} answers from now on.")
                case "/model":
                    offers = [f"{offer.name}: {offer.note}" for offer in list_usable_models()]
                    _write_lines(f"{self._agent.model.name} answers. Usable here:", *offers)
                case "/help":
                    _write_lines(_HELP)
                case _:
                    hint = "/help lists the commands; a space before the slash makes the line a question."
                    _write_lines(f"Unknown command {name}. {hint}")
        except RoamtuiError as error:
            _write_lines(_name_commands(str(error)))

    async def _outline(self, text: str) -> None:
        # `text` is an id, a range such as `07f3277d:c2`, a unique title, or empty for the top.
        library = self._conversation.state.library
        reference = parse_reference(text) if text else Reference(section_id=library.title_id() or library.root_id)
        if reference is None or (reference.section_id != library.root_id and reference.section_id not in library):
            ids = _resolve_sections(library, text)
            if not ids:
                return
            reference = Reference(section_id=ids[0])
        section_id = reference.section_id
        if is_loadable(library, section_id):
            await self._conversation.dispatch(lambda _: UnfoldNodes(section_ids=(section_id,)))
        state = self._conversation.state
        ranges = ChildRanges.for_section(state.library, section_id)
        bounds = ranges.get_bounds(reference.steps)
        if bounds is None:
            _write_lines(f"No range {text}.")
            return
        is_top = section_id == state.library.root_id
        _write_lines(state.library.title if is_top else _format_node(state, section_id))
        listed = ranges.children[slice(*bounds)]
        if not ranges.children:
            _write_lines("No subsections.")
        elif len(listed) > LISTED_MAX:
            _write_lines(*ranges.describe(section_id, reference.steps))
        else:
            _write_lines(*(f"- {_format_node(state, child)}" for child in listed))

    async def _read(self, section_id: str) -> None:
        await self._conversation.dispatch(lambda _: ReadSection(section_id=section_id))
        library = self._conversation.state.library
        node = library.node(section_id)
        is_whole = node.tokens <= WHOLE_TOKENS_MAX or not node.descendants
        span = library.get_content_span(section_id) if is_whole else library.get_own_content_span(section_id)
        _write_markdown(library.text_at(span))
        if not is_whole:
            _write_lines(f"\n({format_count(node.descendants, 'subsection')}: /outline {section_id} lists them.)")

    async def _search(self, text: str) -> None:
        if self._agent.searcher is None:
            _write_lines("Search is off. Set retrieval.mode in config.toml to keyword.")
        elif not text:
            _write_lines("Write what to search for: /search late fee")
        else:
            hits = await self._agent.search(text, _HITS_MAX)
            listed = format_hits(self._conversation.state.library, hits).rstrip()
            _write_lines(listed or "Nothing found. Try other words.")

    async def _update_sections(self, name: str, text: str) -> None:
        # /pin unpins sections if all of them are pinned already.
        ids = tuple(_resolve_sections(self._conversation.state.library, text))

        def make_command(state: ConversationState) -> Command:
            if name == "/open":
                return ExpandSections(section_ids=ids, origin=Origin.PERSON)
            if name == "/close":
                return CloseSections(section_ids=ids, origin=Origin.PERSON)
            opened = [state.get_open(section_id) for section_id in ids]
            are_pinned = all(section is not None and section.is_pinned for section in opened)
            return PinSections(section_ids=ids, is_pinned=not are_pinned)

        if ids:
            await self._conversation.dispatch(make_command)


def _name_commands(text: str) -> str:
    """Replace the flags in an error message with the commands or settings that a running chat has instead."""
    for flag, name in (
        ("--model", "/model"),
        ("--api-base", "api_base in config.toml"),
        ("--embedder", "retrieval.embedder in config.toml"),
    ):
        text = text.replace(flag, name)
    return text


def _write_lines(*lines: str) -> None:
    width = compute_text_width()
    write_sanitised("".join(f"{line}\n" for line in lines) if width is None else wrap_lines(lines, width))


def _write_markdown(text: str) -> None:
    """Write Markdown as it is, or laid out for a terminal."""
    width = compute_text_width()
    if text.strip():
        text = sanitise_text(text).strip("\n")
        write_sanitised(f"{text}\n\n" if width is None else f"{render_markdown(text, width=width)}\n")


def _resolve_sections(library: Library, text: str) -> list[str]:
    # `text` is a list of ids, or one title in upper or lower case. Unknown ids are reported.
    title = sanitise_line(text).strip("\"'“” ").casefold()
    matching = (section_id for section_id in library.walk() if library.title_of(section_id).casefold() == title)
    titled = list(islice(matching, _SAME_TITLE_MAX)) if title else []
    if len(titled) > 1:
        lines = [f"- [{section_id}] {format_path(library, section_id)}" for section_id in titled]
        _write_lines("Several sections have this title; use an id:", *lines)
        return []
    if titled:
        return titled
    words = [word for word in _SEPARATORS.split(text) if word]
    if not words:
        _write_lines("Name a section by its id or full title: /outline and /search show them.")
    section_ids: list[str] = []
    for word in words:
        reference = parse_reference(word)
        if reference is not None and reference.section_id in library:
            section_ids.append(reference.section_id)
            continue
        nearest = [f"[{section_id}] {library.title_of(section_id)}" for section_id in suggest_ids(library, word)]
        hint = f" Did you mean {', '.join(nearest)}?" if nearest else ""
        _write_lines(f'No section "{word}".{hint}')
    return list(dict.fromkeys(section_ids))


def _format_node(state: ConversationState, section_id: str) -> str:
    node = state.library.node(section_id)
    section = state.get_open(section_id)
    mark = ""
    if section is not None:
        mark = ", open and pinned" if section.is_pinned else ", open"
    return f"[{section_id}] {format_node_title(node)} ({format_size(state.library, node)}{mark})"
