"""Extract the citations of an answer, which are marks such as ``[a8a96034]`` and quotations, and look up each quote.

A quotation may have the quotation marks of any language. It belongs to the ids directly after it, or else to ids in
its own sentence: to the nearest ones after it if the sentence begins with a quotation, otherwise to the nearest before
it. Text after a colon that has no ids, such as list items, takes those of the sentence with the colon. A quotation
without an id belongs to the section that contains its words, if there is only one. An id without a quotation is a
citation without a quote. Quotes are not looked up in the whole document, but only in the text that the model got as
deliveries or excerpts.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise

from roamtui.agent.numbers import divides_number
from roamtui.agent.quotes import find_quote
from roamtui.conversation.state import ConversationState
from roamtui.conversation.transcript import Citation, QuoteState
from roamtui.document.library import Library
from roamtui.document.node import Span
from roamtui.outline.id_marks import strip_ids
from roamtui.outline.spans import Bounds, merge_bounds
from roamtui.outline.structure import get_canonical_id

_UNMARKED_WORDS_MIN = 3
"""Minimum number of words in a quote without an id. Fewer words occur in many sections by chance."""
_SECTION = r"[0-9a-f]{8}(?::[\dc.]+)?"
_DECORATION = r"[\"'`*§\s]*+"
MARK = re.compile(rf"\[{_DECORATION}{_SECTION}(?:[,;\"'`*§\s]++{_SECTION})*+{_DECORATION}\]")
MARKED_ID = re.compile(r"(?<![0-9a-f:.])[0-9a-f]{8}")
"""Ids in a mark, without page numbers and ranges."""
_TYPOGRAPHIC = re.compile(
    r"“(?P<curly>[^“”]*(?:“[^“”]*”[^“”]*)*)”|„(?P<low>[^„“”]+)[“”]|«(?P<guillemets>[^«»]*(?:«[^«»]*»[^«»]*)*)»"
    r"|»(?P<reversed>[^«»]+)«|「(?P<corner>[^「」]+)」|『(?P<white_corner>[^『』]+)』|〝(?P<prime>[^〝〞〟]+)[〞〟]"
    r"|＂(?P<wide>[^＂\n]+)＂|(?<![^\s(\[])”(?P<same>[^“”\n]+)”"
)
_LETTER_OR_DIGIT = re.compile(r"[^\W_]")
_UNSPACED = 0x0E00
"""First character of the scripts without spaces, in which a quotation mark may follow a letter."""
_STRAIGHT = re.compile(r"\"|\n[ \t]*\n")
_CODE = re.compile(r"(?<!`)(`+)(?!`)(?:(?!\n[ \t]*\n).)+?(?<!`)\1(?!`)", re.DOTALL)
_CANDIDATES_MAX = 16
"""Maximum number of marks to try for a quote."""
_DIRECTLY_BEFORE_MARK = re.compile(r"[\s.!?…。！？)*_]*\Z")
_BETWEEN_MARKS = re.compile(r"[\s,;&)]*(?:and\s+)?\Z")
_FINAL_COLON = re.compile(r":[*_ \t]*\Z")
_ITEM = re.compile(r"\s*(?:[-*+>|•]|\d+[.)])[ \t|]")
_MARKS_AFTER = rf"(?:\s*+{MARK.pattern})*+"
_CLOSERS = r"[\"'”’»)\]」』*_]*+"
_SENTENCE_END = re.compile(
    # Never match from the middle of a row of full stops: that would scan the row once for each of them.
    rf"(?:(?<![.…])(?:(?<!\b[^\W\d_])|[.…](?=[.…]))[.…]++|(?<![!?])[!?]++)"
    rf"{_CLOSERS}(?P<marks>{_MARKS_AFTER})\s++(?![\[(]?[a-zß-öø-ÿ\d])"
    rf"|[。！？]++{_CLOSERS}(?P<wide_marks>{_MARKS_AFTER})\s*+"
    r"|\n[ \t]*\n|\n(?=[ \t]*(?:\||(?:[-*+#]|\d+[.)])[ \t#]))"
)
"""End of a sentence, including the marks after its full stop. A full stop after an initial does not end a sentence, nor
does one before a lower-case letter or a number, since it may belong to an abbreviation."""


@dataclass(frozen=True, slots=True)
class CitationMark:
    """One id between square brackets."""

    section_id: str
    start: int
    sentence: int
    """Index of the sentence that contains the id."""


@dataclass(frozen=True, slots=True)
class Quotation:
    """Words between quotation marks."""

    text: str
    start: int
    """Offset of the opening mark."""
    end: int
    """Offset after the closing mark."""
    is_code: bool = False
    """Whether the words are in backticks. They are a quote only if a section that their sentence names has them.

    Otherwise, they are a name or a command in the model's own words.
    """
    marks: Sequence[CitationMark] = ()
    """Ids that may be the source of the quote, the likeliest first."""


def extract_quotations(answer: str) -> list[Quotation]:
    """Return the outermost quotations of an answer, and the code spans outside of them, in order.

    String literals inside code do not count, nor do quotations without a letter or digit, such as a dash from a table.
    """
    found = [*_extract_straight_quotations(answer)]
    for match in _TYPOGRAPHIC.finditer(answer):
        text = next(group for group in match.groups() if group is not None)
        found.append(Quotation(text.strip(), match.start(), match.end()))
    code: list[Quotation] = []
    for match in _CODE.finditer(answer):
        inside = match.group().strip("`")
        if match.group().startswith("```") and "\n" in inside:
            inside = inside.partition("\n")[2]  # below the line with its language
        code.append(Quotation(inside.strip(), match.start(), match.end(), is_code=True))
    starts = [span.start for span in code]
    quoted = []
    for quotation in _keep_outermost(found):
        around = bisect_right(starts, quotation.start) - 1
        if _LETTER_OR_DIGIT.search(quotation.text) and not (around >= 0 and quotation.end <= code[around].end):
            quoted.append(quotation)
    return _keep_outermost([*quoted, *(span for span in code if _LETTER_OR_DIGIT.search(span.text))])


def _extract_straight_quotations(answer: str) -> Iterator[Quotation]:
    """Yield quotations in straight marks, inner ones first.

    The characters next to a mark decide whether it opens or closes.
    """
    opened: list[int] = []
    for match in _STRAIGHT.finditer(answer):
        position = match.start()
        if match.group() != '"':
            opened.clear()
            continue
        before, after = answer[position - 1 : position] if position else "", answer[position + 1 : position + 2]
        is_after_letter, is_before_letter = (char.isalnum() and ord(char) < _UNSPACED for char in (before, after))
        can_open = bool(after.strip()) and not is_after_letter
        can_close = bool(before.strip()) and not is_before_letter
        if opened and (can_close or not can_open):
            start = opened.pop()
            yield Quotation(answer[start + 1 : position].strip(), start, position + 1)
        elif can_open or not can_close:
            opened.append(position)


def _keep_outermost(quotations: Iterable[Quotation]) -> list[Quotation]:
    kept: list[Quotation] = []
    for quotation in sorted(quotations, key=lambda quotation: (quotation.start, -quotation.end)):
        if not kept or quotation.start >= kept[-1].end:
            kept.append(quotation)
    return kept


def _list_quotes(answer: str) -> Iterator[Quotation]:
    """Yield the quotations, without the id marks that some models put before the closing quotation mark."""
    for quote in extract_quotations(answer):
        before = answer[max(0, quote.start - 3) : quote.start].rstrip()
        if MARKED_ID.fullmatch(quote.text) and before.endswith(("[", ",", ";")):
            continue  # an id in quotation marks, as in the arguments of a tool call
        end = len(quote.text)
        for mark in reversed([*MARK.finditer(quote.text)]):
            following = quote.text[mark.end() : end].strip()
            if following and (end < len(quote.text) or following not in (".", "!", "?")):
                break
            end = mark.start()
        words = quote.text[:end].rstrip()
        is_cut = 0 < len(words) < len(quote.text)
        yield replace(quote, text=words, end=answer.index(words, quote.start) + len(words)) if is_cut else quote


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedAnswer:
    """The quotes and the ids in square brackets of an answer, and the bounds of its sentences."""

    quotes: tuple[Quotation, ...]
    """In order, each with the marks that may be its source."""
    marks: tuple[CitationMark, ...]
    sentences: tuple[Bounds, ...]
    """Start and end of each sentence, list item and table row."""
    introductions: Mapping[int, int]
    """Maps sentences to their introductions, by index. An introduction is an earlier sentence ending in a colon."""


def parse_citations(answer: str) -> ParsedAnswer:
    """Find the quotes and marks of an answer. Each quote gets the marks that may be its source, the likeliest first."""
    quotes = [*_list_quotes(answer)]
    starts = [quote.start for quote in quotes]

    def find_quote_around(position: int) -> Quotation | None:
        index = bisect_right(starts, position) - 1
        quote = quotes[index] if index >= 0 else None
        return quote if quote is not None and quote.start < position < quote.end - 1 else None

    ends = []
    # A sentence ends inside a quote only before marks that follow the quote.
    for match in _SENTENCE_END.finditer(answer):
        around = find_quote_around(match.start())
        if around is None or ((match["marks"] or match["wide_marks"]) and match.end() >= around.end):
            ends.append(match.end())
    by_sentence: dict[int, list[CitationMark]] = defaultdict(list)
    for match in MARK.finditer(answer):
        if find_quote_around(match.start()) is None:
            sentence = bisect_right(ends, match.start())
            by_sentence[sentence] += (
                CitationMark(marked_id[0], match.start(), sentence) for marked_id in MARKED_ID.finditer(match[0])
            )
    introductions = _map_introduced_sentences(answer, ends)
    placed: list[Quotation] = []
    for sentence, own in groupby(quotes, key=lambda quote: bisect_right(ends, quote.start)):
        if by_sentence.get(sentence):
            placed += _assign_marks(answer, [*own], by_sentence[sentence])
        else:
            introducing = by_sentence.get(introductions.get(sentence, -1), [])[: -_CANDIDATES_MAX - 1 : -1]
            placed += (replace(quote, marks=introducing) for quote in own)
    return ParsedAnswer(
        quotes=tuple(placed),
        marks=tuple(mark for own in by_sentence.values() for mark in own),
        sentences=tuple(pairwise((0, *ends, len(answer)))),
        introductions=introductions,
    )


def _assign_marks(answer: str, quotes: Sequence[Quotation], marks: Sequence[CitationMark]) -> Iterator[Quotation]:
    """Yield the quotes of a sentence, each with the marks directly after it. A quote without any shares a neighbour's.

    If the sentence begins with a quote, marks follow their quotes, so the neighbour is the next quote. Otherwise it is
    the previous quote.
    """
    starts = [mark.start for mark in marks]
    preceding_counts = [bisect_left(starts, quote.start) for quote in quotes]  # of marks before each quote
    # before[i] are the marks between quote i and the previous quote, after[i] those between it and the next quote
    before = [marks[start:end] for start, end in pairwise((0, *preceding_counts))]
    after = [*before[1:], marks[preceding_counts[-1] :]]
    assigned = [
        _take_directly_after(answer, quote.end, next_marks) for quote, next_marks in zip(quotes, after, strict=True)
    ]
    if preceding_counts[0]:  # the sentence begins with a mark
        for index in range(len(quotes)):
            assigned[index] = assigned[index] or before[index][::-1] or assigned[index - 1]
    else:
        for index in reversed(range(len(quotes))):
            next_assigned = assigned[index + 1] if index + 1 < len(assigned) else ()
            assigned[index] = assigned[index] or after[index] or next_assigned
        for index in range(1, len(quotes)):  # the last quotes may have no marks after them
            assigned[index] = assigned[index] or assigned[index - 1]
    for quote, quote_marks in zip(quotes, assigned, strict=True):
        yield replace(quote, marks=quote_marks[:_CANDIDATES_MAX])


def _take_directly_after(answer: str, position: int, marks: Sequence[CitationMark]) -> Sequence[CitationMark]:
    """Return the first marks that are separated from `position`, and from each other, by punctuation only."""
    separator = _DIRECTLY_BEFORE_MARK
    for index, mark in enumerate(marks):
        if mark.start >= position:  # ids of the same square brackets share their start
            if not separator.match(answer, position, mark.start):
                return marks[:index]
            bracket = MARK.match(answer, mark.start)
            position, separator = bracket.end() if bracket else mark.start, _BETWEEN_MARKS
    return marks


def _map_introduced_sentences(answer: str, ends: Sequence[int]) -> dict[int, int]:
    """Map sentences to their introductions, by index.

    A sentence that ends with a colon introduces the next sentence and the list items that follow. `ends` are the
    offsets after each sentence but the last one.
    """
    introductions: dict[int, int] = {}
    introduction: int | None = None
    for sentence, (start, end) in enumerate(pairwise((0, *ends, len(answer)))):
        if introduction is not None and (introduction == sentence - 1 or _ITEM.match(answer, start, end)):
            introductions[sentence] = introduction
        elif introduction is not None:
            introduction = None
        if _FINAL_COLON.search(answer[start:end].rstrip()):
            introduction = sentence
    return introductions


def verify_citations(answer: str, state: ConversationState) -> tuple[Citation, ...]:
    """Look up the quotes of an answer in the text that the model got, and return all citations in order."""
    return QuoteChecker(state).cite(parse_citations(answer))


class QuoteChecker:
    """Looks up the quotes of one answer, each once, so that an answer can be checked again and again while it grows."""

    def __init__(self, state: ConversationState) -> None:
        self._state = state
        self._cited: dict[tuple[str, tuple[str, ...]], tuple[int, Citation] | None] = {}
        self._found: dict[str, QuoteState] = {}

    def cite(self, parsed: ParsedAnswer) -> tuple[Citation, ...]:
        """Return the citations of an answer in order."""
        located: list[tuple[int, Citation]] = []
        cited: set[tuple[str, int]] = set()
        for quote in parsed.quotes:
            match = self._cite_quote(quote)
            if match is None:
                continue
            index, citation = match
            if quote.is_code and not citation.is_verified:
                continue
            located.append((quote.start, citation))
            if quote.marks:
                cited.add((quote.marks[index].section_id, quote.marks[index].sentence))
        for mark in parsed.marks:
            if (mark.section_id, mark.sentence) not in cited:
                cited.add((mark.section_id, mark.sentence))
                no_quote = make_citation(mark.section_id, None, QuoteState.NO_QUOTE, None, self._state.library)
                located.append((mark.start, no_quote))
        return tuple(citation for _, citation in sorted(located, key=lambda pair: pair[0]))

    def judge_anywhere(self, words: str) -> QuoteState:
        """Return the state of a quote in all text that the model got, whatever its section."""
        if words not in self._found:
            is_found = any(True for _ in _look_up_everywhere(words, self._state))
            self._found[words] = QuoteState.FOUND if is_found else QuoteState.NOT_FOUND
        return self._found[words]

    def _cite_quote(self, quote: Quotation) -> tuple[int, Citation] | None:
        """Return the citation of a quote with the index of its mark, or None if it cites nothing."""
        key = quote.text, tuple(mark.section_id for mark in quote.marks)
        if key not in self._cited:
            match: tuple[int, Citation] | None = None
            if quote.marks:
                mark, citation = _pick_mark(quote, self._state)
                match = [*quote.marks].index(mark), citation
            elif not quote.is_code and len(quote.text.split()) >= _UNMARKED_WORDS_MIN:
                attributed = _attribute_quote(quote.text, self._state)
                match = None if attributed is None else (0, attributed)
            self._cited[key] = match
        return self._cited[key]


def _pick_mark(quote: Quotation, state: ConversationState) -> tuple[CitationMark, Citation]:
    """Return the first mark whose section contains the quote, or else the first mark, with its citation."""
    for mark in quote.marks:
        span = _find_in_section(quote.text, mark.section_id, state)
        if span is not None:
            return mark, make_citation(mark.section_id, quote.text, QuoteState.FOUND, span, state.library)
    mark = quote.marks[0]
    elsewhere = next(_look_up_everywhere(quote.text, state), None)
    quote_state = QuoteState.ELSEWHERE if elsewhere else QuoteState.NOT_FOUND
    return mark, make_citation(mark.section_id, quote.text, quote_state, elsewhere, state.library)


def _attribute_quote(words: str, state: ConversationState) -> Citation | None:
    """Cite the section of a quote without an id, or return None unless exactly one section contains it."""
    library = state.library
    found: dict[str, Span] = {}
    for span in _look_up_everywhere(words, state):
        section_id = get_canonical_id(library, library.section_at(span.doc, span.start) or library.root_id)
        found[section_id] = span
    if len(found) != 1:
        return None
    ((section_id, span),) = found.items()
    return make_citation(section_id, words, QuoteState.FOUND, span, library)


def _find_in_section(quote: str, section_id: str, state: ConversationState) -> Span | None:
    """Find a quote in the delivered text and the excerpts of a section, and in its title."""
    library = state.library
    if section_id not in library:
        return None
    own, delivered, excerpts = library.span(section_id), state.collect_delivered(), state.collect_excerpts()
    for span in dict.fromkeys((library.get_content_span(section_id), own)):
        read = [*delivered.get(span.doc, ()), *excerpts.get(span.doc, ())]
        if span == own and find_quote(quote, library.title_of(section_id)):
            read.append(_find_title_line(own, library))  # a model that has read the id has also read the title
        pieces = [
            (max(start, span.start), min(end, span.end))
            for start, end in merge_bounds(read)
            if start < span.end and end > span.start
        ]
        found = _find_in(quote, span.doc, pieces, library)
        if found is not None:
            return found
    return None


def _find_title_line(span: Span, library: Library) -> Bounds:
    end = library.document(span.doc).text.find("\n", span.start, span.end)
    return span.start, span.end if end < 0 else end


def _look_up_everywhere(quote: str, state: ConversationState) -> Iterator[Span]:
    """Yield each place where a quote is found, in the delivered text of open sections and in excerpts."""
    texts = [section.deliveries for section in state.open_sections]
    texts += [(Span(doc=doc, start=a, end=b),) for doc, bounds in state.collect_excerpts().items() for a, b in bounds]
    for spans in texts:
        for doc in dict.fromkeys(span.doc for span in spans):
            bounds = merge_bounds((span.start, span.end) for span in spans if span.doc == doc)
            found = _find_in(quote, doc, bounds, state.library)
            if found is not None:
                yield found


def _find_in(quote: str, doc: str, pieces: Sequence[Bounds], library: Library) -> Span | None:
    """Find a quote in pieces of a document.

    The model reads a version of the text with ids after headings and without page footers, and may quote from that.
    """
    document = library.document(doc)
    text = document.text
    without_ids = strip_ids(quote)
    for start, end in pieces:
        piece = text[start:end]
        found = find_quote(quote, piece)
        if found is None:
            without_footers = document.clean_text(start, end)  # has the same offsets
            if without_ids != quote or without_footers != piece:
                found = find_quote(without_ids, without_footers)
        # A piece may end inside a number.
        if found is not None and not divides_number(text, start + found[0], start + found[1]):
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
        page=library.page_of(library.span(section_id) if span is None else span),
        span=span,
    )
