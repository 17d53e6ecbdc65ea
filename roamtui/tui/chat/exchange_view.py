"""One question with the model's actions, its answer and sources."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from time import monotonic

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.style import Style
from textual.timer import Timer
from typing_extensions import override

from roamtui.agent.answer import list_unopened_hits
from roamtui.agent.offline import replies_with_passages
from roamtui.conversation.events import Citation, QuoteState, SearchHit, SectionsExpanded, SectionsSearched, Usage
from roamtui.conversation.notices import Notice, NoticeSlot, Severity, make_notices, make_outcome_notices
from roamtui.conversation.state import ConversationState, Exchange
from roamtui.document.library import Library
from roamtui.document.plain import format_count, sanitise_line, sanitise_text, shorten
from roamtui.markdown.blocks import Link
from roamtui.markdown.layout import MarkdownLayout
from roamtui.markdown.lines import Line
from roamtui.quotes.answer_markdown import read_answer_markdown
from roamtui.quotes.source_list import (
    describe_place,
    find_quote_section,
    format_verification,
    split_source,
    strip_links,
)
from roamtui.quotes.verdicts import QuoteChecker, make_proof
from roamtui.tui.actions import Keymap
from roamtui.tui.chat.content_view import ContentView, LinkTarget, SectionTarget, TextView, wrap
from roamtui.tui.chat.passages_view import PassagesView
from roamtui.tui.labels import STEP, adapt_flags, describe_usage, format_full_path
from roamtui.tui.run_styles import TARGET_META, add_code_background, render_run
from roamtui.tui.status_line import format_key_hint

_STYLES = {Severity.INFO: "$muted", Severity.WARNING: "$warning", Severity.ERROR: "$error"}


class ExchangeView(Vertical):
    """A question, the model's actions, the streamed answer, and its sources."""

    class Resized(Message):
        """The exchange moved or changed its size on the screen."""

    def __init__(self, number: int, question: str, about: str, keys: Keymap) -> None:
        """Show a question.

        Args:
            number: The question's number in the conversation.
            question: The question's text.
            about: The section that the question is limited to, or empty for the whole document.
            keys: The keys to name in hints.
        """
        super().__init__()
        self.number = number
        """Number of the question in the conversation."""
        self.activity = ActivityView()
        """What the model did, and why the question waits."""
        self._question = QuestionView(question, about)
        self._answer = AnswerView()
        self._sources = SourcesView()
        self._passages = PassagesView(keys.format_first_key("section.ask"))
        self.citation_view: SourcesView | PassagesView = self._sources
        """The view whose targets digits select."""
        self.passage_ids: tuple[str, ...] | None = None
        """The sections of the passages that are shown in place of an answer, or None if a reasoning model answered."""
        self._open_key = keys.format_first_key("chat.open_and_ask")
        for view in (self._answer, self._sources, self._passages):
            view.display = False
        self.citations: tuple[Citation, ...] = ()
        """The citations of the finished answer."""
        self.answer = ""
        """The answer so far, as the model wrote it."""
        self.unopened: tuple[SearchHit, ...] | None = None
        """Search results that were not opened, or None before the exchange has ended."""

    @property
    def answer_line(self) -> int | None:
        """Line of this view where the answer or its passages start, or None if there is no answer yet."""
        shown = (view.virtual_region.y for view in (self._answer, self._passages) if view.display)
        return next(shown, None)

    @override
    def compose(self) -> ComposeResult:
        yield from (self._question, self.activity, self._answer, self._passages, self._sources)

    def on_resize(self) -> None:
        self.post_message(self.Resized())  # only now the line of the answer is known

    def on_unmount(self) -> None:
        self.refresh()  # releases the drawn lines, as in `ContentView`

    def show_actions(self, exchange: Exchange, library: Library) -> None:
        """Show what the model did so far. Text that it wrote before is one of its actions, as it continues to work."""
        notices = [notice for event in exchange.events for notice in make_notices(event, library)]
        actions = [notice for notice in notices if notice.slot is NoticeSlot.ACTIVITY]
        if len(actions) > len(self.activity.notices):
            self.answer = ""
            self._answer.finish("", ())
            self._answer.display = False
            self.activity.show_actions(actions)

    def append_answer(self, text: str, state: ConversationState) -> None:
        """Append streamed text to the answer. Its quotes are looked up in what the model has read according to `state`.

        Passages are not shown before `finish`.
        """
        self.activity.show_status("")
        self.answer += text
        if not replies_with_passages(state.transcript.exchanges[-1]):
            self._answer.display = True
            self._answer.append(text, state)

    def unfold_passages(self) -> bool:
        """Unfold or fold the passages of cards. Return false if there are none."""
        return self._passages.display and self._passages.action_unfold()

    def finish(self, exchange: Exchange, library: Library) -> None:
        """Show the complete answer with its sources, its outcome, and the search results that were not opened."""
        self.show_actions(exchange, library)
        self.citations, self.answer = exchange.citations, exchange.answer
        if replies_with_passages(exchange) and self._passages.show_reply(exchange, library):
            self._passages.display = True
            self.citation_view = self._passages
            self.passage_ids = tuple(dict.fromkeys(citation.section_id for citation in self.citations))
        else:
            self._answer.display = bool(self.answer.strip())
            self._answer.finish(self.answer, self.citations)
            self._sources.show_citations(self.citations, self.answer, library)
        is_folded = self._answer.display or self._passages.display
        self.activity.finish(count_steps(exchange), exchange.usage, is_folded=is_folded)
        self.unopened = list_unopened_hits(exchange, library)
        notices = make_outcome_notices(exchange.outcome) if self.passage_ids != () else ()
        self._sources.show_outcome(notices, len(self.unopened), self._open_key)


