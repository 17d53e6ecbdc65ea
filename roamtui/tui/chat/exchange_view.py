"""One question with the model's steps, its answer and sources."""

from time import monotonic

from msgspec import Struct
from textual import events, on
from textual.content import Content
from textual.selection import Selection
from typing_extensions import override

from roamtui.answer_report import AnswerReport, format_basis
from roamtui.conversation.citations import Citation, QuoteState
from roamtui.conversation.events import (
    AnswerStreamed,
    ConversationEvent,
    QuestionAnswered,
    StopReason,
    ThinkingStreamed,
)
from roamtui.conversation.notices import (
    Notice,
    NoticeSlot,
    Severity,
    format_steps,
    format_usage,
    iter_notices,
)
from roamtui.conversation.state import ConversationState, Exchange
from roamtui.document.library import Library
from roamtui.markdown.inline import extract_words
from roamtui.markdown.layout import MarkdownLayout, View
from roamtui.markdown.quoted_sentence import QuotedSentence
from roamtui.outline.labels import PATH_STEP, UNTITLED
from roamtui.quotes.read import replace_verdict_marks
from roamtui.quotes.verdicts import QuoteChecker, Unsourced, VerdictMark, make_proof
from roamtui.quotes.wording import CitationDescription, describe_citation, describe_nearest, simplify_quote
from roamtui.sanitiser import get_isolates, sanitise_line
from roamtui.text import format_count, shorten
from roamtui.tui.actions import Keymap
from roamtui.tui.chat.content_view import (
    ContentView,
    draw_band,
    draw_nearest,
    draw_parts,
    draw_question,
    wrap,
)
from roamtui.tui.chat.passage_cards import PassageCardList
from roamtui.tui.messages import TARGET_META, LinkTarget, SectionTarget, TargetSelected
from roamtui.tui.run_styles import add_code_background, render_run
from roamtui.tui.screen_words import adapt_flags, format_full_path
from roamtui.tui.status_line import format_key_hint

_WAITING = "Waiting for the answer"
_STATUS_LENGTH = 160
_TITLES_MAX = 12
_TITLE_LENGTH = 48
_QUOTE_LENGTH = 140
_SENTENCE_LINES = 3
"""The words around a quote get about this many lines until its source is selected."""
_PAUSE_SECONDS_MIN = 1 / 60
_PAUSE_FACTOR = 4
"""Pause between drawings, as a multiple of the drawing time, so that keys get time."""
_STYLES = {Severity.INFO: "$muted", Severity.WARNING: "$warning", Severity.ERROR: "$error"}
_UNSOURCED_STYLE = "italic $text-warning"
"""Sentences without a source."""


class _Outcome(Struct, frozen=True, kw_only=True):
    """What an exchange ended with: passages, or an answer with sources."""

    passages: PassageCardList | None = None
    """The passages that are shown in place of an answer."""
    unread: tuple[str, ...] = ()
    """The ids of the sections that were found but not read by a model, best first."""
    targets: tuple[SectionTarget, ...] = ()
    """The targets of the sources, or else of the passages."""
    sources: tuple[Content, ...] = ()
    nearest: tuple[Content, ...] = ()
    """For each source: the words nearest to its quote if that is false, or else nothing."""


