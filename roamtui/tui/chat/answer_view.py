"""The text of an answer, while it streams and when it is complete."""

from __future__ import annotations

from collections.abc import Sequence
from time import monotonic

from textual.content import Content
from textual.timer import Timer
from typing_extensions import override

from roamtui.conversation.state import ConversationState
from roamtui.conversation.transcript import Citation, QuoteState
from roamtui.markdown.blocks import Link
from roamtui.markdown.layout import MarkdownLayout
from roamtui.markdown.lines import Line
from roamtui.quotes.answer_markdown import read_answer_markdown
from roamtui.quotes.verdicts import QuoteChecker, make_proof
from roamtui.tui.chat.content_view import ContentView, LinkTarget, SectionTarget
from roamtui.tui.run_styles import add_code_background, render_run

_PAUSE_SECONDS_MIN = 1 / 60
_PAUSE_FACTOR = 4
"""The pause between two drawings, as a multiple of the drawing time, so that a long answer leaves time for keys."""
QUOTE_COLOURS = {
    QuoteState.FOUND: "$text-success",
    QuoteState.ELSEWHERE: "$text-warning",
    QuoteState.NOT_FOUND: "$text-error",
    QuoteState.NO_QUOTE: "$accent",
}


class AnswerView(ContentView):
    """Markdown whose quotes are coloured by their verdict and whose citation marks show their numbers.

    A mark leads to its section, and a link to its page.
    """

    def __init__(self) -> None:
        super().__init__()
        self.text = ""
        """The answer as the model wrote it."""
        self.proof = make_proof("", ())
        """The quotes and citations of the answer so far, with their verdicts."""
        self._citations: tuple[Citation, ...] = ()
        self._checker: QuoteChecker | None = None
        """Looks up the quotes while an answer streams in. None if no answer is streaming in."""
        self._drawing_seconds = 0.0
        self._timer: Timer | None = None

    def append(self, text: str, state: ConversationState) -> None:
        """Append streamed text. Its quotes are looked up in what was read in this conversation so far."""
        self.text += text
        if self._checker is None:
            self._checker = QuoteChecker(state)
        if self._timer is None:
            pause_seconds = max(_PAUSE_SECONDS_MIN, self._drawing_seconds * _PAUSE_FACTOR)
            self._timer = self.set_timer(pause_seconds, self._draw_streamed)

    def finish(self, text: str, citations: tuple[Citation, ...]) -> None:
        """Show the complete answer."""
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        self.text = text
        self._checker = None
        self._citations = citations
        self.proof = make_proof(text, citations)
        self.invalidate()

    def _draw_streamed(self) -> None:
        self._timer = None
        self.invalidate()

    @override
    def render_content(self, width: int) -> Content:
        started = monotonic()
        if self._checker is not None:
            self._citations = self._checker.cite(self.text)
            self.proof = make_proof(self.text, self._citations)
        markdown = read_answer_markdown(self.text, self.proof)
        first_id = self._citations[0].section_id if self._citations else None
        targets: list[SectionTarget | LinkTarget] = []
        for link in markdown.links:
            if link.is_reference_mark:
                mark = self.proof.marks[int(link.href)]
                citation = self._citations[mark.numbers[0] - 1] if self._citations and mark.numbers else None
                targets.append(SectionTarget(mark.section_id, citation))
            else:
                targets.append(LinkTarget(link.href, first_id))
        self.targets = targets
        layout = MarkdownLayout(width=width, can_scroll=False)
        layout.add_blocks(markdown.blocks)
        content = Content("\n").join([self._draw_line(line, width, markdown.links) for line in layout.lines])
        self._drawing_seconds = monotonic() - started
        return content

    def _draw_line(self, line: Line, width: int, links: Sequence[Link]) -> Content:
        parts = []
        for run in line.runs:
            words = render_run(run.text, run.style)
            group, index = run.style.quote_number, run.style.link_number
            if index is not None and links[index].is_reference_mark:
                words = Content.styled(
                    run.text, f"bold {QUOTE_COLOURS[self.proof.marks[int(links[index].href)].verdict]}"
                )
            elif group is not None:
                state = self.proof.quotes[group].state
                line_style = "strike" if state is QuoteState.NOT_FOUND else "underline"
                words = words.stylize(f"{line_style} {QUOTE_COLOURS[state]}")
            if index is not None:
                words = self.attach(words, index)
            parts.append(words)
        content = Content("").join(parts)
        return add_code_background(content, width) if line.is_code else content
