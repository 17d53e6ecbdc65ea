"""Citations of an answer: ``[a8a96034]`` marks and quotes in double quotation marks, each looked up by code.

A quote without an id in its sentence binds to the only section that holds its words, an id without a quote is a
citation with none. What the model was given decides, delivered or as an excerpt, not what the document holds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from roamtui.agent.binding import Mark, Quotation, read_answer
from roamtui.agent.quotes import Match, find_quote
from roamtui.conversation.state import ConversationState
from roamtui.conversation.transcript import Citation, QuoteState
from roamtui.document.library import Library
from roamtui.document.node import Span
from roamtui.document.page_footers import blank_footers
from roamtui.document.text import LongText
from roamtui.outline.expansion import strip_marks
from roamtui.outline.spans import Bounds, merge_bounds
from roamtui.outline.structure import find_canonical

_UNMARKED_WORDS_MIN = 3
"""Words of a quote that is bound to a section without an id: fewer stand in many places by chance."""


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
        citation: Citation | None = None
        if candidates:
            index, citation = _choose(quote, candidates, parsed.marks, state)
            used.add(index)
        elif not quote.is_code:
            citation = _bind(quote, state)
        if citation is not None and not (quote.is_code and citation.state is QuoteState.UNVERIFIED):
            found.append((quote.start, citation))
    told = {(parsed.marks[index].section_id, parsed.marks[index].sentence) for index in used}
    for mark in parsed.marks:
        if (mark.section_id, mark.sentence) not in told:
            told.add((mark.section_id, mark.sentence))
            found.append((mark.start, cite(mark.section_id, None, QuoteState.NO_QUOTE, None, state.library)))
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
            return index, cite(marks[index].section_id, quote.text, quote_state, span, state.library)
    elsewhere = next((span for span, _ in _look_up_everywhere(quote.text, state)), None)
    quote_state = QuoteState.MISATTRIBUTED if elsewhere else QuoteState.UNVERIFIED
    return candidates[0], cite(marks[candidates[0]].section_id, quote.text, quote_state, elsewhere, state.library)


def _bind(quote: Quotation, state: ConversationState) -> Citation | None:
    """Return the citation of a quote without an id, None unless its words stand in one section alone."""
    if len(quote.text.split()) < _UNMARKED_WORDS_MIN:
        return None
    found = {_find_holder(span, state): (span, is_exact) for span, is_exact in _look_up_everywhere(quote.text, state)}
    if len(found) != 1:
        return None
    ((section_id, (span, is_exact)),) = found.items()
    return cite(section_id, quote.text, QuoteState.EXACT if is_exact else QuoteState.NORMALISED, span, state.library)


def _find_holder(span: Span, state: ConversationState) -> str:
    """Return the section in whose own text a span stands."""
    library = state.library
    return find_canonical(library, library.section_at(span.doc, span.start) or library.root_id)


def _look_up(quote: str, section_id: str, state: ConversationState) -> tuple[Span, bool] | None:
    """Return where in the delivered text of a section a quote stands, and whether to the letter."""
    if section_id not in state.library:
        return None
    library = state.library
    for span in dict.fromkeys((library.shown_span(section_id), library.span(section_id))):
        pieces = [
            (max(start, span.start), min(end, span.end))
            for start, end in merge_bounds(_list_shown(state, span.doc))
            if start < span.end and end > span.start
        ]
        found = _find_in(quote, span.doc, pieces, state)
        if found is not None:
            return found
    return None


def _look_up_everywhere(quote: str, state: ConversationState) -> Iterator[tuple[Span, bool]]:
    """Yield each place of a quote in what any one section or search gave, and whether it stands there to the letter."""
    given = [section.deliveries for section in state.open] + [(span,) for span in state.excerpts]
    for spans in given:
        for doc in dict.fromkeys(span.doc for span in spans):
            bounds = merge_bounds((span.start, span.end) for span in spans if span.doc == doc)
            found = _find_in(quote, doc, bounds, state)
            if found is not None:
                yield found


def _list_shown(state: ConversationState, doc: str) -> list[Bounds]:
    """Return what the model has seen of a document: what was delivered, and excerpts."""
    return [*state.delivered.get(doc, ()), *((span.start, span.end) for span in state.excerpts if span.doc == doc)]


def _find_in(quote: str, doc: str, pieces: list[tuple[int, int]], state: ConversationState) -> tuple[Span, bool] | None:
    text = state.library.document(doc).text
    best: tuple[Span, bool] | None = None
    for start, end in pieces:
        match: Match | None = find_quote(quote, text[start:end]) or _find_as_read(quote, text, start, end)
        if match is not None and (best is None or match.is_exact):
            best = Span(doc=doc, start=start + match.start, end=start + match.end), match.is_exact
            if match.is_exact:
                break
    return best


def _find_as_read(quote: str, text: str | LongText, start: int, end: int) -> Match | None:
    """Return where a quote stands that was copied as it is read: with ids behind headings, without page footers."""
    plain, read = strip_marks(quote), blank_footers(text, start, end)
    match = find_quote(plain, read) if plain != quote or read != text[start:end] else None
    return match if match is None else replace(match, is_exact=False)


def cite(section_id: str, quote: str | None, quote_state: QuoteState, span: Span | None, library: Library) -> Citation:
    """Return the citation of a section, or of words where they were found, with its place in the library."""
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
