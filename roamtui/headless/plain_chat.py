"""`roamtui SOURCE --plain`: a conversation in lines, for a screen reader, a dumb terminal or a pipe.

No colours and no cursor movement: what was written stays as it was. A line that begins with a slash is a command.
"""

from __future__ import annotations

import asyncio
import os
import re
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import assert_never

from roamtui.agent.controller import ConversationController, ConversationUpdated
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
from roamtui.conversation.events import AnswerStreamed, QuestionAnswered, QuestionAsked, StepStarted
from roamtui.conversation.notices import format_event_lines
from roamtui.conversation.state import ConversationState
from roamtui.conversation.transcript import StopReason
from roamtui.document.library import Library
from roamtui.document.loader import is_loadable
from roamtui.document.plain import sanitise_line, sanitise_text
from roamtui.errors import RoamtuiError
from roamtui.headless.ask import format_sources
from roamtui.headless.hits import list_hits
from roamtui.headless.output import warn, write_notes, write_sanitised
from roamtui.models.base import Model, get_startup_note
from roamtui.models.registry import OFFLINE, list_usable_models
from roamtui.outline.labels import WHOLE_TOKENS_MAX, format_node_title, format_path, format_size
from roamtui.outline.structure import LISTED_MAX, ChildRanges, Reference, parse_reference, suggest_ids

_PROMPT = "Ask: "
_SPOKEN_END = re.compile(r"[.!?:;][\"')\]*_]*\s|\n")
_SEPARATORS = re.compile(r"[\s,]+")
_HITS_MAX = 10
_TITLED_MAX = 10
_HELP = """\
Any other line is a question. For an ID a whole title does, too.
/outline [ID]: List the sections at the top, or those below one.
/read ID: Show the text of a section. Reading costs nothing.
/search WORDS: Find sections.
/open ID...: Open sections: the model gets their text with your next question.
/close ID...: Close sections: the model forgets their text.
/pin ID...: Keep sections open whatever happens; once more lets go of them.
/sections: List what is open.
/model [NAME]: Say which model answers, or choose another.
/remember TEXT: Write down how you want to be answered, for every conversation.
/help: List the commands.
/quit: Leave; ctrl+d does too.
ctrl+c stops the answer that is under way; what came so far is kept."""


class AnswerWriter:
    """Writes an answer as it comes, a sentence or a line at a time: a screen reader stumbles over parts of words."""

    def __init__(self) -> None:
        self._held = ""
        self._step = ""
        """All text of the step under way."""

    def begin_step(self) -> None:
        """End what an earlier step said: only the last step's text is the answer."""
        self.end_line()
        self._step = ""

    def add(self, text: str) -> None:
        """Write all that is whole of what came so far."""
        self._step += text
        self._held += text
        end = max((match.end() for match in _SPOKEN_END.finditer(self._held)), default=0)
        write_sanitised(self._held[:end])
        self._held = self._held[end:]

    def end_line(self) -> None:
        """Write what is held back, and end the line."""
        write_sanitised(self._held)
        self._held = ""
        if self._step and not self._step.endswith("\n"):
            write_sanitised("\n")
            self._step += "\n"

    def finish(self, answer: str) -> None:
        """Write what the whole answer has beyond what was streamed."""
        self.end_line()
        streamed = self._step.strip()
        rest = answer[len(streamed) :] if answer.startswith(streamed) else answer
        if rest.strip():
            write_sanitised(f"{rest.strip()}\n")


async def approve(approval: ApprovalRequest) -> bool:
    """Ask the person on a line of its own; ctrl+c and ctrl+d say no."""
    match approval:
        case CostApprovalRequest(spent_usd=spent, cap_usd=cap):
            question = f"${spent:.4f} spent, ${cap:.2f} allowed. Go on? [y/N] "
        case OriginApprovalRequest(host=host, urls=urls):
            pages = "a page" if len(urls) == 1 else f"{len(urls)} pages"
            question = f"Fetch {pages} from {sanitise_line(host)}, for this conversation? [y/N] "
        case _:
            assert_never(approval)
    return _confirm(question)


