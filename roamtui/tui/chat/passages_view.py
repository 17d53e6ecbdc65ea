"""`PassagesView`: the passages that the offline model found, as cards, or the nearest titles if it found none."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import dedent

from textual import events, on
from textual.content import Content
from textual.message import Message
from typing_extensions import override

from roamtui.agent.passages import PassageReply, ShownPassage, group_by_section
from roamtui.document.counts import format_count
from roamtui.document.library import Library
from roamtui.document.plain import sanitise_text
from roamtui.markdown.blocks import Block, Paragraph, Words
from roamtui.markdown.layout import MarkdownLayout
from roamtui.markdown.parser import read_markdown
from roamtui.quotes.source_list import describe_place, list_passage_titles
from roamtui.search.passages import QuestionWords, find_question_words
from roamtui.tui.chat.content_view import ContentView, SectionTarget, Target, attach_target, wrap
from roamtui.tui.labels import STEP, format_full_path, get_document_colour
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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Card:
    path: tuple[str, ...]
    """Titles down to the section."""
    place: str
    """Page or lines."""
    colour: str = "$muted"
    """Colour of the first title. If there are several documents, each has its own colour."""
    blocks: Sequence[Block] = ()


class PassagesView(ContentView):
    """A numbered card for each section: path, place and its passages, with the words of the question in bold.

    If there are no passages, it says so and lists the nearest sections.
    """

    class CardClicked(Message):
        """The text of a card was clicked."""

        def __init__(self, view: PassagesView, index: int) -> None:
            super().__init__()
            self.view = view
            self.index = index

    def __init__(self, ask_key: str) -> None:
        """Show nothing yet. `ask_key` is the key that asks a model."""
        super().__init__()
        self._ask_key = ask_key
        self._missing = ""
        """A sentence that says that there is no passage, or empty."""
        self._cards: tuple[_Card, ...] = ()
        self._targets: tuple[SectionTarget, ...] = ()
        self._words: QuestionWords | None = None
        self._rows: list[range] = []
        """The numbers of each card's lines."""

    def show_reply(self, reply: PassageReply, question: str, library: Library) -> None:
        """Show the passages for a question."""
        self._missing = reply.missing
        self._words = find_question_words(question, [passage.text for passage in reply.passages])
        if reply.passages:
            sections = group_by_section(reply.passages)
            self._cards = tuple(_make_card(passages, library) for passages in sections)
            citations = (passages[0].citation for passages in sections)
            self._targets = tuple(SectionTarget(citation.section_id, citation) for citation in citations)
        else:
            paths = (format_full_path(library, section_id).split(STEP) for section_id in reply.nearest_ids)
            self._cards = tuple(_Card(path=tuple(path), place="") for path in paths)
            self._targets = tuple(map(SectionTarget, reply.nearest_ids))
        self.invalidate()

    @property
    @override
    def targets(self) -> tuple[Target, ...]:
        return self._targets

    @property
    @override
    def lines_below_selected(self) -> int:
        return 0 if self.selected is None else len(self._rows[self.selected]) - 1

    @override
    def render_content(self, width: int) -> Content:
        lines = wrap(self._draw_lead(), width)
        self._rows = []
        for index, card in enumerate(self._cards):
            if card.blocks or not index:
                lines.append(Content())
            start = len(lines)
            lines += self._draw_card(card, index, width)
            self._rows.append(range(start, len(lines)))
        return Content("\n").join(lines)

    def _draw_lead(self) -> Content:
        ask = Content.styled("in this pane, ", "$muted") + format_key_hint(self._ask_key, "asks one")
        if not self._missing:
            count = format_count(len(self._cards), "passage")
            return Content.assemble((count, "bold $muted"), (" · no model has read them · ", "$muted"), ask)
        kind, colon, reason = self._missing.partition(":")
        lead = Content.assemble((f"{kind}{colon}", "bold $text-warning"), sanitise_text(reason))
        nearest = "Nearest titles" if self._cards else "No title is near it"
        return Content.assemble(lead, ("\n" + nearest, "bold $muted"), (" · no model has looked · ", "$muted"), ask)

    def _draw_card(self, card: _Card, index: int, width: int) -> list[Content]:
        is_selected = index == self.selected
        number = Content.styled(f"{index + 1} ", "bold $accent")
        room = width - number.cell_length
        heads = [_draw_head(card, cut) for cut in range(len(card.path))]
        head = next((head for head in heads if head.cell_length <= room), heads[-1])
        lines = wrap(attach_target(head, index, is_selected=is_selected), width, lead=number, follow="  ")
        lead = Content.styled("│ ", "$accent" if is_selected else "$foreground 30%")
        room = max(_TEXT_WIDTH_MIN, width - lead.cell_length)
        layout = MarkdownLayout(width=room, can_scroll=False)
        layout.add_blocks(card.blocks)
        for line in layout.lines:
            content = render_line(line, room)
            for start, end in self._words.locate(line.text) if self._words is not None else ():
                content = content.stylize(_QUESTION_WORD_STYLE, start, end)
            lines.append(lead + content)
        return lines

    @on(events.Click)
    def _select_clicked(self, event: events.Click) -> None:
        """Select the card whose text is clicked. A click on its path goes there."""
        index = next((index for index, rows in enumerate(self._rows) if event.y in rows), None)
        if index is not None:
            self.post_message(self.CardClicked(self, index))


def _draw_head(card: _Card, cut: int) -> Content:
    """Return the path of a card, without its first `cut` titles, and its place."""
    *above, own = ("…", *card.path[cut:]) if cut else card.path
    head = Content.styled(f"{above[0]}{STEP}", "$muted" if cut else card.colour) if above else Content()
    head += Content.styled("".join(f"{title}{STEP}" for title in above[1:]), "$muted") + Content.styled(own, "bold")
    return head + Content.styled(f" · {card.place}" if card.place else "", "$muted")


def _make_card(passages: Sequence[ShownPassage], library: Library) -> _Card:
    citation = passages[0].citation
    path = list_passage_titles(citation, library)
    place, colour = describe_place(citation, path[-1]), get_document_colour(citation, library)
    blocks = [block for passage in passages for block in (_GAP, *_read_blocks(passage, library))][1:]
    return _Card(path=tuple(path), place=place, colour=colour, blocks=blocks)


def _read_blocks(passage: ShownPassage, library: Library) -> Sequence[Block]:
    """Parse a passage with what its first line needs: its indent, the head of its table, or the fence of its code."""
    if passage.span is None:
        return read_markdown(passage.text).blocks
    doc, start = passage.span.doc, passage.span.start
    text, section_id = library.document(doc).text, library.section_at(doc, start)
    first = start if section_id is None else library.get_own_content_span(section_id).start
    above = text[first:start].rstrip(" \t")
    line_start = first + len(above)
    is_inside_line = above != "" and above[-1] not in "\r\n"
    markdown = passage.text if is_inside_line else text[line_start:start] + passage.text
    context = ""
    if _CONTINUED.search(above):
        context = build_parser_context(text, first, line_start, "")
        markdown = markdown if context else dedent(markdown)
    return read_markdown(context + markdown).blocks
