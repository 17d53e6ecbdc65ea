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
from contextlib import aclosing, suppress
from dataclasses import dataclass
from itertools import islice
from typing import assert_never

from roamtui.agent.loop import Agent
from roamtui.conversation.commands import (
    Approval,
    CollapseSections,
    Command,
    CostApproval,
    ExpandSections,
    Origin,
    OriginApproval,
    PinSections,
    ReadSection,
    UnfoldNodes,
)
from roamtui.conversation.events import AnswerStreamed, ConversationEvent, QuestionAnswered, QuestionAsked, StepStarted
from roamtui.conversation.narration import write_lines
from roamtui.conversation.state import ConversationState
from roamtui.conversation.transcript import Stopped
from roamtui.document.library import Library
from roamtui.document.loader import can_load
from roamtui.document.plain import plain_line, plain_text
from roamtui.errors import RoamtuiError
from roamtui.headless.ask import describe_sources
from roamtui.headless.hits import list_hits
from roamtui.headless.output import warn, write_notes, write_plain
from roamtui.models.base import Model, find_note
from roamtui.models.choose import OFFLINE, find_usable_models
from roamtui.outline.labels import WHOLE_TOKENS_MAX, describe_size, name_node, name_path
from roamtui.outline.structure import LISTED_MAX, Ranges, Reference, find_nearest, parse_reference

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
        write_plain(self._held[:end])
        self._held = self._held[end:]

    def end_line(self) -> None:
        """Write what is held back, and end the line."""
        write_plain(self._held)
        self._held = ""
        if self._step and not self._step.endswith("\n"):
            write_plain("\n")
            self._step += "\n"

    def finish(self, answer: str) -> None:
        """Write what the whole answer has beyond what was streamed."""
        self.end_line()
        streamed = self._step.strip()
        rest = answer[len(streamed) :] if answer.startswith(streamed) else answer
        if rest.strip():
            write_plain(f"{rest.strip()}\n")