class ExchangeView(ContentView):
    """A question, the model's steps, the answer as it streams in or passages, and the sources.

    The sections that steps name, the links and marks of the answer, and the sources are targets.
    """

    def __init__(self, exchange: Exchange, library: Library, keys: Keymap) -> None:
        """Show an exchange so far. Hints name `keys`."""
        super().__init__()
        self.exchange = exchange
        self._about = Content("")
        if exchange.within is not None:
            about = f"in {sanitise_line(format_full_path(library, exchange.within))}"
            self._about = Content.styled(about, "bold $accent")
        self._keys = keys
        self._retry_key = keys.first_keys["chat.retry"]
        self.answer = ""
        """The answer so far, as the model wrote it."""
        self.outcome = _Outcome()
        self.source_range = range(0)
        """The indexes of the outcome's targets among all targets. Digits select them."""
        self.step_lines = range(0)
        self.words_start = 0
        """The first line with words of an answer, or of its first passage."""
        self._status = _WAITING
        """What happens now: waiting, or the last words of the model's thoughts. The next event clears it."""
        self._steps: list[Notice] = []
        self._is_folded = False
        """Whether only a summary of the steps is shown."""
        self._library = library
        self._checker: QuoteChecker | None = None
        """Looks up the quotes while an answer streams in. None if no answer is streaming in."""
        self._is_drawing_due = False
        self._drawing_seconds = 0.0
        self.show_progress(exchange, library)

    def handle_event(self, event: ConversationEvent, state: ConversationState) -> None:
        """Show an event of this exchange. Passages are shown only after its end."""
        exchange = state.exchanges[self.exchange.number - 1]  # the next one may have begun already
        match event:
            case AnswerStreamed(text=text):
                self._status = ""
                self.answer += text
                if self._checker is None and not exchange.has_passages:
                    self._checker = QuoteChecker(state)
                if not self._is_drawing_due:
                    self._is_drawing_due = True
                    pause_seconds = max(_PAUSE_SECONDS_MIN, self._drawing_seconds * _PAUSE_FACTOR)
                    self.set_timer(pause_seconds, self.invalidate)
            case ThinkingStreamed(text=text, replaces_answer=replaces_answer):
                if replaces_answer:
                    self.answer = ""
                before = "" if self._status == _WAITING else self._status
                self._status = sanitise_line(before + text)[-_STATUS_LENGTH:]
                self.invalidate()
            case _:
                self.show_progress(exchange, state.library)
                if isinstance(event, QuestionAnswered):
                    for target in self.outcome.targets[:1]:
                        self.post_message(TargetSelected(target))

    def show_progress(self, exchange: Exchange, library: Library) -> None:
        """Show the model's steps so far. Once the exchange has ended, show the answer and sources too.

        Text that the model wrote before calling a tool is shown as a step.
        """
        self.exchange = exchange
        self._library = library
        notices = [notice for event in exchange.events for notice in iter_notices(event, library)]
        steps = [notice for notice in notices if notice.slot is NoticeSlot.STEP]
        has_ended = exchange.stopped is not None
        if has_ended or len(steps) > len(self._steps):
            self._steps = steps
            self._status = ""
            self.answer = exchange.answer if has_ended else ""
            self._checker = None
            self.selected_index = None
            self.invalidate()
        if not has_ended:
            return
        is_not_found = exchange.stopped is StopReason.NOT_FOUND
        if exchange.has_passages and (is_not_found or exchange.passages):
            passages = PassageCardList(exchange, library, self._retry_key)
            unread = dict.fromkeys(citation.section_id for citation in exchange.citations)
            self.outcome = _Outcome(passages=passages, unread=tuple(unread), targets=passages.targets)
        else:
            cited = [(citation, describe_citation(citation, library)) for citation in exchange.citations]
            found = exchange.basis.unread if exchange.basis is not None else ()
            self.outcome = _Outcome(
                unread=tuple(hit.section_id for hit in found if hit.section_id in library),
                targets=tuple(SectionTarget(source.section_id, citation) for citation, source in cited),
                sources=tuple(_format_citation(*pair, self.answer) for pair in cited),
                nearest=tuple(draw_nearest(*describe_nearest(citation)) for citation, _ in cited),
            )
        self._is_folded = bool(self.outcome.passages or self.answer.strip())

    def fold_steps(self) -> bool:
        """Fold or unfold a finished exchange's steps. Return False if it has none or is not finished."""
        is_possible = self.exchange.stopped is not None and bool(self._steps)
        if is_possible:
            self._is_folded = not self._is_folded
            self.selected_index = None
            self.invalidate()
        return is_possible

    def action_fold_passages(self, *cards: int) -> bool:
        """Fold or unfold `cards`, or else the selected one, or all. Return False if none has more text."""
        if (passages := self.outcome.passages) is None:
            return False
        if not cards and self.selected_index is not None and self.selected_index in self.source_range:
            cards = (self.selected_index - self.source_range.start,)
        self.invalidate()
        return passages.fold(*cards)

    @on(events.Click)
    def _fold_clicked(self, event: events.Click) -> None:
        """Fold or unfold the steps, unless a section is clicked."""
        offset = event.get_content_offset(self)
        if offset is not None and offset.y in self.step_lines and TARGET_META not in event.style.meta:
            self.fold_steps()

    @override
    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """Return the selected text without the margins, which are part of the lines."""
        if (selected := super().get_selection(selection)) is None:
            return None
        text, end = selected
        return "\n".join(line.rstrip().removeprefix(" ") for line in text.split("\n")), end

    @override
    def draw(self, width: int) -> list[Content]:
        started = monotonic()
        room = max(1, width - 2)
        passages = self.outcome.passages
        has_ended = self.exchange.stopped is not None
        self.targets = []
        self._is_drawing_due = False
        steps = self._draw_steps(room)
        answer = list[Content]()
        if passages is None and self.answer.strip() and (has_ended or self._checker is not None):
            answer = self._draw_answer(room)
        self.source_range = range(len(self.targets), len(self.targets) + len(self.outcome.targets))
        self.targets += self.outcome.targets
        if passages is not None:
            answer = passages.draw(self, self.source_range.start, room)
        lines = [*draw_question(self.exchange.question, width)]
        lines += draw_band(self._about, width, lead="  ") if self._about else []
        self.step_lines = range(len(lines) + 1, len(lines) + 1 + len(steps))
        lines += _set_apart(steps)
        self.answer_start = len(lines) if answer else None
        self.words_start = len(lines) + 1 + (passages.first_line if passages is not None else 0)
        lines += _set_apart(answer)
        lines += _set_apart(self._draw_ending(room)) if has_ended else []
        self._drawing_seconds = monotonic() - started
        return lines

    def _draw_steps(self, width: int) -> list[Content]:
        """Draw the steps, oldest first, and what happens now. After the end, a summary comes first."""
        exchange = self.exchange
        lines = list[Content]()
        if len(exchange.answers) > 1:
            place = f"answer {len(exchange.earlier) + 1} of {len(exchange.answers)}"
            lines.append(Content.styled(place, "$accent"))
        usage = format_usage(exchange.usage)
        if exchange.stopped is not None and (self._steps or usage):
            sign = "▸" if self._is_folded else "▾"
            summary = Content.styled(f"{sign if self._steps else '·'} ", "$accent")
            summary += format_steps(exchange)
            summary += f" · {usage}" if usage else ""
            problems = sum(notice.severity is not Severity.INFO for notice in self._steps)
            if problems and self._is_folded:
                warnings = Content.styled(format_count(problems, "warning"), _STYLES[Severity.WARNING])
                summary += " · " + warnings
            lines += wrap(summary.stylize_before("$muted"), width, follow="  ")
        for notice in [] if self._is_folded else self._steps:
            content = Content.styled(sanitise_line(notice.text), _STYLES[notice.severity])
            for number, (section_id, section_title) in enumerate(notice.sections[:_TITLES_MAX]):
                title = shorten(sanitise_line(section_title), _TITLE_LENGTH) or UNTITLED
                content += Content.styled(": " if number == 0 else ", ", "$muted")
                content += self.attach(Content.styled(title, "$foreground"), len(self.targets))
                self.targets.append(SectionTarget(section_id))
            if len(notice.sections) > _TITLES_MAX:
                content += Content.styled(f" and {len(notice.sections) - _TITLES_MAX} more", "$muted")
            lines += wrap(content, width, lead=Content.styled(f"{notice.symbol} ", "$accent"), follow="  ")
        if self._status:
            status = Content.styled(self._status, "italic $muted")
            lines += wrap(status, width, lead=Content.styled("… ", "$accent"), follow="  ")
        return lines

    def _draw_answer(self, width: int) -> list[Content]:
        """Draw the answer. Quotes have the colours of their verdicts. Marks and links can be followed."""
        answer = replace_verdict_marks(self.answer)
        citations = self.exchange.citations
        unsourced = self.exchange.unsourced
        if self._checker is not None:
            citations = self._checker.list_citations(answer)
            unsourced = ()
        proof = make_proof(answer, citations, self._library, unsourced)
        first = len(self.targets)
        first_id = citations[0].section_id if citations else None
        for link, mark in zip(proof.markdown.links, proof.link_marks, strict=True):
            if mark is None:
                self.targets.append(LinkTarget(link.href, first_id))
            else:
                citation = citations[mark.numbers[0] - 1] if mark.numbers else None
                self.targets.append(SectionTarget(mark.section_id, citation))
        lines = []
        for line in MarkdownLayout(width=width, view=View.CARD).lay_out(proof.markdown.blocks):
            parts = []
            for run in line.runs:
                words = render_run(run.text, run.style)
                link_number = run.style.link_number
                match proof.judge(run.style.group, link_number):
                    case VerdictMark(verdict=verdict):
                        words = Content.styled(run.text, f"bold {_get_quote_style(verdict)}")
                    case Citation(state=state):
                        line_style = "strike" if state is QuoteState.NOT_FOUND else "underline"
                        words = words.stylize(f"{line_style} {_get_quote_style(state)}")
                    case Unsourced():
                        words = words.stylize(_UNSOURCED_STYLE)
                    case None:
                        pass
                parts.append(words if link_number is None else self.attach(words, first + link_number))
            content = Content("").join(parts)
            lines.append(add_code_background(content, width) if line.is_code else content)
        return lines

    def _draw_ending(self, width: int) -> list[Content]:
        """Draw the numbered sources, the closing line, and the key that asks again with unread sections."""
        exchange = self.exchange
        outcome = self.outcome
        report = AnswerReport(exchange, self._library)
        lines = list[Content]()
        if outcome.sources or exchange.unnamed:
            quoted = [citation for citation in exchange.citations if citation.quote is not None]
            is_verified = all(citation.is_verified for citation in quoted) and not exchange.unnamed
            style = "$success" if is_verified else "$warning"
            heading = Content.styled("Sources  ", "bold $muted")
            verdict = Content.styled(report.quote_summary, style)
            lines += wrap(verdict, width, lead=heading, follow=" " * len(heading))
        indent = len(str(len(outcome.sources))) + 2
        for index, (source, nearest) in enumerate(zip(outcome.sources, outcome.nearest, strict=True)):
            number = Content.styled(f"{index + 1:>{indent - 1}} ", "bold $accent")
            lines += wrap(
                self.attach(source, self.source_range[index]), width, lead=number, follow=" " * indent
            )
            if nearest:
                lines += wrap(nearest, width, lead=" " * indent, follow=" " * indent)
            if (surroundings := exchange.citations[index].surroundings) is not None:
                is_whole = self.selected_index == self.source_range[index]
                for line in _draw_surroundings(surroundings, width, indent, is_whole=is_whole):
                    lines.append(self.attach(line, self.source_range[index], shows_selection=False))
        parts = []
        for text, severity in report.endings if outcome.passages is None else ():
            sign = "✗ " if severity is Severity.ERROR else ""
            words = adapt_flags(sanitise_line(text), self._keys)
            parts.append(Content.styled(f"{sign}{words}", _STYLES[severity]))
        if read := format_basis(exchange):
            parts.append(Content(read))
        if outcome.unread and outcome.passages is None:
            words = f"asks again with {'them' if outcome.unread[1:] else 'it'}"
            parts.append(format_key_hint(self._retry_key, words, "screen.run('chat.retry')"))
        if parts:
            closing = Content(" · ").join(parts).stylize_before("$muted")
            lines += [*([Content()] if lines else []), *wrap(closing, width)]
        return lines


