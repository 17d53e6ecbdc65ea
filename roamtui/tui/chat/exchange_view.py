"""One question with the model's actions, its answer and sources."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from typing_extensions import override

from roamtui.agent.answer import format_verification, list_unopened_hits
from roamtui.agent.passages import read_passage_reply, replies_with_passages
from roamtui.conversation.commands import Origin
from roamtui.conversation.events import (
    AnswerStreamed,
    SearchHit,
    SectionsExpanded,
    SectionsSearched,
    make_draft_events,
)
from roamtui.conversation.notices import Notice, Severity, make_outcome_notices
from roamtui.conversation.state import ConversationState, Exchange
from roamtui.conversation.transcript import Citation, QuoteState, Usage
from roamtui.document.counts import format_count
from roamtui.document.library import Library
from roamtui.document.plain import sanitise_line, sanitise_text, shorten
from roamtui.quotes.source_list import describe_place, find_quote_section, split_source, strip_links
from roamtui.tui.actions import Keymap
from roamtui.tui.chat.answer_view import AnswerView
from roamtui.tui.chat.content_view import ContentView, SectionTarget, TextView, wrap
from roamtui.tui.chat.passages_view import PassagesView
from roamtui.tui.labels import STEP, format_full_path
from roamtui.tui.status_line import adapt_flags, describe_usage, format_key_hint

_STYLES = {Severity.INFO: "$muted", Severity.WARNING: "$warning", Severity.ERROR: "$error"}


class OutcomeView(TextView):
    """The last line of an exchange: how it ended, its steps, tokens and cost."""


class ExchangeView(Vertical):
    """A question, the model's actions, the streamed answer, and its sources."""

    class Resized(Message):
        """The exchange moved or changed its size on the screen."""

    def __init__(
        self,
        number: int,
        question: str,
        about: str,
        keys: Keymap,
    ) -> None:
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
        self._question = QuestionView(question, about)
        self.activity = ActivityView()
        """What the model did, and why the question waits."""
        self._answer = AnswerView()
        self._sources = SourcesView()
        self._outcome = OutcomeView(Content())
        self._passages = PassagesView(keys.format_first_key("section.ask"))
        self.citation_view: SourcesView | PassagesView = self._sources
        """The view whose targets digits select."""
        self.passage_ids: tuple[str, ...] | None = None
        """The sections of the passages that are shown in place of an answer, or None if a reasoning model answered."""
        self._open_key = keys.format_first_key("chat.open_and_ask")
        for view in (self.activity, self._answer, self._sources, self._passages, self._outcome):
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
        yield self._question
        yield self.activity
        yield self._answer
        yield self._sources
        yield self._passages
        yield self._outcome

    def on_resize(self) -> None:
        self.post_message(self.Resized())  # only now the line of the answer is known

    def on_unmount(self) -> None:
        self.refresh()  # releases the drawn lines, as in `ContentView`

    def pop_draft(self) -> tuple[AnswerStreamed, ...]:
        """Remove the text that the model wrote before calling more tools, and return it as events. Empty if none."""
        draft = make_draft_events(self.answer)
        if draft:
            self.answer = ""
            self._answer.finish("", ())
            self._answer.display = False
        return draft

    def append_answer(self, text: str, state: ConversationState) -> None:
        """Append streamed text to the answer. Its quotes are looked up in what the model has read according to `state`.

        Passages are not shown before `finish`.
        """
        self.activity.hide_thinking()
        self.answer += text
        if not replies_with_passages(state.transcript.exchanges[-1]):
            self._answer.display = True
            self._answer.append(text, state)

    def toggle_steps(self) -> ActivityView | None:
        """Fold or unfold the model's actions. Return their view, or None if there are none."""
        return self.activity if self.activity.toggle() else None

    def finish(self, exchange: Exchange, library: Library) -> None:
        """Show the complete answer with its sources, its outcome, and the search results that were not opened."""
        event = exchange.outcome
        self.citations, self.answer = event.citations, event.answer
        reply = read_passage_reply(exchange, library)
        if reply is not None:
            self._passages.show_reply(reply, exchange.question, library)
            self._passages.display = True
            self.citation_view = self._passages
            self.passage_ids = tuple(dict.fromkeys(passage.citation.section_id for passage in reply.passages))
        else:
            self._answer.display = bool(event.answer.strip())
            self._answer.finish(event.answer, event.citations)
            self._sources.show_citations(event.citations, event.answer, library)
            self._sources.display = bool(event.citations)
        is_folded = self._answer.display or self._passages.display
        self.activity.finish(count_steps(exchange), exchange.usage, is_folded=is_folded)
        self.unopened = list_unopened_hits(exchange, library)
        notices = make_outcome_notices(event) if reply is None or not reply.missing else ()
        outcome = format_outcome(notices, self.unopened, self._open_key)
        self._outcome.show_words(outcome)
        self._outcome.display = bool(outcome)


