"""Citations of an answer: ``[a8a96034]`` marks and quotes in double quotation marks, each looked up by code.

A quote binds to an id in its own sentence, the nearest before it first, else after it; an id without a quote is a
citation with no quote. What the model was given decides, not what the document holds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from roamtui.agent.binding import Mark, read_answer
from roamtui.agent.quotes import Match, find_quote
from roamtui.conversation.transcript import Citation, QuoteState
from roamtui.document.node import Span
from roamtui.outline.spans import merge_bounds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from roamtui.agent.quotation import Quotation
    from roamtui.conversation.state import ConversationState


def check_citations(answer: str, state: ConversationState) -> tuple[Citation, ...]:
    """Return the citations of an answer in order, each with what its lookup found.

    Args:
        answer: The model's text.
        state: Holds the library and what of it was delivered.
    """
    parsed = read_answer(answer)
    found: list[tuple[int, Citation]] = []
    used: set[int] = set()
    for quote in parsed.quotes:
        candidates = parsed.rank_marks(quote)
        if candidates:
            index, citation = _choose(quote, candidates, parsed.marks, state)
            used.add(index)
            found.append((quote.start, citation))
    told = {(parsed.marks[index].section_id, parsed.marks[index].sentence) for index in used}
    for mark in parsed.marks:
        if (mark.section_id, mark.sentence) not in told:
            told.add((mark.section_id, mark.sentence))
            found.append((mark.start, _describe(mark.section_id, None, QuoteState.NO_QUOTE, None, state)))
    return tuple(citation for _, citation in sorted(found, key=lambda pair: pair[0]))


def _choose(
    quote: Quotation, candidates: Sequence[int], marks: Sequence[Mark], state: ConversationState
) -> tuple[int, Citation]:
    """Return the first mark whose section holds the quote, else the first mark, with what was found."""
    for index in candidates:
        match = _look_up(quote.text, marks[index].section_id, state)
        if match is not None:
            span, is_exact = match
            quote_state = QuoteState.EXACT if is_exact else QuoteState.NORMALISED
            return index, _describe(marks[index].section_id, quote.text, quote_state, span, state)
    elsewhere = _look_up_anywhere(quote.text, state)
    quote_state = QuoteState.MISATTRIBUTED if elsewhere else QuoteState.UNVERIFIED
    return candidates[0], _describe(marks[candidates[0]].section_id, quote.text, quote_state, elsewhere, state)


def _look_up(quote: str, section_id: str, state: ConversationState) -> tuple[Span, bool] | None:
    """Return where in the delivered text of a section a quote stands, and whether to the letter."""
    if section_id not in state.library:
        return None
    library = state.library
    for span in dict.fromkeys((library.shown_span(section_id), library.span(section_id))):
        pieces = [
            (max(start, span.start), min(end, span.end))
            for start, end in merge_bounds(state.delivered.get(span.doc, ()))
            if start < span.end and end > span.start
        ]
        found = _find_in(quote, span.doc, pieces, state)
        if found is not None:
            return found
    return None


def _look_up_anywhere(quote: str, state: ConversationState) -> Span | None:
    """Return where a quote stands in the text that was delivered of any one section; two together do not hold it."""
    for section in state.open:
        for doc in dict.fromkeys(span.doc for span in section.deliveries):
            bounds = merge_bounds((span.start, span.end) for span in section.deliveries if span.doc == doc)
            found = _find_in(quote, doc, bounds, state)
            if found is not None:
                return found[0]
    return None


def _find_in(quote: str, doc: str, pieces: list[tuple[int, int]], state: ConversationState) -> tuple[Span, bool] | None:
    text = state.library.document(doc).text
    best: tuple[Span, bool] | None = None
    for start, end in pieces:
        match: Match | None = find_quote(quote, text[start:end])
        if match is not None and (best is None or match.is_exact):
            best = Span(doc=doc, start=start + match.start, end=start + match.end), match.is_exact
            if match.is_exact:
                break
    return best


def _describe(
    section_id: str, quote: str | None, quote_state: QuoteState, span: Span | None, state: ConversationState
) -> Citation:
    library = state.library
    if section_id not in library:
        return Citation(section_id=section_id, quote=quote, state=quote_state)
    node = library.node(section_id)
    first, last = library.lines_of(span) if span is not None else (node.start_line, node.end_line)
    return Citation(
        section_id=section_id,
        quote=quote,
        state=quote_state,
        doc=node.doc if span is None else span.doc,
        path=node.path,
        start_line=first,
        end_line=last,
        page=library.page_of(library.span(section_id) if span is None else span),
        span=span,
    )
