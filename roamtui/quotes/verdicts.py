"""Give each quote of an answer its verdict, its place in the answer and its number.

A quote gets a verdict only if it or its sentence has an id. An id without a quote is cited as a whole
section. Quotes are not looked up in the whole document, but only in the text that the model got as
deliveries or excerpts, even if the section is closed now. A part of an answer that streams in is judged in
the same way as a finished answer.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Container, Mapping, Sequence
from itertools import groupby
from operator import itemgetter

from msgspec import Struct
from msgspec.structs import replace

from roamtui.conversation.citations import Citation, QuoteState
from roamtui.conversation.not_found import is_not_found
from roamtui.conversation.state import ConversationState
from roamtui.document.library import Library
from roamtui.markdown.blocks import Markdown
from roamtui.markdown.units import Unit, UnitKind, list_units, split_unit
from roamtui.outline.ids import IdMark, iter_id_marks
from roamtui.outline.labels import make_path
from roamtui.quotes.find import FoundQuote, find_quote
from roamtui.quotes.full_sentence import find_quoted_sentence
from roamtui.quotes.places import QuotableText
from roamtui.quotes.read import WORDS_MIN, CitedId, ParsedAnswer, Quotation, read_answer
from roamtui.quotes.words import read_words
from roamtui.text import Bounds, Span

_ASSERTING = (UnitKind.PARAGRAPH, UnitKind.ITEM, UnitKind.ROW)


class VerdictMark(Struct, frozen=True, kw_only=True):
    """An id between square brackets, as a person sees it."""

    start: int
    """Offset of the opening bracket. The ids of one pair of brackets share it."""
    end: int
    section_id: str
    numbers: tuple[int, ...]
    """Numbers of the mark's citations; empty if it cites nothing, as in a "not found" answer."""
    label: str
    """The numbers and their signs between square brackets, such as ``[2 ✓]`` or ``[2 ✓][3 ✗]``."""
    verdict: QuoteState
    """The worst verdict among the quotes of the mark; `NO_QUOTE` if it has no quotes."""


class Unsourced(Struct, frozen=True):
    """Words of a sentence without a source, in `AnswerProof.groups`."""


class AnswerProof(Struct, frozen=True, kw_only=True):
    """An answer with its verdicts. All offsets are in its text."""

    citations: tuple[Citation, ...]
    marks: tuple[VerdictMark, ...]
    """In order."""
    markdown: Markdown
    """The blocks of the answer. `Words.group` is an index of `groups`. The label of a mark is a link."""
    groups: tuple[Citation | Unsourced, ...]
    """For each group of words, the citation that they quote, or `Unsourced`."""
    link_marks: tuple[VerdictMark | None, ...]
    """The mark of each link, or None if the link leads to a page."""

    def judge(self, group: int | None, link: int | None) -> VerdictMark | Citation | Unsourced | None:
        """Return the mark that a link is, or else what the words of a group quote, or None."""
        mark = None if link is None else self.link_marks[link]
        return mark or (None if group is None else self.groups[group])


def list_answer_marks(answer: str, citations: Sequence[Citation], known: Container[str]) -> list[IdMark]:
    """List the marks of an answer: the marks of its citations, and other known ids outside of its quotes."""
    cited = {(citation.section_id, start) for citation in citations for start in citation.marks}
    quoted = sorted((citation.start, citation.end) for citation in citations)
    marks: list[IdMark] = []
    for mark in iter_id_marks(answer, known, lambda mark: (mark.section_ids[0], mark.start) in cited):
        index = bisect_right(quoted, (mark.start, len(answer))) - 1
        is_in_quote = index >= 0 and mark.start < quoted[index][1]
        if not is_in_quote:
            marks.append(mark)
    return marks