def count_steps(exchange: Exchange) -> str:
    """Return how often the model searched and how many sections it opened, in a few words."""
    searches = sum(isinstance(event, SectionsSearched) for event in exchange.events)
    opened = {
        section_id
        for event in exchange.events
        if isinstance(event, SectionsExpanded) and event.origin is Origin.AGENT
        for section_id in event.opened_ids
    }
    searched = f"searched {'once' if searches == 1 else f'{searches} times'}, " if searches else ""
    return f"{searched}opened {format_count(len(opened), 'section') if opened else 'no sections'}"


def format_outcome(notices: Iterable[Notice], unopened: Sequence[SearchHit], open_key: str) -> Content:
    """Format how an exchange ended, and which key opens likely sections."""
    parts: list[Content] = []
    for notice in notices:
        sign = "✗ " if notice.severity is Severity.ERROR else ""
        parts.append(Content.styled(f"{sign}{adapt_flags(notice.text)}", _STYLES[notice.severity]))
    if count := len(unopened):
        sections, them = ("section was", "it") if count == 1 else ("sections were", "them")
        parts += (
            Content(f"{count} likely {sections} not read"),
            format_key_hint(open_key, f"opens {them} and asks again"),
        )
    return Content(" · ").join(parts)


_QUESTION_LENGTH_MAX = 4_000
"""In characters. A question with a whole pasted page would push its answer out of view."""
_PROMPT = Content.styled("❯ ", "bold $secondary")


class QuestionView(TextView):
    """The person's question."""

    def __init__(self, question: str, about: str) -> None:
        words = Content.styled(shorten(sanitise_text(question), _QUESTION_LENGTH_MAX), "bold")
        if about:
            words += Content("\n") + Content.styled(f"in {sanitise_line(about)}", "$accent")
        super().__init__(words, lead=_PROMPT, follow="  ")


_TITLES_MAX = 12
_THOUGHT_LENGTH = 160
_TITLE_LENGTH = 48