def _confirm(question: str) -> bool:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return input(question).strip().lower() in ("y", "yes")
    except (EOFError, KeyboardInterrupt):
        return False
    finally:
        signal.signal(signal.SIGINT, before)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlainContext:
    """What a plain chat is started with."""

    agent: Agent
    choose_model: Callable[[str], Model]
    """Makes the model with a name."""
    notes: tuple[str, ...] = ()
    """Sentences to tell at the start, such as what was replaced while reading the document."""
    examples: tuple[str, ...] = ()
    """Questions to propose."""
    remember: Callable[[str], str] = lambda _: "Preferences cannot be kept here."
    """Writes down a preference and says where."""


def run_plain_chat(context: PlainContext) -> int:
    """Talk about a document in lines of text until the input ends or the person leaves; return the exit status."""
    if sys.stdin.isatty():
        os.environ["TERM"] = "dumb"  # what is edited is shown without sequences
        with suppress(ImportError):  # not on every machine
            import readline  # noqa: F401, PLC0415 - `input` keeps a history once it is imported
    with suppress(AttributeError):
        sys.stdin.reconfigure(errors="replace")  # type: ignore[union-attr]
    return _PlainChat(context).run()


class _PlainChat:
    """Reads lines, asks, and tells what happens."""

    def __init__(self, context: PlainContext) -> None:
        self._context = context
        self._agent = context.agent
        self._is_typed = sys.stdin.isatty()
        self._has_failed = False
        self._writer: AnswerWriter | None = None
        """Writes the answer to the question that is being asked; None while none is."""
        self._controller = ConversationController(context.agent, approve if self._is_typed else deny)
        self._controller.subscribe(self._show)

    def run(self) -> int:
        self._greet()
        with asyncio.Runner() as runner:
            try:
                while (line := self._read_line()) is not None:
                    if line.strip().lower() in ("/quit", "/exit"):
                        break
                    if line.strip():
                        self._handle_line(line, runner)
            finally:
                runner.run(self._agent.model.close())
                self._controller.session.flush()
        return 1 if self._has_failed and not self._is_typed else 0

    def _greet(self) -> None:
        state = self._controller.state
        count = len(state.library)
        write_notes(self._context.notes)
        title = sanitise_line(state.library.title)
        write_sanitised(f"{title}, {count:,} section{'' if count == 1 else 's'}. {self._agent.model.name} answers.\n")
        for event in self._controller.session.opening_events:
            write_notes(format_event_lines(event, state.library))
        exchanges = state.transcript.exchanges
        if exchanges:
            write_sanitised(f"The conversation goes on after question {len(exchanges)}: {exchanges[-1].question}\n")
            write_sanitised(f"{exchanges[-1].answer.strip()}\n")
        elif self._is_typed and self._context.examples:
            write_sanitised("For example:\n" + "".join(f"- {question}\n" for question in self._context.examples))
        if self._is_typed:
            write_sanitised("/help lists the commands, ctrl+d leaves.\n")

    def _read_line(self) -> str | None:
        """Return the next line, None at the end; one that came through a pipe is shown, so that answers have a head."""
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
                write_sanitised("\nctrl+d or /quit leaves.\n")

    def _handle_line(self, line: str, runner: asyncio.Runner) -> None:
        is_command = line.startswith("/")
        try:
            if is_command:
                runner.run(self._run_command(line))
            else:
                runner.run(self._ask(line.strip()))
        except KeyboardInterrupt:
            if not self._is_typed:
                raise
            write_sanitised("\nStopped.\n" if is_command else "\nStopped. What came so far is kept.\n")

    async def _ask(self, question: str) -> None:
        self._writer = AnswerWriter()
        try:
            await self._controller.ask(question)
        except asyncio.CancelledError:
            self._writer.end_line()
            raise
        finally:
            self._writer = None

    def _show(self, update: ConversationUpdated) -> None:
        """Write what happened: progress of an answer to stderr, what a command did to stdout."""
        writer, library = self._writer, update.state.library
        if writer is None:
            _tell(*format_event_lines(update.event, library))
            return
        match update.event:
            case QuestionAsked():
                name, model = self._agent.model.name, self._agent.model
                waits = f"{sanitise_line(name)} is answering; ctrl+c stops it."
                write_notes(
                    filter(None, [get_startup_note(model), waits if self._is_typed and name != OFFLINE else ""])
                )
            case StepStarted():
                writer.begin_step()
            case AnswerStreamed(text=text):
                writer.add(text)
            case QuestionAnswered(stopped=StopReason.CANCELLED):
                pass  # the person stopped it, and has seen all that came
            case QuestionAnswered() as event:
                writer.finish(event.answer)
                self._has_failed = self._has_failed or event.stopped in (StopReason.ERROR, StopReason.COST)
                lines = ["", *(["Sources:"] if event.citations else []), *format_sources(self._agent, event)]
                _tell(*lines)
                if event.error:
                    warn(event.error)
            case event:
                writer.end_line()
                write_notes(format_event_lines(event, library))

    async def _run_command(self, line: str) -> None:
        """Carry out a command; what a person did wrong is told too."""
        name, _, text = line.strip().partition(" ")
        try:
            await self._handle_command(name.lower(), text.strip())
        except RoamtuiError as error:
            _tell(str(error))

    async def _handle_command(self, name: str, text: str) -> None:
        match name:
            case "/outline":
                await self._outline(text)
            case "/read":
                await self._read(text)
            case "/search":
                await self._search(text)
            case "/open" | "/close" | "/pin":
                await self._update_sections(name, text)
            case "/sections":
                _tell(*_list_open(self._controller.state))
            case "/model":
                await self._choose_model(text)
            case "/remember":
                example = "Say what to remember, such as: /remember Answer in German."
                _tell(self._context.remember(text) if text else example)
            case "/help":
                _tell(_HELP)
            case _:
                hint = "/help lists them; a space before the slash makes the line a question."
                _tell(f"There is no command {name}. {hint}")

    async def _outline(self, text: str) -> None:
        """List each section directly below a node, in ranges if there are too many for one page.

        Args:
            text: An id, a range such as ``07f3277d:c2``, a title that only one section has, or nothing for the top.
        """
        library = self._controller.state.library
        reference = parse_reference(text) if text else Reference(section_id=library.title_id() or library.root_id)
        if reference is None or (reference.section_id != library.root_id and reference.section_id not in library):
            ids = _resolve_sections(library, text)
            if not ids:
                return
            reference = Reference(section_id=ids[0])
        section_id = reference.section_id
        if is_loadable(library, section_id):
            await self._controller.dispatch(lambda _: UnfoldNodes(section_ids=(section_id,)))
        state = self._controller.state
        ranges = ChildRanges.for_section(state.library, section_id)
        bounds = ranges.get_bounds(reference.steps)
        if bounds is None:
            _tell(f"There is no range {text}.")
            return
        is_top = section_id == state.library.root_id
        _tell(state.library.title if is_top else _describe_node(state, section_id))
        listed = ranges.children[slice(*bounds)]
        if not ranges.children:
            _tell("Nothing lies below it.")
        elif len(listed) > LISTED_MAX:
            _tell(*ranges.describe(section_id, reference.steps))
        else:
            _tell(*(f"- {_describe_node(state, child)}" for child in listed))

    async def _read(self, text: str) -> None:
        """Write the text of sections, with everything below if that is short, else with a word on what lies below."""
        for section_id in _resolve_sections(self._controller.state.library, text):
            await self._read_section(section_id)

    async def _read_section(self, section_id: str) -> None:
        await self._controller.dispatch(lambda _: ReadSection(section_id=section_id))
        library = self._controller.state.library
        node = library.node(section_id)
        is_whole = node.tokens <= WHOLE_TOKENS_MAX or not node.descendants
        span = library.get_content_span(section_id) if is_whole else library.get_own_content_span(section_id)
        _tell(sanitise_text(library.text_at(span)).rstrip())
        if not is_whole:
            count = f"{node.descendants} section{'' if node.descendants == 1 else 's'}"
            _tell(f"\n(Below it: {count}. /outline {section_id} lists them.)")

    async def _search(self, text: str) -> None:
        if self._agent.searcher is None:
            _tell("Search is off. Set retrieval.mode in config.toml to keyword.")
        elif not text:
            _tell("Say what to search for: /search late fee")
        else:
            hits = await self._controller.search(text, _HITS_MAX)
            _tell(list_hits(self._controller.state.library, hits).rstrip() or "Nothing found. Try other words.")

    async def _update_sections(self, name: str, text: str) -> None:
        """Open, close or pin the sections that are named; if all of them are pinned already, unpin them."""
        ids = tuple(_resolve_sections(self._controller.state.library, text))

        def make(state: ConversationState) -> Command:
            if name == "/open":
                return ExpandSections(section_ids=ids, origin=Origin.PERSON)
            if name == "/close":
                return CloseSections(section_ids=ids, origin=Origin.PERSON)
            opened = [state.get_open(section_id) for section_id in ids]
            are_pinned = all(section is not None and section.is_pinned for section in opened)
            return PinSections(section_ids=ids, is_pinned=not are_pinned)

        if ids:
            await self._controller.dispatch(make)

    async def _choose_model(self, name: str) -> None:
        if not name:
            offers = [f"{offer.name}: {offer.note}" for offer in list_usable_models()]
            _tell(f"{self._agent.model.name} answers. Usable here:", *offers)
            return
        before = self._agent.model
        self._agent.model = self._context.choose_model(name)
        await before.close()
        _tell(f"{self._agent.model.name} answers from now on.")


