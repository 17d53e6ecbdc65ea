"""`Passages`: what the offline model found, as cards, or the nearest titles if it found nothing."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby
from textwrap import dedent

from msgspec import Struct
from textual.content import Content, Span
from textual.style import Style

from roamtui.agent.answer import list_passages
from roamtui.agent.offline import find_statement
from roamtui.conversation.events import Citation
from roamtui.conversation.state import Exchange
from roamtui.document.library import Library
from roamtui.document.plain import format_count, sanitise_text
from roamtui.markdown.blocks import Block, Paragraph, Words
from roamtui.markdown.layout import MarkdownLayout
from roamtui.markdown.parser import read_markdown
from roamtui.quotes.read import MARKED_ID
from roamtui.quotes.recheck import resolve_citation
from roamtui.quotes.verdicts import describe_source, list_path_titles
from roamtui.search.passages import find_question_words
from roamtui.tui.chat.content_view import ContentView, SectionTarget, wrap
from roamtui.tui.labels import STEP, format_full_path
from roamtui.tui.reader.document_view import build_parser_context
from roamtui.tui.run_styles import render_line
from roamtui.tui.status_line import format_key_hint

_TEXT_WIDTH_MIN = 20
_QUESTION_WORD_STYLE = "bold $secondary"
"""Style of the question's words. Matches in Find are also underlined, but here, that would make text hard to read."""
_GAP = Paragraph(words=(Words("⋯"),), start=0, end=0)
"""Stands between two passages of a section."""
_CONTINUED = re.compile(r"[^\s](?:\r\n|[\r\n])\Z")
"""Matches a text that ends with a line that is not blank, so that what follows continues its block."""


class _Card(Struct, frozen=True, kw_only=True):
    path: tuple[str, ...]
    """Titles down to the section."""
    place: str
    """Page or lines."""
    statement: str = ""
    """The words of the passage that are likeliest to answer, if they stand out."""
    blocks: Sequence[Block] = ()
    """The whole passage. It folds if there is a statement."""


class Passages:
    """A numbered card for each section: path, place and the likeliest statement, below which the whole passage unfolds.

    The words of the question are in bold. If there are no passages, a sentence says so above the nearest sections.
    """

    def __init__(self, exchange: Exchange, library: Library, ask_key: str) -> None:
        """Show the passages of an exchange, or the nearest sections. `ask_key` is the key that asks a model."""
        self._ask_key = ask_key
        self._missing = ""
        """A sentence that says that there is no passage, or empty."""
        self._unfolded: set[int] = set()
        """Indexes of the cards whose whole passages are shown."""
        passages = list_passages(exchange)
        self._words = find_question_words(exchange.question, [passage.quote or "" for passage in passages])
        if passages:
            by_section = groupby(passages, key=lambda passage: passage.section_id)
            sections = [[*found] for _, found in by_section]
            self._cards = [_make_card(found, exchange.question, library) for found in sections]
            self.targets = tuple(SectionTarget(one.section_id, one) for one, *_ in sections)
        else:
            self._missing, _, nearest = exchange.answer.partition("\n\n")
            ids = [section_id for section_id in MARKED_ID.findall(nearest) if section_id in library]
            paths = (format_full_path(library, section_id).split(STEP) for section_id in ids)
            self._cards = [_Card(path=tuple(path), place="") for path in paths]
            self.targets = tuple(map(SectionTarget, ids))

    def fold(self, *cards: int) -> bool:
        """Fold or unfold the passages of cards, or of all. Return false if none has more."""
        chosen = {index for index in cards or range(len(self._cards)) if self._cards[index].statement}
        self._unfolded = self._unfolded - chosen if chosen <= self._unfolded else self._unfolded | chosen
        return bool(chosen)

    def draw(self, view: ContentView, first: int, width: int) -> list[Content]:
        """Draw the cards in a view, whose targets from `first` on belong to them."""
        lines = wrap(self._draw_lead(), width)
        for index, card in enumerate(self._cards):
            if card.blocks or not index:
                lines.append(Content())
            lines += self._draw_card(view, first + index, index, width)
        return lines

    def _draw_lead(self) -> Content:
        ask = Content.styled("in this pane, ", "$muted") + format_key_hint(self._ask_key, "asks one")
        if not self._missing:
            count = format_count(len(self._cards), "passage")
            return Content.assemble((count, "bold $muted"), (" · no model has read them · ", "$muted"), ask)
        kind, colon, reason = self._missing.partition(":")
        lead = Content.assemble((f"{kind}{colon}", "bold $text-warning"), sanitise_text(reason))
        nearest = "Nearest titles" if self._cards else "No title is near it"
        return Content.assemble(lead, ("\n" + nearest, "bold $muted"), (" · no model has looked · ", "$muted"), ask)

    def _draw_card(self, view: ContentView, target: int, index: int, width: int) -> list[Content]:
        card, number = self._cards[index], Content.styled(f"{index + 1} ", "bold $accent")
        *above, own = card.path
        place = f" · {card.place}" if card.place else ""
        head = Content.assemble(("".join(f"{one}{STEP}" for one in above), "$muted"), (own, "bold"), (place, "$muted"))
        lines = wrap(view.attach(head, target), width, lead=number, follow="  ")
        lead = Content.styled("│ ", "$accent" if target == view.selected else "$foreground 30%")
        room = max(_TEXT_WIDTH_MIN, width - lead.cell_length)
        shown = wrap(Content.styled(card.statement, "bold"), room) if card.statement else []
        if not card.statement or index in self._unfolded:
            layout = MarkdownLayout(width=room, can_scroll=False)
            layout.add_blocks(card.blocks)
            shown += [*([Content()] if shown else []), *(render_line(line, room) for line in layout.lines)]
        for line in shown:
            words = self._words.locate(line.plain)
            spans = [Span(start, end, _QUESTION_WORD_STYLE) for start, end, _ in words]
            lines.append(lead + view.attach(line.add_spans(spans), target, shows_selection=False))
        if card.statement:
            fold = Content.styled("▾ fold" if index in self._unfolded else "▸ whole passage", "$muted")
            lines.append(lead + fold.stylize(Style.from_meta({"@click": f"fold_passages({index})"})))
        return lines


def _make_card(passages: Sequence[Citation], question: str, library: Library) -> _Card:
    citation = passages[0]
    source = describe_source(citation, library)
    path = list_path_titles(citation, library.title) or [source.title]
    if source.document and not citation.doc:
        path.insert(0, source.document)
    statement = find_statement(question, [passage.quote or "" for passage in passages])
    blocks = [block for passage in passages for block in (_GAP, *_read_blocks(passage, library))][1:]
    return _Card(path=tuple(path), place=source.place, statement=statement, blocks=blocks)


def _read_blocks(passage: Citation, library: Library) -> Sequence[Block]:
    """Parse a passage with what its first line needs: its indent, the head of its table, or the fence of its code."""
    quote, span = passage.quote or "", resolve_citation(passage, library)
    if span is None:  # the document has changed
        return read_markdown(quote).blocks
    doc, start = span.doc, span.start
    text, section_id = library.documents_by_key[doc].text, library.section_at(doc, start)
    first = start if section_id is None else library.node(section_id).own_content_span.start
    above = text[first:start].rstrip(" \t")
    line_start = first + len(above)
    is_inside_line = above != "" and above[-1] not in "\r\n"
    markdown = quote if is_inside_line else text[line_start:start] + quote
    context = ""
    if _CONTINUED.search(above):
        context = build_parser_context(text, first, line_start, "")
        markdown = markdown if context else dedent(markdown)
    return read_markdown(context + markdown).blocks