def _get_quote_style(state: QuoteState) -> str:
    return f"$text-{state.rating}" if state.rating else "$accent"


def _set_apart(lines: list[Content]) -> list[Content]:
    """Indent a part, and put an empty line above it, unless it has no lines."""
    return [Content(), *(" " + line for line in lines)] if lines else []


def _draw_surroundings(
    surroundings: QuotedSentence, width: int, indent: int, *, is_whole: bool
) -> list[Content]:
    parts = surroundings.list_parts() if is_whole else surroundings.cut((width - indent) * _SENTENCE_LINES)
    opening, closing = get_isolates(surroundings.sentence)
    lines = wrap(draw_parts(parts), width - indent)
    return [" " * indent + opening + line + closing for line in lines]


def _format_citation(citation: Citation, source: CitationDescription, answer: str) -> Content:
    """Format a citation: sign, document if there are several, place, and its quote if the answer lacks it."""
    state = citation.state
    sign_style = f"${state.rating or 'muted'}"
    style = "$muted" if citation.is_verified else sign_style
    quote = sanitise_line(simplify_quote(citation.quote or ""))
    is_in_answer = extract_words(quote) in extract_words(answer)
    return Content.assemble(
        (f"{state.sign} " if state.sign else "", sign_style),
        (f"{source.document}{PATH_STEP}" if source.document else "", "$muted"),
        (source.title, "bold"),
        (" · " if source.place else "", "$muted"),
        (source.place, style),
        ("" if is_in_answer else f" “{shorten(quote, _QUOTE_LENGTH)}”", "italic"),
    )