async def approve(approval: Approval) -> bool:
    """Ask the person on a line of its own; ctrl+c and ctrl+d say no."""
    match approval:
        case CostApproval(spent_usd=spent, cap_usd=cap):
            question = f"${spent:.4f} spent, ${cap:.2f} allowed. Go on? [y/N] "
        case OriginApproval(host=host, urls=urls):
            pages = "a page" if len(urls) == 1 else f"{len(urls)} pages"
            question = f"Fetch {pages} from {plain_line(host)}, for this conversation? [y/N] "
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
        self._session = context.agent.session
        self._is_typed = sys.stdin.isatty()
        self._has_failed = False
        if self._is_typed:
            self._session.approver = approve

    def run(self) -> int:
        self._greet()
        with asyncio.Runner() as runner:
            try:
                while (line := self._read_line()) is not None:
                    if line.strip().lower() in ("/quit", "/exit"):
                        break
                    if line.strip():
                        self._take(line, runner)
            finally:
                runner.run(self._agent.model.close())
                self._session.save_now()
        return 1 if self._has_failed and not self._is_typed else 0

    def _greet(self) -> None:
        state = self._session.state
        count = len(state.library)
        write_notes(self._context.notes)
        title = plain_line(state.library.title)
        write_plain(f"{title}, {count:,} section{'' if count == 1 else 's'}. {self._agent.model.name} answers.\n")
        for event in self._session.opening_events:
            write_notes(write_lines(event, state.library))
        exchanges = state.transcript.exchanges
        if exchanges:
            write_plain(f"The conversation goes on after question {len(exchanges)}: {exchanges[-1].question}\n")
            write_plain(f"{exchanges[-1].answer.strip()}\n")
        elif self._is_typed and self._context.examples:
            write_plain("For example:\n" + "".join(f"- {question}\n" for question in self._context.examples))
        if self._is_typed:
            write_plain("/help lists the commands, ctrl+d leaves.\n")

    def _read_line(self) -> str | None:
        """Return the next line, None at the end; one that came through a pipe is shown, so that answers have a head."""
        if not self._is_typed:
            line = sys.stdin.readline()
            if line.strip():
                write_plain(f"\n{_PROMPT}{line.strip()}\n")
            return line.rstrip("\n") if line else None
        while True:
            try:
                return input(f"\n{_PROMPT}")
            except EOFError:
                write_plain("\n")
                return None
            except KeyboardInterrupt:
                write_plain("\nctrl+d or /quit leaves.\n")

    def _take(self, line: str, runner: asyncio.Runner) -> None:
        is_command = line.startswith("/")
        try:
            if is_command:
                write_plain(f"{runner.run(self._run_command(line)).rstrip()}\n")
            else:
                runner.run(self._ask(line.strip()))
        except KeyboardInterrupt:
            if not self._is_typed:
                raise
            write_plain("\nStopped.\n" if is_command else "\nStopped. What came so far is kept.\n")

    async def _ask(self, question: str) -> None:
        writer = AnswerWriter()
        try:
            async with aclosing(self._agent.ask(question)) as events:  # type: ignore[type-var]
                async for event in events:
                    self._show(event, writer)
        except asyncio.CancelledError:
            writer.end_line()
            raise

    def _show(self, event: ConversationEvent, writer: AnswerWriter) -> None:
        match event:
            case QuestionAsked():
                name, model = self._agent.model.name, self._agent.model
                waits = f"{plain_line(name)} is answering; ctrl+c stops it."
                write_notes(filter(None, [find_note(model), waits if self._is_typed and name != OFFLINE else ""]))
            case StepStarted():
                writer.begin_step()
            case AnswerStreamed(text=text):
                writer.add(text)
            case QuestionAnswered():
                writer.finish(event.answer)
                self._has_failed = self._has_failed or event.stopped in (Stopped.ERROR, Stopped.COST)
                lines = ["", *(["Sources:"] if event.citations else []), *describe_sources(self._agent, event)]
                write_plain("".join(f"{line}\n" for line in lines))
                if event.error:
                    warn(event.error)
            case _:
                writer.end_line()
                write_notes(write_lines(event, self._session.state.library))

    async def _run_command(self, line: str) -> str:
        """Carry out a command, and return what to tell; what a person did wrong is told too."""
        name, _, text = line.strip().partition(" ")
        try:
            return await self._obey(name.lower(), text.strip())
        except RoamtuiError as error:
            return str(error)

    async def _obey(self, name: str, text: str) -> str:
        match name:
            case "/outline":
                told = await self._outline(text)
            case "/read":
                told = await self._read(text)
            case "/search":
                told = self._search(text)
            case "/open" | "/close" | "/pin":
                told = await self._change(name, text)
            case "/sections":
                told = _list_open(self._session.state)
            case "/model":
                told = await self._choose_model(text)
            case "/remember":
                example = "Say what to remember, such as: /remember Answer in German."
                told = self._context.remember(text) if text else example
            case "/help":
                told = _HELP
            case _:
                hint = "/help lists them; a space before the slash makes the line a question."
                told = f"There is no command {name}. {hint}"
        return told

    async def _dispatch(self, command: Command) -> list[str]:
        events = self._session.dispatch(command)
        return [line async for event in events for line in write_lines(event, self._session.state.library)]

    async def _outline(self, text: str) -> str:
        """Return a line for each section directly below a node, in ranges where there are too many for one page.

        Args:
            text: An id, a range such as ``07f3277d:c2``, a title that only one section has, or nothing for the top.
        """
        told: list[str] = []
        library = self._session.state.library
        reference = parse_reference(text) if text else Reference(section_id=library.title_id() or library.root_id)
        if reference is None or (reference.section_id != library.root_id and reference.section_id not in library):
            ids, told = _find_sections(library, text)
            if not ids:
                return "\n".join(told)
            reference = Reference(section_id=ids[0])
        section_id = reference.section_id
        if can_load(library, section_id):
            told += await self._dispatch(UnfoldNodes(section_ids=(section_id,)))
        state = self._session.state
        ranges = Ranges.of(state.library, section_id)
        bounds = ranges.find(reference.steps)
        if bounds is None:
            return f"There is no range {text}."
        is_top = section_id == state.library.root_id
        told.append(state.library.title if is_top else _describe_node(state, section_id))
        listed = ranges.children[slice(*bounds)]
        if not ranges.children:
            told.append("Nothing lies below it.")
        elif len(listed) > LISTED_MAX:
            told += ranges.describe(section_id, reference.steps)
        else:
            told += [f"- {_describe_node(state, child)}" for child in listed]
        return "\n".join(told)

    async def _read(self, text: str) -> str:
        """Return the text of sections, with all below where that is short, else with a word on what lies below."""
        ids, told = _find_sections(self._session.state.library, text)
        for section_id in ids:
            told += await self._dispatch(ReadSection(section_id=section_id))
            library = self._session.state.library
            node = library.node(section_id)
            is_whole = node.tokens <= WHOLE_TOKENS_MAX or not node.descendants
            span = library.shown_span(section_id) if is_whole else library.shown_own_span(section_id)
            told.append(plain_text(library.text_at(span)).rstrip())
            if not is_whole:
                count = f"{node.descendants} section{'' if node.descendants == 1 else 's'}"
                told.append(f"\n(Below it: {count}. /outline {section_id} lists them.)")
        return "\n".join(told)

    def _search(self, text: str) -> str:
        if self._agent.searcher is None:
            return "Search is off. Set retrieval.mode in config.toml to keyword."
        if not text:
            return "Say what to search for: /search late fee"
        hits = self._agent.searcher.search(text, limit=_HITS_MAX)
        return list_hits(self._session.state.library, hits) or "Nothing found. Try other words."

    async def _change(self, name: str, text: str) -> str:
        """Open, close or pin the sections that are named; pinned ones that are pinned already are let go."""
        state = self._session.state
        found, told = _find_sections(state.library, text)
        if not found:
            return "\n".join(told)
        ids = tuple(found)
        command: Command = CollapseSections(section_ids=ids, origin=Origin.PERSON)
        if name == "/pin":
            opened = [state.find_open(section_id) for section_id in ids]
            are_pinned = all(section is not None and section.is_pinned for section in opened)
            command = PinSections(section_ids=ids, is_pinned=not are_pinned)
        elif name == "/open":
            command = ExpandSections(section_ids=ids, origin=Origin.PERSON)
        return "\n".join((*told, *await self._dispatch(command)))

    async def _choose_model(self, name: str) -> str:
        if not name:
            offers = [f"{offer.name}: {offer.note}" for offer in find_usable_models()]
            return "\n".join((f"{self._agent.model.name} answers. Usable here:", *offers))
        before = self._agent.model
        self._agent.model = self._context.choose_model(name)
        await before.close()
        return f"{self._agent.model.name} answers from now on."


