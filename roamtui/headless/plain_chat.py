"""`roamtui SOURCE --plain`: a conversation in lines, for a screen reader, a dumb terminal or a pipe.

No colours and no cursor movement: what was written stays as it was.
"""

from __future__ import annotations

import asyncio
import os
import re
import signal
import sys
from contextlib import aclosing, suppress
from typing import assert_never

from roamtui.conversation.commands import Approval, CostApproval, OriginApproval
from roamtui.conversation.events import AnswerStreamed, ConversationEvent, QuestionAnswered, QuestionAsked, StepStarted
from roamtui.conversation.narration import write_lines
from roamtui.conversation.transcript import Stopped
from roamtui.document.plain import plain_line
from roamtui.headless.ask import describe_sources
from roamtui.headless.output import write_note, write_notes, write_plain
from roamtui.headless.plain_commands import LEAVE, PlainContext, run_plain_command
from roamtui.models.base import find_note
from roamtui.models.choose import OFFLINE

_PROMPT = "Ask: "
_SPOKEN_END = re.compile(r"[.!?:;][\"')\]*_]*\s|\n")
_FAILURES = (Stopped.ERROR, Stopped.COST)


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


class PlainApprover:
    """Asks the person on a line of its own."""

    async def approve(self, approval: Approval) -> bool:
        """Return whether the person said yes; ctrl+c and ctrl+d say no."""
        match approval:
            case CostApproval(spent_usd=spent, cap_usd=cap):
                return _confirm(f"${spent:.4f} spent, ${cap:.2f} allowed. Go on? [y/N] ")
            case OriginApproval(host=host, urls=urls):
                pages = "a page" if len(urls) == 1 else f"{len(urls)} pages"
                return _confirm(f"Fetch {pages} from {plain_line(host)}, for this conversation? [y/N] ")
            case _:
                assert_never(approval)


def _confirm(question: str) -> bool:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return input(question).strip().lower() in ("y", "yes")
    except (EOFError, KeyboardInterrupt):
        return False
    finally:
        signal.signal(signal.SIGINT, before)


class PlainChat:
    """Reads lines, asks, and tells what happens."""

    def __init__(self, context: PlainContext) -> None:
        self._context = context
        self._agent = context.agent
        self._is_typed = sys.stdin.isatty()
        self._has_failed = False
        if self._is_typed:
            self._agent.session.approver = PlainApprover()

    def run(self) -> int:
        """Talk until the input ends or the person leaves; return the exit status."""
        self._greet()
        with asyncio.Runner() as runner:
            try:
                while (line := self._read_line()) is not None:
                    if not line.strip():
                        continue
                    if line.strip().lower() in LEAVE:
                        break
                    self._take(line, runner)
            finally:
                runner.run(self._agent.model.close())
                self._agent.session.save_now()
        return 1 if self._has_failed and not self._is_typed else 0

    def _greet(self) -> None:
        state = self._agent.session.state
        count = len(state.library)
        write_notes(self._context.notes)
        title = plain_line(state.library.title)
        write_plain(f"{title}, {count:,} section{'' if count == 1 else 's'}. {self._agent.model.name} answers.\n")
        for event in self._agent.session.opening_events:
            self._tell(event)
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
                write_plain(f"{runner.run(run_plain_command(self._context, line)).rstrip()}\n")
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
        if isinstance(event, QuestionAsked):
            name = self._agent.model.name
            waits = f"{plain_line(name)} is answering; ctrl+c stops it." if self._is_typed and name != OFFLINE else ""
            write_notes(filter(None, [find_note(self._agent.model), waits]))
        elif isinstance(event, StepStarted):
            writer.begin_step()
        elif isinstance(event, AnswerStreamed):
            writer.add(event.text)
        elif isinstance(event, QuestionAnswered):
            writer.finish(event.answer)
            self._finish(event)
        else:
            writer.end_line()
            self._tell(event)

    def _finish(self, event: QuestionAnswered) -> None:
        self._has_failed = self._has_failed or event.stopped in _FAILURES
        head = ("Sources:",) if event.citations else ()
        lines = ("", *head, *describe_sources(self._agent, event))
        write_plain("".join(f"{line}\n" for line in lines))
        if event.error:
            write_note(f"roamtui: {event.error}")

    def _tell(self, event: ConversationEvent) -> None:
        write_notes(write_lines(event, self._agent.session.state.library))


def run_plain_chat(context: PlainContext) -> int:
    """Talk about a document in lines of text, and return the exit status."""
    if sys.stdin.isatty():
        _prepare_line_editing()
    with suppress(AttributeError):
        sys.stdin.reconfigure(errors="replace")  # type: ignore[union-attr]
    return PlainChat(context).run()


def _prepare_line_editing() -> None:
    """Let `input` keep a history where the library for it is there, and show what is edited without sequences."""
    os.environ["TERM"] = "dumb"
    try:
        import readline  # noqa: F401, PLC0415 - `input` uses it once it is imported; not on every machine
    except ImportError:
        return
