"""`LiveAnswer`: shows an answer in a terminal while it arrives, and a spinner before its first word."""

import asyncio
import re
import shutil
from math import ceil
from time import monotonic

from roamtui.agent.agent import Agent
from roamtui.conversation.events import (
    AnswerStreamed,
    ConversationEvent,
    QuestionAnswered,
    QuestionDropped,
    QuestionReceived,
    StepStarted,
    ThinkingStreamed,
)
from roamtui.conversation.progress import SPINNER_SECONDS, ReplyProgress, get_spinner_frame
from roamtui.headless.answer_lines import can_show_styles, get_answer_width, render_answer
from roamtui.markdown.lines import measure
from roamtui.output import ProgressLine, write_raw
from roamtui.quotes.verdicts import QuoteChecker, make_proof

_STYLE = re.compile(r"\x1b\[[\d;]*m")


class RewritableText:
    """Text in a terminal that can be replaced. Only lines from the first change on are written again.

    Lines that have scrolled off the screen cannot be changed. If the last text differs in one of them, all of
    it is written again below.
    """

    def __init__(self) -> None:
        self._lines: list[str] = []

    def show(self, text: str, *, is_last: bool = False) -> None:
        """Replace the text. Each of its lines must end with a line end. `is_last` is for the final text."""
        lines = text.splitlines(keepends=True)
        same = 0
        while same < min(len(lines), len(self._lines)) and lines[same] == self._lines[same]:
            same += 1
        size = shutil.get_terminal_size()
        widths = (measure(_STYLE.sub("", line.rstrip("\n"))) for line in self._lines)
        rows = [max(1, ceil(width / size.columns)) for width in widths]
        first = len(rows)
        back = 0
        while first > same and back + rows[first - 1] < size.lines:
            first -= 1
            back += rows[first]
        has_left = first > same
        written = lines if has_left and is_last else lines[first:]
        if written or back:
            write_raw((f"\x1b[{back}F\x1b[J" if back else "") + "".join(written))
        self._lines = [*self._lines[:first], *lines[first:]] if lines else []


class LiveAnswer:
    """Follows a conversation, and writes the answer, with verdicts on its quotes, while it arrives."""

    def __init__(self, agent: Agent, *, is_streaming: bool) -> None:
        """Follow the conversation of `agent`. Without `is_streaming`, write only the spinner."""
        self._agent = agent
        self._is_streaming = is_streaming
        self._answer = ""
        self._checker: QuoteChecker | None = None
        self._text = RewritableText()
        self._spinner = ProgressLine()
        self._reply = ReplyProgress()
        self._timer: asyncio.TimerHandle | None = None
        """Draws again after a pause. None unless a question is being answered."""
        agent.conversation.subscribe(self._handle_event)

    def write_last(self, text: str) -> None:
        """Write the complete answer and its sources over what was streamed."""
        self.stop()
        self._text.show(text, is_last=True)

    def stop(self) -> None:
        """Stop drawing, and clear the spinner."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._spinner.show("")

    def _handle_event(self, event: ConversationEvent) -> None:
        self._reply.handle_event(event)
        if isinstance(event, StepStarted):  # text before another step was not the answer
            self._answer = ""
            self._checker = None
        match event:
            case AnswerStreamed(text=text):
                self._answer += text
            case ThinkingStreamed(replaces_answer=replaces_answer):
                if replaces_answer:
                    self._answer = ""
            case QuestionReceived():
                self._draw()
            case QuestionAnswered() | QuestionDropped():
                self.stop()
            case _:  # other subscribers may write a line about the event
                self._spinner.show("")
                self._text.show("")

    def _draw(self) -> None:
        exchanges = self._agent.conversation.state.exchanges
        if self._is_streaming and self._answer.strip() and not exchanges[-1].has_passages:
            self._spinner.show("")
            if self._checker is None:
                self._checker = QuoteChecker(self._agent.conversation.state)
            library = self._agent.conversation.state.library
            proof = make_proof(self._answer, self._checker.list_citations(self._answer), library)
            answer = render_answer(proof, width=get_answer_width(), is_styled=can_show_styles())
            self._text.show(answer)
        else:
            frame = get_spinner_frame(monotonic())
            self._spinner.show(f"{frame} {self._agent.model.name}: {self._reply.describe()} · ctrl+c stops")
        self._timer = asyncio.get_running_loop().call_later(SPINNER_SECONDS, self._draw)
