"""Give each quote of an answer its verdict, its place in the answer and its number.

A quote gets a verdict only if it or its sentence has an id. An id without a quote is cited as a whole
section. Quotes are not looked up in the whole document, but only in the text that the model got as
deliveries or excerpts, even if the section is closed now. A part of an answer that streams in is judged in
the same way as a finished answer.
"""

from collections import defaultdict
from collections.abc import Sequence
from functools import partial
from itertools import chain

from msgspec import Struct
from msgspec.structs import replace

from roamtui.conversation.events import Citation, QuoteState
from roamtui.conversation.state import ConversationState
from roamtui.document.library import Library
from roamtui.markdown.blocks import Markdown
from roamtui.outline.expansion import strip_ids
from roamtui.outline.labels import UNTITLED, format_node_title
from roamtui.quotes.find import FoundQuote, find_in_context, find_quote
from roamtui.quotes.read import MARK, CitationMark, Quotation, read_answer, read_ids
from roamtui.text import Bounds, Span, merge_bounds

_FROM_WORST_TO_BEST = (
    QuoteState.NOT_FOUND,
    QuoteState.ELSEWHERE,
    QuoteState.SAME,
    QuoteState.EXACT,
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
    """Numbers of the mark's citations; empty if it is none, as in a "not found" answer."""
    label: str
    """The numbers and the sign between square brackets, such as ``[2 ✓]``."""
    verdict: QuoteState
    """The worst verdict among the quotes of the mark; `NO_QUOTE` if it has no quotes."""


class AnswerProof(Struct, frozen=True, kw_only=True):
    """An answer with its verdicts. All offsets are in its text."""

    citations: tuple[Citation, ...]
    marks: tuple[JudgedMark, ...]
    """In order."""
    markdown: Markdown
    """The blocks of the answer. `Words.group` is the index of a citation. The label of a mark is a link."""
    link_marks: tuple[JudgedMark | None, ...]
    """The mark of each link, or None if the link leads to a page."""


def make_proof(answer: str, citations: Sequence[Citation]) -> AnswerProof:
    """Put the verdicts of an answer, or its beginning, into its text. Citations may come from a log."""
    from roamtui.markdown.parser import read_markdown  # noqa: PLC0415 - the first screen does not need it

    numbers_of: dict[tuple[str, int], list[int]] = defaultdict(list)
    for number, citation in enumerate(citations, start=1):
        for start in citation.marks:
            numbers_of[citation.section_id, start].append(number)
    marks: list[JudgedMark] = []
    for match in MARK.finditer(answer):
        for section_id in dict.fromkeys(read_ids(match[0])):
            numbers = numbers_of.get((section_id, match.start()), [])
            states = (citations[number - 1].state for number in numbers)
            verdict = min(states, key=_FROM_WORST_TO_BEST.index, default=QuoteState.NO_QUOTE)
            marks.append(
                JudgedMark(
                    start=match.start(),
                    end=match.end(),
                    section_id=section_id,
                    numbers=tuple(numbers),
                    label=f"[{','.join(map(str, numbers)) or '→'} {verdict.sign}".rstrip() + "]",
                    verdict=verdict,
                )
            )
    quoted = [(citation.start, citation.end) for citation in citations]
    labels = [(mark.start, mark.end, mark.label) for mark in marks]
    markdown = read_markdown(answer, groups=quoted, marks=labels)
    of_links = tuple(marks[int(link.href)] if link.is_reference_mark else None for link in markdown.links)
    return AnswerProof(citations=tuple(citations), marks=tuple(marks), markdown=markdown, link_marks=of_links)


class QuoteChecker:
    """Looks up each quote of an answer once, so that the answer can be checked while it grows."""

    def __init__(self, state: ConversationState) -> None:
        self._library = state.library
        self._open_ids = tuple(state.open_sections)
        self._excerpts = state.collect_excerpts()
        self._read = state.collect_delivered()
        """The text that the model got, by document: deliveries and excerpts."""
        for doc, bounds in self._excerpts.items():
            self._read[doc] = [*self._read.get(doc, ()), *bounds]
        self._cited: dict[tuple[object, ...], Citation | None] = {}

    def cite(self, answer: str) -> tuple[Citation, ...]:
        """Return the citations of an answer, or of its beginning, in order.

        A mark shows the citations of its own quotes. Without a quote, it shows those of its section in its
        sentence.
        """
        reading = read_answer(answer)
        placed: list[tuple[Citation, CitationMark | Quotation]] = []
        for quote in reading.quotes:
            key = quote.text, quote.is_code, *(mark.section_id for mark in quote.marks)
            if key not in self._cited:
                self._cited[key] = self._cite_quote(quote)
            if (citation := self._cited[key]) is not None:
                marks = (mark for mark in quote.marks if mark.section_id == citation.section_id)
                of_quote = replace(citation, start=quote.start, end=quote.end)
                placed.append((of_quote, next(marks, quote)))
        cited = {(citation.section_id, place.sentence) for citation, place in placed}
        for mark in reading.marks:
            if (mark.section_id, mark.sentence) not in cited:
                cited.add((mark.section_id, mark.sentence))
                no_quote = make_citation(mark.section_id, self._library)
                placed.append((replace(no_quote, start=mark.start, end=mark.start), mark))
        placed.sort(key=lambda pair: pair[0].start)
        at_mark = defaultdict[tuple[str, int], list[int]](list)
        in_sentence = defaultdict[tuple[str, int], list[int]](list)
        for index, (citation, place) in enumerate(placed):
            at_mark[citation.section_id, place.start].append(index)
            in_sentence[citation.section_id, place.sentence].append(index)
        shown: list[set[int]] = [set() for _ in placed]
        for mark in reading.marks:
            own = at_mark.get((mark.section_id, mark.start))
            for index in own or in_sentence.get((mark.section_id, mark.sentence), []):
                shown[index].add(mark.start)
        numbered = zip(placed, shown, strict=True)
        return tuple(replace(citation, marks=tuple(sorted(starts))) for (citation, _), starts in numbered)

    def _cite_quote(self, quote: Quotation) -> Citation | None:
        """Return a quote's citation, or None if neither it nor its sentence has an id.

        It cites the first of its marks whose section contains it, or else its first mark.
        """
        make = partial(make_citation, library=self._library, quote=quote.text)
        for mark in quote.marks:
            if (found := self._find_in_section(quote, mark.section_id)) is not None:
                state = QuoteState.EXACT if found.is_exact else QuoteState.SAME
                return make(mark.section_id, state=state, span=found.span)
        if quote.is_code or not quote.marks:
            return None
        in_sections = (self._find_in_section(quote, section_id) for section_id in self._open_ids)
        in_excerpts = (self._find_in(quote, doc, bounds) for doc, bounds in self._excerpts.items())
        found = next(filter(None, chain(in_sections, in_excerpts)), None)
        state = QuoteState.NOT_FOUND if found is None else QuoteState.ELSEWHERE
        return make(quote.marks[0].section_id, state=state, span=found.span if found else None)

    def _find_in_section(self, quote: Quotation, section_id: str) -> FoundQuote | None:
        """Find a quote in the text of a section that the model got, and in its title."""
        library = self._library
        if section_id not in library:
            return None
        own = library.node(section_id).span
        for span in dict.fromkeys((library.node(section_id).content_span, own)):
            read = [*self._read.get(span.doc, ())]
            if span == own and find_quote(quote.text, library.node(section_id).title):
                end = library.documents_by_key[own.doc].text.find("\n", own.start, own.end)
                # a model that has the id has read the title
                read.append((own.start, own.end if end < 0 else end))
            pieces = [(max(start, span.start), min(end, span.end)) for start, end in merge_bounds(read)]
            if (place := self._find_in(quote, span.doc, pieces)) is not None:
                return place
        return None

    def _find_in(self, quote: Quotation, doc: str, pieces: Sequence[Bounds]) -> FoundQuote | None:
        """Find a quote in pieces of a document, each read with the sections around it.

        The model reads a version of the text with ids after headings and without page footers, and may quote
        from that. An exact place comes before one where the words are written otherwise.
        """
        words = strip_ids(quote.text)
        written_otherwise: FoundQuote | None = None
        for start, end in pieces:
            if start >= end:
                continue
            piece = Span(doc=doc, start=start, end=end)
            found = find_in_context(words, self._library, piece)
            if found is not None and found.is_exact:
                return found
            written_otherwise = written_otherwise or found
        return written_otherwise


def make_citation(
    section_id: str,
    library: Library,
    *,
    quote: str | None = None,
    state: QuoteState = QuoteState.NO_QUOTE,
    span: Span | None = None,
) -> Citation:
    """Make the citation of a section, or of a quote found at `span`, with its place in the library."""
    if section_id not in library:
        return Citation(section_id=section_id, quote=quote, state=state)
    node = library.node(section_id)
    first, last, page, _ = library.get_place(span or node.span)
    return Citation(
        section_id=section_id,
        quote=quote,
        state=state,
        doc=node.doc if span is None else span.doc,
        path=(*(title or UNTITLED for title in node.path[:-1]), node.title or format_node_title(node)),
        start_line=first,
        end_line=last,
        page=page,
        span=span,
    )


def resolve_citation(citation: Citation | None, library: Library) -> Span | None:
    """Return the span of a citation in the document as it is now, or None if it is gone."""
    if citation is None or citation.span is None or citation.span.doc not in library.documents_by_key:
        return None
    span = citation.span
    quote = citation.quote
    text = library.documents_by_key[citation.span.doc].text
    cited = text[span.start : span.end]
    is_there = quote is None or quote == cited or find_quote(quote, cited) is not None
    return span if is_there and span.end <= len(text) else None
