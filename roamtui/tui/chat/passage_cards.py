"""The passages of an answer without a model, as numbered cards."""

from collections.abc import Sequence
from textwrap import dedent

from msgspec import Struct
from textual.content import Content, Span
from textual.style import Style

from roamtui.agent.cards import PassageCard
from roamtui.answer_report import AnswerReport
from roamtui.conversation.citations import Citation
from roamtui.conversation.state import Exchange
from roamtui.document.library import Library
from roamtui.markdown.blocks import Block
from roamtui.markdown.layout import MarkdownLayout, View
from roamtui.markdown.lines import measure
from roamtui.markdown.parser import parse_markdown
from roamtui.markdown.quoted_sentence import KeySentence
from roamtui.outline.labels import PATH_STEP
from roamtui.quotes.verdicts import resolve_citation
from roamtui.quotes.wording import describe_citation
from roamtui.sanitiser import sanitise_text
from roamtui.search.sentences import make_question_matcher
from roamtui.tui.chat.content_view import ContentView, wrap
from roamtui.tui.messages import SectionTarget
from roamtui.tui.reader.document_view import make_parser_context
from roamtui.tui.run_styles import render_line
from roamtui.tui.screen_words import list_full_path
from roamtui.tui.status_line import format_key_hint

_TEXT_WIDTH_MIN = 20
_QUESTION_WORD_STYLE = "bold $secondary"
"""Style of the question's words. Underlines, as in Find, would make so many words hard to read."""


class _DrawnCard(Struct, frozen=True, kw_only=True):
    card: PassageCard
    path: tuple[str, ...]
    """Titles down to the section, after the name of its document if there are several."""
    place: str
    """Page or lines."""
    target: SectionTarget
    blocks: Sequence[Block]
    """The passage. If it has a key sentence, only that is shown until the card is unfolded."""


class PassageCardList:
    """A numbered card for each passage: path, place and key sentence, above the passage.

    The question's words are bold, and each title is followed by those that are in its passage. A sentence
    above the cards says how well they fit, and which names the document lacks.
    """

    def __init__(self, exchange: Exchange, library: Library, retry_key: str) -> None:
        """Make the cards of an exchange. `retry_key` is the name of the key that asks a model."""
        self._retry_key = retry_key
        report = AnswerReport(exchange, library)
        self._lead = report.lead
        self._summary = report.quote_summary or "no model has looked"
        self._unfolded: set[int] = set()
        """Indexes of the cards whose whole passages are shown."""
        quotes = [passage.quote or "" for passage in exchange.passages]
        self._words = make_question_matcher(exchange.question, quotes)
        self._cards = [_make_card(card, library) for card in report.list_cards()]
        self.targets = tuple(drawn.target for drawn in self._cards)
        self.first_line = 0
        """The first line with words of a passage, once it is drawn."""

    def fold(self, *cards: int) -> bool:
        """Fold or unfold the passages of `cards`, or of all cards. Return False if none has more text."""
        indexes = cards or range(len(self._cards))
        chosen = {index for index in indexes if self._cards[index].card.passage.key_sentence.words}
        self._unfolded = self._unfolded - chosen if chosen <= self._unfolded else self._unfolded | chosen
        return bool(chosen)

    def draw(self, view: ContentView, first: int, width: int) -> list[Content]:
        """Draw the cards in `width` cells. Their targets are those of the view from index `first` on."""
        ask = format_key_hint(self._retry_key, "asks a model", "screen.run('chat.retry')")
        lead = Content.styled(sanitise_text(f"{self._lead}\n") if self._lead else "", "$text-warning")
        lines = wrap(Content.assemble(lead, (f"{self._summary} · ", "$muted"), ask), width)
        room = max(_TEXT_WIDTH_MIN, width - 2)
        for index, drawn in enumerate(self._cards):
            card = drawn.card
            if drawn.blocks or not index:
                lines.append(Content())
            place = f" · {drawn.place}" if drawn.place else ""
            found = f" · {sanitise_text(card.found_label)}" if card.found_label else ""
            *above, own = drawn.path
            path = "".join(f"{title}{PATH_STEP}" for title in above)
            title = Content.assemble((path, "$muted"), (own, "bold"), (f"{place}{found}", "$muted"))
            head = view.attach(title, first + index)
            lines += wrap(head, width, lead=Content.styled(f"{index + 1} ", "bold $accent"), follow="  ")
            self.first_line = self.first_line if index else len(lines)
            if card.passage.key_sentence.words and index not in self._unfolded:
                parts = _divide_key_sentence(card.passage.key_sentence, room)
                shown = [line for part in parts for line in wrap(Content(part), room)]
            else:
                laid_out = MarkdownLayout(width=room, view=View.CARD).lay_out(drawn.blocks)
                shown = [render_line(line, room) for line in laid_out]
            shown += wrap(Content.styled(sanitise_text(card.beside), "$muted"), room) if card.beside else []
            is_selected = first + index == view.selected_index
            bar = Content.styled("│ ", "$accent" if is_selected else "$foreground 30%")
            for line in shown:
                words = self._words.list_occurrences(line.plain)
                marked = line.add_spans([Span(start, end, _QUESTION_WORD_STYLE) for start, end, _ in words])
                lines.append(bar + view.attach(marked, first + index, shows_selection=False))
            if card.passage.key_sentence.words:
                fold = Content.styled("▾ fold" if index in self._unfolded else "▸ whole passage", "$muted")
                lines.append(bar + fold.stylize(Style.from_meta({"@click": f"fold_passages({index})"})))
        return lines


def _divide_key_sentence(key_sentence: KeySentence, width: int) -> list[str]:
    """Divide a row into lines of whole columns, so that each figure stands beside its head."""
    if not key_sentence.row:
        return [key_sentence.words]
    first, *others = key_sentence.row.split(" | ")
    lines = [first]
    for column in others:
        longer = f"{lines[-1]} | {column}"
        if measure(longer) <= width:
            lines[-1] = longer
        else:
            lines.append(column)
    return lines


def _make_card(card: PassageCard, library: Library) -> _DrawnCard:
    citation = card.passage
    source = describe_citation(citation, library)
    section_id = source.section_id
    words = card.passage.key_sentence.words
    return _DrawnCard(
        card=card,
        path=list_full_path(library, section_id) if section_id in library else (source.title,),
        place=source.place,
        target=SectionTarget(section_id, citation, words),
        blocks=_read_blocks(citation, library),
    )


def _read_blocks(passage: Citation, library: Library) -> Sequence[Block]:
    """Parse a passage. Before a part of a table or of code, read the table's header or the code's fence."""
    quote = passage.quote or ""
    span = resolve_citation(passage, library)
    context = ""
    if span is not None and (section_id := library.find_node_at(span.doc, span.start)):
        first = library.node(section_id).own_content_span.start
        text = library.documents_by_key[span.doc].text
        context = make_parser_context(text, first, span.start, "")
    return parse_markdown(context + (quote if context else dedent(quote))).blocks
