"""The paragraph of a citation, drawn below its line in the list of sources."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from textual.content import Content

from roamtui.conversation.state import ConversationState
from roamtui.conversation.transcript import Citation
from roamtui.markdown.layout import MarkdownLayout
from roamtui.markdown.lines import Line, TextRole
from roamtui.markdown.parser import read_markdown
from roamtui.quotes.cited_passage import CitedPassage, find_cited_passage
from roamtui.tui.chat.answer_view import QUOTE_COLOURS
from roamtui.tui.labels import format_node
from roamtui.tui.reader.document_view import DocumentView, make_document_view
from roamtui.tui.reader.highlights import LineSpan, locate_span
from roamtui.tui.run_styles import render_line

_LINES_MAX = 8
"""Maximum number of lines of a paragraph. More would push the other sources out of view. `enter` shows all of it."""
_LINES_ABOVE = 2
"""Number of lines of a long paragraph that are shown above its quote."""
_LEAD = Content.styled("│ ", "$accent")
_HEADINGS = frozenset({TextRole.H1, TextRole.H2, TextRole.H3, TextRole.H4, TextRole.RULE})


def draw_peek(citation: Citation, state: ConversationState, width: int) -> list[Content]:
    """Draw the paragraph that a citation leads to, in lines of at most `width` cells."""
    passage = find_cited_passage(citation, state)
    if passage.section_id not in state.library:
        return []
    width -= _LEAD.cell_length
    view = make_document_view(state.library, passage.section_id, is_excerpt=True)
    lines, marks = _lay_out(view, passage, width)
    rows = _choose_rows(lines, marks)
    drawn: list[Content] = []
    if passage.is_missing:
        nearest = f"Nearest passage, in {format_node(state.library, passage.section_id)}:"
        words = nearest if passage.spans else "Nothing in the text is like it."
        drawn.append(Content.styled(passage.warning if passage.is_unread else words, "italic $muted"))
        rows = rows if passage.spans else range(0)
    style = f"underline {'$text-warning' if passage.is_missing else QUOTE_COLOURS[citation.state]}"
    first_mark = min((mark.line for mark in marks), default=rows.start)
    first = max(rows.start, min(first_mark - _LINES_ABOVE, rows.stop - _LINES_MAX))
    shown = range(first, min(rows.stop, first + _LINES_MAX))
    for number in shown:
        content = render_line(lines[number], width)
        for mark in marks:
            if mark.line == number:
                content = content.stylize(style, mark.start, mark.end)
        is_cut = (number == shown.start > rows.start) or (number == shown.stop - 1 < rows.stop - 1)
        drawn.append(content.truncate(width - 2, ellipsis=True) + " …" if is_cut else content)
    return [_LEAD + content.truncate(width, ellipsis=True) for content in drawn]


def _lay_out(view: DocumentView, passage: CitedPassage, width: int) -> tuple[Sequence[Line], Sequence[LineSpan]]:
    """Lay out the part of a document that contains the start of a passage. Return its lines and the spans to mark."""
    text = view.document.text
    offset = passage.spans[0].start if passage.spans else view.start
    chunks = view.cut()
    chunk = next((chunk for chunk in chunks if chunk.start <= offset < chunk.end and not chunk.is_front_matter), None)
    if chunk is None:
        return (), ()
    layout = MarkdownLayout(width=width, can_scroll=False)
    layout.add_blocks(read_markdown(text[chunk.start : chunk.end], prefix=chunk.prefix, start=chunk.start).blocks)
    marks = [mark for span in passage.spans for mark in locate_span(layout.lines, text, span.start, span.end)]
    return layout.lines, marks


def _choose_rows(lines: Sequence[Line], marks: Sequence[LineSpan]) -> range:
    """Return the numbers of the lines to show: the blocks with marks, or else the first block that is not a heading."""
    blocks = {lines[mark.line].block_number for mark in marks}
    if not marks:
        texts = (
            line for line in lines if line.text.strip() and not any(run.style.role in _HEADINGS for run in line.runs)
        )
        blocks = {line.block_number for line in islice(texts, 1)}
    inside = [number for number, line in enumerate(lines) if line.block_number in blocks and line.block_number >= 0]
    return range(inside[0], inside[-1] + 1) if inside else range(0)