def make_proof(
    answer: str, citations: Sequence[Citation], known: Container[str], unsourced: Sequence[Bounds] = ()
) -> AnswerProof:
    """Parse an answer, or its beginning, with its verdicts in the text. Citations may come from a log.

    `unsourced` has the bounds of the sentences without a source.
    """
    from roamtui.markdown.parser import parse_answer  # noqa: PLC0415

    states_of: dict[tuple[str, int], dict[int, QuoteState]] = defaultdict(dict)
    for number, citation in enumerate(citations, start=1):
        for start in citation.marks:
            is_own = start == citation.marks[0]
            states_of[citation.section_id, start][number] = citation.state if is_own else QuoteState.NO_QUOTE
    marks: list[VerdictMark] = []
    for mark in list_answer_marks(answer, citations, known):
        for section_id in mark.section_ids:
            states = states_of.get((section_id, mark.start), {})
            marks.append(
                VerdictMark(
                    start=mark.start,
                    end=mark.end,
                    section_id=section_id,
                    numbers=tuple(states),
                    label=_make_label(states),
                    verdict=max(states.values(), key=[*QuoteState].index, default=QuoteState.NO_QUOTE),
                )
            )
    groups = _list_groups(citations, unsourced)
    labels = [(judged.start, judged.end, judged.label) for judged in marks]
    markdown = parse_answer(answer, groups=[bounds for bounds, _ in groups], marks=labels)
    of_links = tuple(marks[int(link.href)] if link.is_reference_mark else None for link in markdown.links)
    return AnswerProof(
        citations=tuple(citations),
        marks=tuple(marks),
        markdown=markdown,
        groups=tuple(citation for _, citation in groups),
        link_marks=of_links,
    )


def _make_label(states: Mapping[int, QuoteState]) -> str:
    """Make the label of a mark. Numbers that follow each other with the same sign share brackets."""
    runs = groupby(states, lambda number: states[number].sign)
    signed = [(",".join(map(str, numbers)), sign) for sign, numbers in runs] or [("→", "")]
    return "".join(f"[{numbers} {sign}".rstrip() + "]" for numbers, sign in signed)


def _list_groups(
    citations: Sequence[Citation], unsourced: Sequence[Bounds]
) -> list[tuple[Bounds, Citation | Unsourced]]:
    """List the bounds of the quotes, and of the other words of sentences without a source, in order."""
    groups: list[tuple[Bounds, Citation | Unsourced]] = []
    for citation in citations:
        is_sentence = citation.state is QuoteState.PASSAGE
        groups.append(((citation.start, citation.start if is_sentence else citation.end), citation))
    quoted = sorted(bounds for bounds, _ in groups)
    for start, end in unsourced:
        position = start
        for quote_start, quote_end in quoted:
            if position <= quote_start < quote_end <= end:
                groups.append(((position, quote_start), Unsourced()))
                position = quote_end
        groups.append(((position, end), Unsourced()))
    return sorted(groups, key=itemgetter(0))


def list_unsourced(answer: str, citations: Sequence[Citation], known: Container[str]) -> tuple[Bounds, ...]:
    """List the bounds of sentences with neither a quote nor an id, in them or later in their paragraph.

    One in the line that introduces a list or a table is enough for its items or rows. Such lines and
    questions are left out, because they assert nothing.
    """
    from roamtui.markdown.parser import parse_markdown  # noqa: PLC0415

    places = [mark.start for mark in list_answer_marks(answer, citations, known)]
    places += (citation.start for citation in citations)
    units = list_units(answer, parse_markdown(answer))
    last_places = [max((at for at in places if unit.start <= at < unit.end), default=-1) for unit in units]
    return tuple(
        (sentence.start, sentence.end)
        for index, (unit, last) in enumerate(zip(units, last_places, strict=True))
        if unit.kind in _ASSERTING and all(last_places[lead] < 0 for lead in _list_leads(units, index))
        for sentence in split_unit(answer, unit)
        if last < sentence.start
        if (words := answer[sentence.start : sentence.end].rstrip("*_ \n"))[-1:] not in ":?"
        if any(map(str.isalnum, words)) and not is_not_found(words, has_source=bool(citations))
    )


def _list_leads(units: Sequence[Unit], index: int) -> tuple[int, ...]:
    """List the indices of the units that introduce a unit: those of its lists, or the one above its table."""
    unit = units[index]
    above = index - unit.row - 1
    is_led = unit.kind is UnitKind.ROW and above >= 0 and units[above].kind is UnitKind.PARAGRAPH
    return (*unit.leads, above) if is_led else unit.leads