def _tell(*lines: str) -> None:
    write_sanitised("".join(f"{line}\n" for line in lines))


def _resolve_sections(library: Library, text: str) -> list[str]:
    """Return the sections that ids or a title name, whatever its case; write a sentence for each unknown name."""
    wanted = sanitise_line(text).strip("\"'“” ").casefold()
    named = (section_id for section_id in library.walk() if library.title_of(section_id).casefold() == wanted)
    titled = list(islice(named, _TITLED_MAX)) if wanted else []
    if len(titled) > 1:
        lines = [f"- [{section_id}] {format_path(library, section_id)}" for section_id in titled]
        _tell("Several sections have this title; name one by its id:", *lines)
        return []
    if titled:
        return titled
    words = [word for word in _SEPARATORS.split(text) if word]
    if not words:
        _tell("Name a section by its id or its whole title: /outline and /search show them.")
    found: list[str] = []
    for word in words:
        reference = parse_reference(word)
        if reference is not None and reference.section_id in library:
            found.append(reference.section_id)
            continue
        nearest = [f"[{section_id}] {library.title_of(section_id)}" for section_id in suggest_ids(library, word)]
        meant = f" Did you mean {', '.join(nearest)}?" if nearest else ""
        _tell(f'There is no section "{word}".{meant}')
    return list(dict.fromkeys(found))


def _list_open(state: ConversationState) -> list[str]:
    """Return a line for each open section: where it stands, who opened it, whether it is pinned."""
    if not state.open_sections:
        return ["No section is open."]
    lines = []
    for section in state.open_sections:
        marks = ["opened by you" if section.opened_by is Origin.PERSON else "opened by the model"]
        marks += ["pinned"] if section.is_pinned else []
        marks += ["the model gets its text with your next question"] if not section.deliveries else []
        lines.append(f"[{section.section_id}] {format_path(state.library, section.section_id)}, {', '.join(marks)}")
    return [*lines, f"{len(lines)} open, ~{state.open_tokens:,} tokens"]


def _describe_node(state: ConversationState, section_id: str) -> str:
    node = state.library.node(section_id)
    found = state.get_open(section_id)
    mark = "" if found is None else ", open and pinned" if found.is_pinned else ", open"
    return f"[{section_id}] {format_node_title(node)} ({format_size(state.library, node)}{mark})"