def count_steps(exchange: Exchange) -> str:
    """Return how often the model searched and how many sections it opened, in a few words."""
    searches = sum(isinstance(event, SectionsSearched) for event in exchange.events)
    batches = [event for event in exchange.events if isinstance(event, SectionsExpanded)]
    opened = {section_id for batch in batches for section_id in batch.opened_ids}
    searched = f"searched {'once' if searches == 1 else f'{searches} times'}, " if searches else ""
    return f"{searched}opened {format_count(len(opened), 'section') if opened else 'no sections'}"


_QUESTION_LENGTH_MAX = 4_000
"""In characters. A question with a whole pasted page would push its answer out of view."""


class QuestionView(TextView):
    """The person's question."""

    def __init__(self, question: str, about: str) -> None:
        words = Content.styled(shorten(sanitise_text(question), _QUESTION_LENGTH_MAX), "bold")
        if about:
            words += Content("\n") + Content.styled(f"in {sanitise_line(about)}", "$accent")
        super().__init__(words, lead=Content.styled("❯ ", "bold $secondary"), follow="  ")


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
                verdict = self.proof.marks[int(links[index].href)].verdict
                words = Content.styled(run.text, f"bold {QUOTE_COLOURS[verdict]}")
            elif group is not None:
                state = self.proof.quotes[group].state
                line_style = "strike" if state is QuoteState.NOT_FOUND else "underline"
                words = words.stylize(f"{line_style} {QUOTE_COLOURS[state]}")
            if index is not None:
                words = self.attach(words, index)
            parts.append(words)
        content = Content("").join(parts)
        return add_code_background(content, width) if line.is_code else content


_TITLES_MAX = 12
_STATUS_LENGTH = 160
_TITLE_LENGTH = 48
_WAITING = "Waiting for the answer"


class ActivityView(ContentView):
    """The model's actions, oldest first. Once it has answered, a summary is above them, and a click on it folds them.

    Each section that is named is a target.
    """

    def __init__(self) -> None:
        super().__init__()
        self.notices: list[Notice] = []
        """The actions so far."""
        self._status = ""
        """What happens now: waiting, or the end of the model's thinking. The next event ends it."""
        self._summary = ""
        self._usage = Usage()
        self._is_folded = False
        self.display = False

    def show_status(self, words: str = _WAITING) -> None:
        """Show what happens now, until the next event."""
        self._status = words
        self._update()

    def add_thought(self, text: str) -> None:
        """Add to the model's thinking."""
        before = "" if self._status == _WAITING else self._status
        self.show_status(sanitise_line(before + text)[-_STATUS_LENGTH:])

    def show_actions(self, notices: list[Notice]) -> None:
        self.notices = notices
        self.show_status("")

    def finish(self, summary: str, usage: Usage, *, is_folded: bool) -> None:
        """Show the summary of all actions if there were any, and the actions only if not folded."""
        if self.notices or usage.input_tokens or usage.output_tokens:
            self._summary, self._usage, self._is_folded = summary, usage, is_folded
        self.show_status("")

    @on(events.Click)
    def toggle_clicked(self, event: events.Click) -> None:
        """Fold or unfold the actions, unless a section is clicked."""
        if TARGET_META not in event.style.meta:
            self.toggle()

    def toggle(self) -> bool:
        """Fold or unfold the actions of a finished exchange. Return false if it has none or is not finished."""
        is_possible = bool(self._summary and self.notices)
        if is_possible:
            self._is_folded = not self._is_folded
            self._update()
        return is_possible

    def _update(self) -> None:
        self.display = bool(self.notices or self._summary or self._status)
        self.invalidate()

    def _draw_summary(self) -> Content:
        sign = ("▸" if self._is_folded else "▾") if self.notices else "·"
        summary = Content.assemble((f"{sign} ", "$accent"), self._summary)
        if self._usage.input_tokens or self._usage.output_tokens:
            summary += f" · {describe_usage(self._usage, is_short=self._is_folded)}"
        problems = sum(notice.severity is not Severity.INFO for notice in self.notices)
        if problems and self._is_folded:
            summary += Content.assemble(" · ", (format_count(problems, "warning"), _STYLES[Severity.WARNING]))
        return summary

    @override
    def render_content(self, width: int) -> Content:
        lines = wrap(self._draw_summary(), width, follow="  ") if self._summary else []
        targets: list[SectionTarget] = []
        for notice in [] if self._is_folded else self.notices:
            content = Content.styled(sanitise_line(notice.text), _STYLES[notice.severity])
            for number, (section_id, section_title) in enumerate(notice.sections[:_TITLES_MAX]):
                title = shorten(sanitise_line(section_title), _TITLE_LENGTH) or "untitled"
                content += ": " if number == 0 else ", "
                content += self.attach(Content.styled(title, "$foreground"), len(targets))
                targets.append(SectionTarget(section_id))
            if len(notice.sections) > _TITLES_MAX:
                content += f" and {len(notice.sections) - _TITLES_MAX} more"
            lines += wrap(content, width, lead=Content.styled(f"{notice.symbol} ", "$accent"), follow="  ")
        self.targets = targets
        if self._status:
            status = Content.styled(self._status, "italic $muted")
            lines += wrap(status, width, lead=Content.styled("… ", "$accent"), follow="  ")
        return Content("\n").join(lines)


