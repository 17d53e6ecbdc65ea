"""`roamtui SOURCE --plain`: a conversation as lines of text, for a screen reader, a dumb terminal or a pipe.

There are no colours or cursor movements, and written text never changes. Each line of input is a question.
"""

import asyncio
import os
import signal
import sys
from contextlib import suppress

from roamtui.agent.agent import Agent
from roamtui.conversation.library_loader import ApprovalRequest, deny
from roamtui.errors import RoamtuiError
from roamtui.headless.ask import AnswerWriter
from roamtui.output import confirm, warn, write_display
from roamtui.program import QUIT_WORDS
from roamtui.sanitiser import sanitise_line
from roamtui.signals import end_after_task
from roamtui.text import format_count

_PROMPT = "Ask: "


async def approve(approval: ApprovalRequest) -> bool:
    """Ask the person to approve a request. ctrl+c and ctrl+d mean no."""
    previous_handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return confirm(f"{approval.question} {approval.detail}")
    except KeyboardInterrupt:
        return False
    finally:
        signal.signal(signal.SIGINT, previous_handler)


class PlainChat:
    """Reads questions as lines, and writes their answers."""

    def __init__(self, agent: Agent) -> None:
        self._agent = agent
        self._conversation = agent.conversation
        self._writer = AnswerWriter(agent, is_watched=True)
        self._is_typed = sys.stdin.isatty()
        self._has_failed = False
        self._conversation.approver = approve if self._is_typed else deny

    def run(self, first_question: str = "") -> int:
        """Answer lines until the input ends or the person quits. Return 1 if a question of a pipe failed."""
        os.environ["TERM"] = "dumb"  # keeps readline and answers from writing escape sequences
        if self._is_typed:
            with suppress(ImportError):  # not available on Windows
                import readline  # noqa: F401, PLC0415 - importing it gives `input` a history
        with suppress(AttributeError):
            sys.stdin.reconfigure(errors="replace")  # type: ignore[union-attr]
        self._greet()
        if first_question:
            write_display(f"\n{_PROMPT}{first_question}\n")
        with asyncio.Runner() as runner:
            try:
                line = first_question or self._read_line()
                while line is not None:
                    try:
                        runner.run(self._ask(line))
                    except RoamtuiError as error:
                        self._has_failed = True
                        write_display(f"{error}\n")
                    except KeyboardInterrupt:
                        if not self._is_typed:
                            raise
                        write_display("\nStopped. What has arrived is kept.\n")
                    line = self._read_line()
            finally:
                runner.run(self._agent.model.close())
                if failure := self._conversation.close():
                    warn(failure)
        return int(self._has_failed and not self._is_typed)

    def _greet(self) -> None:
        state = self._conversation.state
        title = sanitise_line(state.library.title)
        size = format_count(state.library.section_count, "section")
        write_display(f"{title}, {size}. {self._agent.model.name} answers.\n")
        if exchanges := state.exchanges:
            last = exchanges[-1]
            write_display(f"Resumed after question {last.number}: {last.question}\n{last.answer.strip()}\n")
        if self._is_typed:
            write_display("Ask one question on each line. ctrl+c stops the answer, ctrl+d or “quit” quits.\n")

    def _read_line(self) -> str | None:
        """Return the next line that is not blank, or None if the input ends or the person quits."""
        while True:
            try:
                line = input(f"\n{_PROMPT}").strip()
            except EOFError:
                write_display("\n")
                return None
            except KeyboardInterrupt:
                if not self._is_typed:
                    raise
                write_display("\nctrl+d quits.\n")
                continue
            if not self._is_typed:  # answers to piped questions need headings
                write_display(f"{line}\n")
            if line in QUIT_WORDS:
                return None
            if line:
                return line

    async def _ask(self, question: str) -> None:
        try:
            with end_after_task():
                await self._agent.ask(question)
        finally:
            self._has_failed = self._writer.write_answer() == 1 or self._has_failed