class ActivityView(ContentView):
    """The model's actions, oldest first. Once it has answered, a summary is above them.

    Each section that is named is a target.
    """

    def __init__(self) -> None:
        super().__init__()
        self.notices: list[Notice] = []
        """The actions so far."""
        self.is_waiting = False
        """Whether the question waits, and nothing has arrived yet."""
        self._thought = ""
        self._summary = ""
        self._usage = Usage()
        self._is_folded = False

    def finish(self, summary: str, usage: Usage, *, is_folded: bool) -> None:
        """Show the summary of all actions if there were any, and the actions only if not folded."""
        if self.notices or usage.input_tokens or usage.output_tokens:
            self._summary, self._usage, self._is_folded = summary, usage, is_folded
        self._show("")

    def toggle(self) -> bool:
        """Fold or unfold the actions of a finished exchange. Return false if it has none or is not finished."""
        is_possible = bool(self._summary and self.notices)
        if is_possible:
            self._is_folded = not self._is_folded
            self.invalidate()
        return is_possible

    def _draw_summary(self) -> Content:
        sign = ("▸" if self._is_folded else "▾") if self.notices else "·"
        summary = Content.assemble((f"{sign} ", "$accent"), self._summary)
        if self._usage.input_tokens or self._usage.output_tokens:
            summary += f" · {describe_usage(self._usage, is_short=self._is_folded)}"
        problems = sum(notice.severity is not Severity.INFO for notice in self.notices)
        if problems and self._is_folded:
            words = format_count(problems, "warning")
            summary = Content.assemble(summary, " · ", (words, _STYLES[Severity.WARNING]))
        return summary

    def add(self, notice: Notice) -> None:
        self.notices.append(notice)
        self._show("")

    def show_waiting(self) -> None:
        """Say that the question waits, until the next event."""
        self._show("Waiting for the answer")
        self.is_waiting = True

    def show_thought(self, text: str) -> None:
        """Show the end of the model's thinking until the next event."""
        thought = text if self.is_waiting else self._thought + text
        self._show(sanitise_line(thought[-4 * _THOUGHT_LENGTH :]))

    def hide_thinking(self) -> None:
        if self._thought:
            self._show("")

    def _show(self, thought: str) -> None:
        self.is_waiting = False
        self._thought = thought
        self.display = bool(self.notices or self._summary or thought)
        self.invalidate()

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
        if self._thought:
            thought = Content.styled(self._thought[-_THOUGHT_LENGTH:], "italic $muted")
            lines += wrap(thought, width, lead=Content.styled("… ", "$accent"), follow="  ")
        return Content("\n").join(lines)


_QUOTE_LENGTH = 140


class SourcesView(ContentView):
    """The citations by number, each with the place of its quote in the document."""

    def __init__(self) -> None:
        super().__init__()
        self._citations: tuple[Citation, ...] = ()
        self._sources: list[Content] = []
        self._places: list[str] = []
        self._answer = ""

    def show_citations(self, citations: tuple[Citation, ...], answer: str, library: Library) -> None:
        """Show citations in the order of their numbers, without repeating quotes that `answer` already contains."""
        self._citations = citations
        self._answer = strip_links(answer)
        section_ids = [find_quote_section(citation, library) for citation in citations]
        self.targets = tuple(map(SectionTarget, section_ids, citations))
        self._sources = [_format_source(citation, library) for citation in citations]
        self._places = [
            describe_place(citation, format_full_path(library, section_id))
            for citation, section_id in zip(citations, section_ids, strict=True)
        ]
        self.invalidate()

    @override
    def render_content(self, width: int) -> Content:
        is_verified = all(citation.is_verified for citation in self._citations if citation.quote is not None)
        heading = Content.styled("Sources", "bold $muted")
        proof = format_verification(self._citations)
        lines = [heading + Content.styled(f"  {proof}" if proof else "", "$success" if is_verified else "$warning")]
        indent = len(str(len(self._citations))) + 2
        for index, (citation, place) in enumerate(zip(self._citations, self._places, strict=True)):
            style = "$success" if citation.is_verified else _COLOURS.get(citation.state, "$muted")
            source = Content.styled(f"{citation.state.sign} " if citation.state.sign else "", style)
            source += self._sources[index]
            if place:
                source += Content.styled(" · ", "$muted") + Content.styled(
                    place, _COLOURS.get(citation.state, "$muted")
                )
            quote = strip_links(citation.quote or "")
            if quote not in self._answer:
                source += Content.styled(f" “{shorten(quote, _QUOTE_LENGTH)}”", "italic")
            number = Content.styled(f"{index + 1:>{indent - 1}} ", "bold $accent")
            lines += wrap(self.attach(source, index), width, lead=number, follow=" " * indent)
        return Content("\n").join(lines)


def _format_source(citation: Citation, library: Library) -> Content:
    """Format the section of a citation. If there are several documents, the name of its document comes first."""
    name, title = split_source(citation, library)
    lead = Content.styled(f"{name}{STEP}", "$muted") if name else Content()
    return lead + Content.styled(title, "bold")


_COLOURS = {
    QuoteState.ELSEWHERE: "$warning",
    QuoteState.NOT_FOUND: "$error",
}