_QUOTE_LENGTH = 140
_COLOURS = {QuoteState.ELSEWHERE: "$warning", QuoteState.NOT_FOUND: "$error"}


class SourcesView(ContentView):
    """The citations by number, each with the place of its quote in the document, and how the exchange ended."""

    def __init__(self) -> None:
        super().__init__()
        self._heading = Content()
        self._sources: list[Content] = []
        self._outcome = Content()

    def show_citations(self, citations: tuple[Citation, ...], answer: str, library: Library) -> None:
        """Show citations in the order of their numbers, without repeating quotes that `answer` already contains."""
        is_verified = all(citation.is_verified for citation in citations if citation.quote is not None)
        proof, style = format_verification(citations), "$success" if is_verified else "$warning"
        self._heading = Content.assemble(("Sources", "bold $muted"), (f"  {proof}" if proof else "", style))
        section_ids = [find_quote_section(citation, library) for citation in citations]
        paths = [format_full_path(library, section_id) for section_id in section_ids]
        shown = strip_links(answer)
        self._sources = [_format_source(*given, shown, library) for given in zip(citations, paths, strict=True)]
        self.targets = tuple(map(SectionTarget, section_ids, citations))
        self._update()

    def show_outcome(self, notices: Iterable[Notice], unopened: int, open_key: str) -> None:
        """Show how the exchange ended, and the key or click that opens likely sections."""
        parts: list[Content] = []
        for notice in notices:
            sign = "✗ " if notice.severity is Severity.ERROR else ""
            parts.append(Content.styled(f"{sign}{adapt_flags(sanitise_line(notice.text))}", _STYLES[notice.severity]))
        if unopened:
            sections, them = ("section was", "it") if unopened == 1 else ("sections were", "them")
            hint = format_key_hint(open_key, f"opens {them} and asks again")
            click = Style.from_meta({"@click": "screen.run('chat.open_and_ask')"})
            parts += (Content(f"{unopened} likely {sections} not read"), hint.stylize(click))
        self._outcome = Content(" · ").join(parts)
        self._update()

    def _update(self) -> None:
        self.display = bool(self._sources or self._outcome)
        self.invalidate()

    @override
    def render_content(self, width: int) -> Content:
        lines = [self._heading] if self._sources else []
        indent = len(str(len(self._sources))) + 2
        for index, source in enumerate(self._sources):
            number = Content.styled(f"{index + 1:>{indent - 1}} ", "bold $accent")
            lines += wrap(self.attach(source, index), width, lead=number, follow=" " * indent)
        if self._outcome:
            lines += [*([Content()] if lines else []), *wrap(self._outcome.stylize_before("$muted"), width)]
        return Content("\n").join(lines)


def _format_source(citation: Citation, path: str, answer: str, library: Library) -> Content:
    """Format the sign, section and place of a citation, and its quote unless the answer has it.

    If there are several documents, the name of its document comes first.
    """
    name, title = split_source(citation, library)
    place, style = describe_place(citation, path), _COLOURS.get(citation.state, "$muted")
    quote = strip_links(citation.quote or "")
    return Content.assemble(
        (f"{citation.state.sign} " if citation.state.sign else "", "$success" if citation.is_verified else style),
        (f"{name}{STEP}" if name else "", "$muted"),
        (title, "bold"),
        (" · " if place else "", "$muted"),
        (place, style),
        (f" “{shorten(quote, _QUOTE_LENGTH)}”" if quote not in answer else "", "italic"),
    )
