"""Citations of an answer: ``[a8a96034]`` marks and quotes in double quotation marks, each looked up by code.

A quote binds to an id in its own sentence, the nearest before it first, else after it; an id without a quote is a
citation with no quote. What the model was given decides, not what the document holds.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING

from roamtui.agent.quotation import Quotation, find_quotations
from roamtui.agent.quotes import Match, find_quote
from roamtui.conversation.transcript import Citation, QuoteState
from roamtui.document.node import Span
from roamtui.outline.spans import merge_bounds

if TYPE_CHECKING:
    from roamtui.conversation.state import ConversationState

_SECTION = r"[0-9a-f]{8}(?::[\dc.]+)?"
_MARK = re.compile(rf"\[[\"'`§\s]*{_SECTION}[\"'`\s]*(?:[,;][\"'`§\s]*{_SECTION}[\"'`\s]*)*\]")
_ID = re.compile(r"(?<![0-9a-f:.])[0-9a-f]{8}")
_MARKS_AT_END = re.compile(rf"\s*({_MARK.pattern}\s*)+[.!?]?\Z")
_MARKS_AFTER = rf"(?:\s*+{_MARK.pattern})*+"
_CLOSERS = r"[\"'”’»)\]」』*_]*+"
_SENTENCE_END = re.compile(
    rf"(?:(?<!\b[^\W\d_])[.…]++|[!?]++){_CLOSERS}(?P<marks>{_MARKS_AFTER})\s++(?![\[(]?[a-zß-öø-ÿ\d])"
    rf"|[。！？]++{_CLOSERS}(?P<wide_marks>{_MARKS_AFTER})\s*+"
    r"|\n[ \t]*\n|\n(?=[ \t]*(?:[-*+|#]|\d+[.)])[ \t|#])"
)
"""Where a sentence ends: after the marks that follow its full stop, but neither after an initial nor before a small
letter or a number, as they follow abbreviations."""


@dataclass(frozen=True, slots=True)
class _Mark:
    section_id: str
    start: int


@dataclass(frozen=True, slots=True)
class _Answer:
    """The quotes and marks of an answer, and where its sentences end."""

    quotes: list[Quotation]
    marks: list[_Mark]
    ends: list[int]

    def sentence_of(self, position: int) -> int:
        """Return the 0-based number of the sentence that holds a character."""
        return bisect_right(self.ends, position)


def check_citations(answer: str, state: ConversationState) -> tuple[Citation, ...]:
    """Return the citations of an answer in order, each with what its lookup found.

    Args:
        answer: The model's text.
        state: Holds the library and what of it was delivered.
    """
    parsed = _read_answer(answer)
    found: list[tuple[int, Citation]] = []
    used: set[int] = set()
    for quote in parsed.quotes:
        candidates = _rank_marks(quote, parsed)
        if candidates:
            index, citation = _choose(quote, candidates, parsed.marks, state)
            used.add(index)
            found.append((quote.start, citation))
    for index, mark in enumerate(parsed.marks):
        if index not in used and not _is_quoted_elsewhere(mark, parsed, used):
            found.append((mark.start, _describe(mark.section_id, None, QuoteState.NO_QUOTE, None, state)))
    return tuple(citation for _, citation in sorted(found, key=lambda pair: pair[0]))


def _read_answer(answer: str) -> _Answer:
    quotes = [_cut_marks(quote, answer) for quote in find_quotations(answer) if not _is_part_of_mark(quote, answer)]
    marks = [
        _Mark(section.group(), match.start())
        for match in _MARK.finditer(answer)
        if not any(quote.start < match.start() < quote.end for quote in quotes)
        for section in _ID.finditer(match.group())
    ]
    ends = [match.end() for match in _SENTENCE_END.finditer(answer) if _ends_sentence(match, quotes)]
    return _Answer(quotes, marks, ends)


def _ends_sentence(match: re.Match[str], quotes: list[Quotation]) -> bool:
    """Return whether a full stop ends a sentence: inside a quote it does only before marks that follow the quote."""
    has_marks = bool(match["marks"] or match["wide_marks"])
    return not any(
        quote.start < match.start() < quote.end - 1 and not (has_marks and match.end() >= quote.end) for quote in quotes
    )


def _cut_marks(quote: Quotation, answer: str) -> Quotation:
    """Return a quote without the marks at its end, which a model put inside the quotation marks."""
    match = _MARKS_AT_END.search(quote.text)
    if match is None or not match.start():
        return quote
    words = quote.text[: match.start()]
    return Quotation(words, quote.start, answer.index(words, quote.start) + len(words))


def _is_part_of_mark(quote: Quotation, answer: str) -> bool:
    """Return whether the quotation marks stand around an id, as in a list of a tool call."""
    return _ID.fullmatch(quote.text) is not None and answer[: quote.start].rstrip().endswith(("[", ",", ";"))


def _rank_marks(quote: Quotation, answer: _Answer) -> list[int]:
    """Return the marks of a quote's sentence: those before it, nearest first, then those after it.

    In a sentence that begins with a quote marks follow their quotes, so there those after it come first.
    """
    sentence = answer.sentence_of(quote.start)
    own = [index for index, mark in enumerate(answer.marks) if answer.sentence_of(mark.start) == sentence]
    before = [index for index in reversed(own) if answer.marks[index].start < quote.start]
    after = [index for index in own if answer.marks[index].start >= quote.end]
    quotes = [other.start for other in answer.quotes if answer.sentence_of(other.start) == sentence]
    marks_follow = bool(own) and min(quotes) < answer.marks[own[0]].start
    return after + before if marks_follow else before + after


def _choose(
    quote: Quotation, candidates: list[int], marks: list[_Mark], state: ConversationState
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


def _is_quoted_elsewhere(mark: _Mark, answer: _Answer, used: set[int]) -> bool:
    """Return whether another mark of the same section in the same sentence has a quote."""
    sentence = answer.sentence_of(mark.start)
    return any(
        answer.marks[index].section_id == mark.section_id and answer.sentence_of(answer.marks[index].start) == sentence
        for index in used
    )


def _look_up(quote: str, section_id: str, state: ConversationState) -> tuple[Span, bool] | None:
    """Return where in the delivered text of a section a quote stands, and whether to the letter."""
    if section_id not in state.library:
        return None
    span = state.library.span(section_id)
    pieces = [
        (max(start, span.start), min(end, span.end))
        for start, end in merge_bounds(state.delivered.get(span.doc, ()))
        if start < span.end and end > span.start
    ]
    return _find_in(quote, span.doc, pieces, state)


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
        doc=node.doc,
        path=node.path,
        start_line=first,
        end_line=last,
        span=span,
    )