class QuoteChecker:
    """Looks up each quote of an answer once, so that the answer can be checked while it grows."""

    def __init__(self, state: ConversationState) -> None:
        self._library = state.library
        self._text = QuotableText(state.library, state.collect_read())
        self._question = state.exchanges[-1].question if state.exchanges else ""
        self._cited: dict[tuple[object, ...], Citation | None] = {}

    def list_citations(self, answer: str) -> tuple[Citation, ...]:
        """Return the citations of an answer, or of its beginning, in order.

        A mark shows the citations of its own quotes with their signs. Without a quote, it shows the numbers
        of the citations of its section in its sentence.
        """
        parsed = self._read_answer(answer)
        placed: list[tuple[Citation, CitedId | Quotation]] = []
        for quote in parsed.quotes:
            key = quote.text, quote.is_loose_code, quote.context, *(mark.section_id for mark in quote.marks)
            if key not in self._cited:
                self._cited[key] = self._cite_quote(quote)
            if (citation := self._cited[key]) is not None:
                marks = (mark for mark in quote.marks if mark.section_id == citation.section_id)
                of_quote = replace(citation, start=quote.start, end=quote.end)
                placed.append((of_quote, next(marks, quote)))
        cited = {(citation.section_id, place.sentence) for citation, place in placed}
        for mark in parsed.marks:
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
        for mark in parsed.marks:
            own = at_mark.get((mark.section_id, mark.start))
            for index in own or in_sentence.get((mark.section_id, mark.sentence), []):
                shown[index].add(mark.start)
        numbered = zip(placed, shown, strict=True)
        return tuple(
            replace(citation, marks=tuple(sorted(starts, key=lambda start: (start != place.start, start))))
            for (citation, place), starts in numbered
        )

    def list_unnamed(self, answer: str) -> tuple[Bounds, ...]:
        """Return the bounds of the quotes that name no section, so that nothing can look them up.

        One or two words between quotation marks are a name. The person's own words are not quotes, nor are
        words that the answer says it has not found.
        """
        unnamed: list[Bounds] = []
        for quote in self._read_answer(answer).quotes:
            is_name = len(read_words(quote.text)) < WORDS_MIN
            is_asked = is_not_found(quote.context) or find_quote(quote.text, self._question) is not None
            if not (quote.is_loose_code or quote.marks or is_name or is_asked):
                unnamed.append((quote.start, quote.end))
        return tuple(unnamed)

    def _read_answer(self, answer: str) -> ParsedAnswer:
        return read_answer(answer, tuple(self._text.iter_marks(answer, self._question)))

    def _cite_quote(self, quote: Quotation) -> Citation | None:
        """Return a quote's citation, or None if neither it nor its sentence has an id.

        It cites the first of its marks whose section contains it, or else its first mark.
        """
        if not quote.marks:
            return None
        library = self._library
        section_ids = [mark.section_id for mark in quote.marks]
        place = self._text.find_place(quote.text, section_ids, quote.context, self._question)
        if quote.is_loose_code and (place is None or place.section_id is None):
            return None
        if place is None:
            return make_citation(section_ids[0], library, quote=quote.text, state=QuoteState.NOT_FOUND)
        is_elsewhere = place.section_id is None
        section_id = place.section_id or section_ids[0]
        return make_found_citation(section_id, library, place.quote, place.found, is_elsewhere=is_elsewhere)


def make_found_citation(
    section_id: str, library: Library, quote: str, found: FoundQuote, *, is_elsewhere: bool = False
) -> Citation:
    """Make the citation of a quote with the section that the answer names, even if it was found elsewhere."""
    state = QuoteState.EXACT if found.is_exact else QuoteState.RESPELLED
    state = QuoteState.ELSEWHERE if is_elsewhere else state
    surroundings = find_quoted_sentence(library, found.parts, quote if found.is_exact else None)
    citation = make_citation(section_id, library, quote=quote, state=state, span=found.span)
    return replace(citation, surroundings=surroundings)


def make_citation(
    section_id: str,
    library: Library,
    *,
    quote: str | None = None,
    state: QuoteState = QuoteState.NO_QUOTE,
    span: Span | None = None,
) -> Citation:
    """Make the citation of a section, or of the words at `span`."""
    node = library.node(section_id) if section_id in library else None
    cited = span or (None if node is None else node.span)
    if cited is None:  # the model has invented the section
        return Citation(section_id=section_id, quote=quote, state=state)
    lines = library.get_line_range(cited)
    return Citation(
        section_id=section_id,
        quote=quote,
        state=state,
        doc=cited.doc,
        path=() if node is None else make_path(node),
        start_line=lines.first_line,
        end_line=lines.last_line,
        page=lines.page,
        page_label=lines.page_label,
        span=span,
    )


def resolve_citation(citation: Citation | None, library: Library) -> Span | None:
    """Return the citation's span if the document still has its words there, or None."""
    if citation is None or citation.span is None or citation.span.doc not in library.documents_by_key:
        return None
    span = citation.span
    quote = citation.quote
    text = library.documents_by_key[citation.span.doc].text
    cited = text[span.start : span.end]
    is_there = quote is None or quote == cited or find_quote(quote, cited) is not None
    return span if is_there and span.end <= len(text) else None