def _find_sections(library: Library, text: str) -> tuple[list[str], list[str]]:
    """Return the sections that are named by ids or a title, whatever its case, and a sentence for each name of none."""
    wanted = plain_line(text).strip("\"'“” ").casefold()
    named = (section_id for section_id in library.walk() if library.title_of(section_id).casefold() == wanted)
    titled = list(islice(named, _TITLED_MAX)) if wanted else []
    if len(titled) > 1:
        lines = [f"- [{section_id}] {name_path(library, section_id)}" for section_id in titled]
        return [], ["Several sections have this title; name one by its id:", *lines]
    if titled:
        return titled, []
    found: list[str] = []
    problems: list[str] = []
    for word in filter(None, _SEPARATORS.split(text)):
        reference = parse_reference(word)
        if reference is not None and reference.section_id in library:
            found.append(reference.section_id)
            continue
        nearest = [f"[{section_id}] {library.title_of(section_id)}" for section_id in find_nearest(library, word)]
        meant = f" Did you mean {', '.join(nearest)}?" if nearest else ""
        problems.append(f'There is no section "{word}".{meant}')
    if not found and not problems:
        problems.append("Name a section by its id or its whole title: /outline and /search show them.")
    return list(dict.fromkeys(found)), problems


def _list_open(state: ConversationState) -> str:
    """Return a line for each open section: where it stands, who opened it, whether it is pinned."""
    if not state.open:
        return "No section is open."
    lines = []
    for section in state.open:
        marks = ["opened by you" if section.opened_by is Origin.PERSON else "opened by the model"]
        marks += ["pinned"] if section.is_pinned else []
        marks += ["the model gets its text with your next question"] if not section.deliveries else []
        lines.append(f"[{section.section_id}] {name_path(state.library, section.section_id)}, {', '.join(marks)}")
    lines.append(f"{len(lines)} open, ~{state.open_tokens:,} tokens")
    return "\n".join(lines)


def _describe_node(state: ConversationState, section_id: str) -> str:
    node = state.library.node(section_id)
    found = state.find_open(section_id)
    mark = "" if found is None else ", open and pinned" if found.is_pinned else ", open"
    return f"[{section_id}] {name_node(node)} ({describe_size(state.library, node)}{mark})"
