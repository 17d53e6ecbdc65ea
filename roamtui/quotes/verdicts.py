"""Give each quote of an answer its verdict, its place in the answer and its number.

A quote without an id belongs to the first section that was read and contains its words. An id without a quote is a
citation without a quote. Quotes are not looked up in the whole document, but only in the text that the model got as
deliveries or excerpts. A part of an answer that streams in is judged in the same way as a finished answer.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Sequence
from itertools import chain

from msgspec import Struct
from msgspec.structs import replace

from roamtui.conversation.events import Citation, QuoteState
from roamtui.conversation.state import ConversationState
from roamtui.document.library import Library
from roamtui.document.node import Span
from roamtui.document.text import Bounds, merge_bounds
from roamtui.outline.expansion import strip_ids
from roamtui.outline.structure import get_canonical_id
from roamtui.quotes.find import divides_number, find_quote
from roamtui.quotes.read import MARK, MARKED_ID, Quotation, read_answer

_UNMARKED_WORDS_MIN = 3
"""Minimum number of words in a quote without an id. Fewer words occur in many sections by chance."""
_FROM_WORST_TO_BEST = (
    QuoteState.NOT_FOUND,
    QuoteState.ELSEWHERE,
    QuoteState.FOUND,
    QuoteState.NO_QUOTE,
)
"""`NO_QUOTE` is last, because it counts only if a mark has nothing else."""


class JudgedMark(Struct, frozen=True, kw_only=True):
    """An id between square brackets, as a person sees it."""

    start: int
    """Offset of the opening bracket. The ids of one pair of brackets share it."""
    end: int
    section_id: str
    numbers: tuple[int, ...]
    """Numbers of the citations that the mark belongs to; empty if it is not a citation, as in a "not found" answer."""
    verdict: QuoteState
    """The worst verdict among the quotes of the mark; `NO_QUOTE` if it has no quotes."""

    @property
    def label(self) -> str:
        """The numbers and the sign between square brackets, such as ``[2 ✓]``."""
        numbers = ",".join(map(str, self.numbers)) or "→"
        return f"[{numbers} {self.verdict.sign}]" if self.verdict.sign else f"[{numbers}]"


class AnswerProof(Struct, frozen=True, kw_only=True, dict=True):
    """The verdicts of an answer. All offsets are in its text."""

    quotes: tuple[Citation, ...]
    """The citations with a quote, in order."""
    marks: tuple[JudgedMark, ...]
    """In order."""


def make_proof(answer: str, citations: Sequence[Citation]) -> AnswerProof:
    """Collect the verdicts of an answer.

    A mark shows the citations of its own quotes or, if it has none, those of its section in its sentence.

    Args:
        answer: The text, or its beginning.
        citations: The result of `verify_citations`, perhaps from a log.
    """
    quotes = tuple(citation for citation in citations if citation.start < citation.end)
    reading = read_answer(answer)
    sentence_starts = [start for start, _ in reading.sentences]
    quotes_by_start = {quote.start: quote for quote in reading.quotes}
    by_mark: dict[tuple[str, int], list[int]] = defaultdict(list)
    by_sentence: dict[tuple[str, int], list[int]] = defaultdict(list)
    for number, citation in enumerate(citations, start=1):
        quote, start = quotes_by_start.get(citation.start), citation.start
        if quote is not None and (mark := quote.get_mark(citation.section_id)) is not None:
            start = mark.start
        by_mark[citation.section_id, start].append(number)
        by_sentence[citation.section_id, bisect_right(sentence_starts, start) - 1].append(number)
    marks = []
    for match in MARK.finditer(answer):
        for section_id in dict.fromkeys(MARKED_ID.findall(match.group())):
            sentence = bisect_right(sentence_starts, match.start()) - 1
            numbers = by_mark.get((section_id, match.start())) or by_sentence.get((section_id, sentence), [])
            states = (citations[number - 1].state for number in numbers)
            marks.append(
                JudgedMark(
                    start=match.start(),
                    end=match.end(),
                    section_id=section_id,
                    numbers=tuple(numbers),
                    verdict=min(states, key=_FROM_WORST_TO_BEST.index, default=QuoteState.NO_QUOTE),
                )
            )
    return AnswerProof(quotes=quotes, marks=tuple(marks))


def verify_citations(answer: str, state: ConversationState) -> tuple[Citation, ...]:
    """Look up the quotes of an answer in the text that the model got, and return all citations in order."""
    return QuoteChecker(state).cite(answer)


class QuoteChecker:
    """Looks up the quotes of one answer, each once, so that an answer can be checked again and again while it grows."""

    def __init__(self, state: ConversationState) -> None:
        self._library = state.library
        self._open_ids, self._excerpts = state.open_ids, state.collect_excerpts()
        self._read = state.collect_delivered()
        """The text that the model got, by document: deliveries and excerpts."""
        for doc, bounds in self._excerpts.items():
            self._read[doc] = [*self._read.get(doc, ()), *bounds]
        self._cited: dict[tuple[str, tuple[str, ...]], Citation | None] = {}

    def cite(self, answer: str) -> tuple[Citation, ...]:
        """Return the citations of an answer, or of its beginning, in order."""
        reading = read_answer(answer)
        citations: list[Citation] = []
        cited: set[tuple[str, int]] = set()
        for quote in reading.quotes:
            key = quote.text, tuple(mark.section_id for mark in quote.marks)
            if key not in self._cited:
                self._cited[key] = self._cite_quote(quote)
            if (citation := self._cited[key]) is not None:
                citations.append(replace(citation, start=quote.start, end=quote.end))
                if (chosen := quote.get_mark(citation.section_id)) is not None:
                    cited.add((chosen.section_id, chosen.sentence))
        for mark in reading.marks:
            if (mark.section_id, mark.sentence) not in cited:
                cited.add((mark.section_id, mark.sentence))
                no_quote = make_citation(mark.section_id, None, QuoteState.NO_QUOTE, None, self._library)
                citations.append(replace(no_quote, start=mark.start, end=mark.start))
        return tuple(sorted(citations, key=lambda citation: citation.start))

    def _cite_quote(self, quote: Quotation) -> Citation | None:
        """Return the citation of a quote, or None if it cites nothing.

        It cites the first of its marks whose section contains it, or else its first mark. Without marks, it cites the
        first section that contains it.
        """
        for mark in quote.marks:
            if (span := self._find_in_section(quote.text, mark.section_id)) is not None:
                return make_citation(mark.section_id, quote.text, QuoteState.FOUND, span, self._library)
        if quote.is_code or (not quote.marks and len(quote.text.split()) < _UNMARKED_WORDS_MIN):
            return None
        in_sections = (self._find_in_section(quote.text, section_id) for section_id in self._open_ids)
        in_excerpts = (self._find_in(quote.text, doc, bounds) for doc, bounds in self._excerpts.items())
        span = next(filter(None, chain(in_sections, in_excerpts)), None)
        if quote.marks:
            state = QuoteState.NOT_FOUND if span is None else QuoteState.ELSEWHERE
            return make_citation(quote.marks[0].section_id, quote.text, state, span, self._library)
        if span is None:
            return None
        section_id = self._library.section_at(span.doc, span.start) or self._library.root_id
        section_id = get_canonical_id(self._library, section_id)
        return make_citation(section_id, quote.text, QuoteState.FOUND, span, self._library)

    def _find_in_section(self, quote: str, section_id: str) -> Span | None:
        """Find a quote in the text of a section that the model got, and in its title."""
        library = self._library
        if section_id not in library:
            return None
        own = library.span(section_id)
        for span in dict.fromkeys((library.get_content_span(section_id), own)):
            read = [*self._read.get(span.doc, ())]
            if span == own and find_quote(quote, library.title_of(section_id)):
                end = library.document(own.doc).text.find("\n", own.start, own.end)
                read.append((own.start, own.end if end < 0 else end))  # a model that has the id has read the title
            pieces = [(max(start, span.start), min(end, span.end)) for start, end in merge_bounds(read)]
            if (found := self._find_in(quote, span.doc, pieces)) is not None:
                return found
        return None

    def _find_in(self, quote: str, doc: str, pieces: Sequence[Bounds]) -> Span | None:
        """Find a quote in pieces of a document.

        The model reads a version of the text with ids after headings and without page footers, and may quote from that.
        """
        document = self._library.document(doc)
        for start, end in pieces:
            found = find_quote(strip_ids(quote), document.clean_text(start, end)) if start < end else None
            # A piece, which has the same offsets, may end inside a number.
            if found is not None and not divides_number(document.text, start + found[0], start + found[1]):
                return Span(doc=doc, start=start + found[0], end=start + found[1])
        return None


def make_citation(
    section_id: str, quote: str | None, quote_state: QuoteState, span: Span | None, library: Library
) -> Citation:
    """Make the citation of a section, or of a quote that was found at `span`, with its place in the library."""
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
        page=node.page if span is None else library.document(span.doc).page_at(span.start),
        span=span,
    )
