"""Find what a document says around a quote, as a person sees it: the sentence, and what introduces it.

A row of a table comes with its column heads, and an item of a list with the line that leads the list in and
the items below it. A sentence may continue on the next page.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import chain, pairwise, takewhile
from operator import attrgetter
from typing import NamedTuple

from roamtui.document.document import Document
from roamtui.document.footers import blank_footers
from roamtui.document.library import Library
from roamtui.markdown.blocks import Emphasis
from roamtui.markdown.inline import extract_words
from roamtui.markdown.quoted_sentence import QuotedSentence, format_gap, list_near_bounds
from roamtui.markdown.units import Unit, UnitKind, list_units
from roamtui.markdown.visible import VisiblePiece, VisibleText
from roamtui.quotes.chunks import normalise_word
from roamtui.quotes.find import PUNCTUATION
from roamtui.sanitiser import sanitise_text
from roamtui.text import ROMAN_NUMERALS, Bounds, Span

_LENGTH_MAX = 2_000
"""Maximum length of a sentence that is kept whole, in characters."""
_LEADS_MAX = 4
_WINDOW = 2_000
"""Minimum number of characters to read before and after the sections of a quote."""
_STEPS_MAX = 100
"""Maximum number of units to look at before a quote."""
_REACH_MIN = 100
_SKIPPED_MAX = 3
"""Maximum number of units, such as footnotes, between the parts of a sentence."""
_BETWEEN_PAGES = re.compile(r"Page \d+\b|(?:\[?\^?\d{1,4}\]?|[*†‡¹²³⁴-⁹]+)(?:\s|\Z|(?=[A-Z]))")
"""The start of a page's title, a page number, or a footnote."""
_ENUMERATOR = re.compile(r"\(?(?P<label>\d{1,3}|[ivxl]{1,5}|[a-z]|[IVXL]{1,5}|[A-Z])[.)]\s|[•▪◦●○·–—-]\s")
"""The start of a paragraph that a person sees as an item of a list, as in a PDF."""
_FIRST_LABELS = frozenset({"1", "a", "A", "i", "I"})
_ITEM_LABEL = re.compile(r"[.)\s]+\Z")
_LINE_END = VisiblePiece(" ")
_DIVIDED = re.compile(r"\w-\Z")
"""The end of a line that divides a word."""
_SOFT_HYPHEN = "\u00ad"
_SPACE = re.compile(r"\s+")
_START = attrgetter("start")
_UNTOLD = PUNCTUATION.translate(dict.fromkeys(map(ord, "-–—*!?"))) + " "
"""Signs that the sentence of a quote may have without being shown."""
_SIGN = re.compile(r"[^\w\s]")
_QUOTATION_MARK = re.compile("[“”„‟«»]")


class _Segment(NamedTuple):
    text: VisibleText
    start: int
    end: int
    quoted: tuple[Bounds, ...] = ()
    """The bounds of the quote in the source of the text."""


def find_quoted_sentence(
    library: Library, parts: Sequence[Span], exact_quote: str | None = None
) -> QuotedSentence | None:
    """Find the text around the parts of a quote, or None if it adds nothing to an exact quote."""
    segments = _Finder(library, parts).list_segments()
    line = _SentenceWriter()
    length = sum(segment.end - segment.start for segment in segments)
    edges = sum(len(_list_edges(segment)) for segment in segments)
    reach = length if length <= _LENGTH_MAX else max(_REACH_MIN, _LENGTH_MAX // max(1, edges))
    for segment in segments:
        line.add(segment, reach)
    return line.finish(exact_quote)


def covers_whole_sentence(surroundings: QuotedSentence) -> bool:
    """Return whether a quote leaves out only stops and brackets of its sentence: no word, no other sign."""
    return not any(text.strip(_UNTOLD) for text in surroundings.unquoted)


def _list_signs(text: str) -> list[str]:
    """List the signs in a text, each in one form, without the punctuation at its ends."""
    return _SIGN.findall(_QUOTATION_MARK.sub('"', normalise_word(text).strip(f"{PUNCTUATION} ")))


def _list_edges(segment: _Segment) -> list[int]:
    located = (segment.text.locate(*bounds) for bounds in segment.quoted)
    return [edge for bounds in located if bounds is not None for edge in bounds]


@lru_cache(maxsize=32)
def _read_units(document: Document, start: int, end: int) -> tuple[Unit, ...]:
    """List the units of a part of a document, with offsets from its start."""
    from roamtui.markdown import parser  # noqa: PLC0415

    text = blank_footers(document.text, start, end)
    definitions = document.link_definitions if "][" in text else None
    return list_units(text, parser.parse_markdown(text, definitions=definitions))


class _Finder:
    """Reads the sections of a quote with those around them. Methods name units by their index."""

    def __init__(self, library: Library, parts: Sequence[Span]) -> None:
        document = library.documents_by_key[parts[0].doc]
        starts = document.columns.starts
        first = starts[max(0, bisect_right(starts, parts[0].start) - 1)]
        last = starts[min(bisect_left(starts, parts[-1].end), len(starts) - 1)]
        start = starts[max(0, bisect_right(starts, first - _WINDOW) - 1)]
        end = starts[min(bisect_left(starts, last + _WINDOW), len(starts) - 1)]
        self._units = _read_units(document, start, end)
        self._quoted = tuple((part.start - start, part.end - start) for part in parts)

    def list_segments(self) -> list[_Segment]:
        """List the parts to show: the lines that lead in, and the whole sentences that the quote touches."""
        touched = self._list_touched()
        if not touched:
            return []
        first, last = touched[0], touched[-1]
        start = self._find_start(first, _list_edges(self._make_segment(first))[0])
        end = self._find_end(last, _list_edges(self._make_segment(last))[-1])
        indexes = [*touched]
        if start == 0 and (before := self._find_continued(first, -1)) is not None:
            indexes.insert(0, before)
            start = self._find_start(before, len(self._show(before).text))
        below: list[int] = []
        if end == len(self._show(last).text) and (after := self._find_continued(last, 1)) is not None:
            indexes.append(after)
            end = self._find_end(after, 0)
        elif end == len(self._show(last).text):
            below = self._list_below(touched)
        leads = [index for index in self._list_leads(first) if index not in touched]
        sentence = [*map(self._make_segment, indexes)]
        sentence[0] = sentence[0]._replace(start=start)
        sentence[-1] = sentence[-1]._replace(end=end)
        if below:
            shown = [self._show(indexes[-1]), *map(self._show, below)]
            pieces = chain.from_iterable((_LINE_END, *text.pieces) for text in shown)
            joined = VisibleText(tuple(pieces)[1:])
            sentence[-1] = sentence[-1]._replace(text=joined, end=len(joined.text))
        return [*map(self._make_lead, leads[-_LEADS_MAX:]), *sentence]

    def _list_below(self, touched: Sequence[int]) -> list[int]:
        """List the units of the lists below touched items that follow the last touched unit."""
        end = max(self._units[index].list_end for index in touched)
        following = range(touched[-1] + 1, len(self._units))
        return [*takewhile(lambda index: self._units[index].start < end, following)]

    def _list_touched(self) -> list[int]:
        touched: list[int] = []
        for start, end in self._quoted:
            index = bisect_left(self._units, end, key=_START)
            found: list[int] = []
            while index and self._units[index - 1].end > start:
                index -= 1
                if self._units[index].whole.locate(start, end) is not None:
                    found.append(index)
            touched += [index for index in reversed(found) if index not in touched[-1:]]
        return touched

    def _make_segment(self, index: int) -> _Segment:
        text = self._show(index)
        return _Segment(text, 0, len(text.text), self._quoted)

    def _show(self, index: int) -> VisibleText:
        """Return the text of a unit as it is shown. A row has its column heads."""
        unit = self._units[index]
        return unit.as_row if unit.kind.is_row else unit.whole

    def _find_start(self, index: int, position: int) -> int:
        unit = self._units[index]
        if not unit.kind.has_sentences:
            return 0
        number = bisect_right(unit.whole.sentence_ends, position) - 1
        start = unit.whole.sentence_ends[number] if number >= 0 else 0
        number_length = len(unit.whole.pieces[0].text) if unit.kind is UnitKind.ITEM else 0
        return number_length if start == 0 and position >= number_length else start

    def _find_end(self, index: int, position: int) -> int:
        unit = self._units[index]
        number = bisect_left(unit.whole.sentence_ends, position)
        is_inner = unit.kind.has_sentences and number < len(unit.whole.sentence_ends)
        return unit.whole.sentence_ends[number] if is_inner else len(self._show(index).text)

    def _find_continued(self, index: int, step: int) -> int | None:
        """Find the paragraph that continues the sentence of a unit, before it (`step` -1) or after it (1)."""
        neighbour = index + step
        for _ in range(_SKIPPED_MAX):
            if not 0 <= neighbour < len(self._units) or not _is_between_pages(self._units[neighbour]):
                break
            neighbour += step
        if not 0 <= neighbour < len(self._units):
            return None
        upper, lower = (self._units[each] for each in sorted((index, neighbour)))
        return neighbour if lower.continues(upper) else None

    def _list_leads(self, index: int) -> list[int]:
        unit = self._units[index]
        if unit.kind in (UnitKind.HEADING, UnitKind.CODE):
            return []
        leads = [*unit.leads]
        while len(leads) < _LEADS_MAX:
            lead = self._find_written_lead(leads[0] if leads else index)
            if lead is None:
                break
            leads.insert(0, lead)
        return leads

    def _find_written_lead(self, index: int) -> int | None:
        """Find the line that leads in a list whose items are paragraphs, as in a PDF: "(a) the fee"."""
        label = _read_label(self._units[index])
        if label is None:
            return None
        for above in range(index - 1, max(-1, index - _STEPS_MAX), -1):
            unit = self._units[above]
            if unit.kind is UnitKind.HEADING:
                break
            text = unit.whole.text.rstrip()
            other = _read_label(unit)
            if other is not None and other in _list_labels_before(label):
                label = other
            elif not label or label in _FIRST_LABELS:
                is_open = other is None and text[-1:] not in ".!?;"
                is_lead = unit.kind.has_sentences and (is_open or text.endswith((":", "—", "–")))
                return above if is_lead else None
        return None

    def _make_lead(self, index: int) -> _Segment:
        """Make the segment of the last sentence of a line that leads in."""
        text = self._show(index)
        return _Segment(text, self._find_start(index, len(text.text)), len(text.text))


def _is_between_pages(unit: Unit) -> bool:
    """Return whether a sentence continues after a unit: the title or number of a page, or a footnote."""
    is_text = unit.kind is UnitKind.HEADING or unit.kind is UnitKind.PARAGRAPH
    return is_text and _BETWEEN_PAGES.match(unit.whole.text) is not None


def _read_label(unit: Unit) -> str | None:
    """Return the label of an item such as "(a) the fee", empty for a bullet, None if a unit is no item."""
    if unit.kind is UnitKind.ITEM:
        return _ITEM_LABEL.sub("", unit.whole.pieces[0].text)
    match = _ENUMERATOR.match(unit.whole.text) if unit.kind is UnitKind.PARAGRAPH else None
    return None if match is None else match["label"] or ""


def _list_labels_before(label: str) -> tuple[str, ...]:
    """List the labels that may come before a label: "b" before "c", and "iv" or "u" before "v"."""
    if not label or label.isdigit():
        return (str(int(label) - 1),) if label else ("",)
    pairs = chain(pairwise(ROMAN_NUMERALS), pairwise(map(str.upper, ROMAN_NUMERALS)))
    before = [earlier for earlier, later in pairs if later == label]
    return (*before, *([chr(ord(label) - 1)] if len(label) == 1 else []))


class _SentenceWriter:
    """Joins segments to one sentence, and notes which words are quoted and which are struck out."""

    def __init__(self) -> None:
        self._text = ""
        self._quoted: list[Bounds] = []
        self._struck: list[Bounds] = []

    def add(self, segment: _Segment, reach: int) -> None:
        """Add a segment. If it is long, add only the text within `reach` characters of the quote's ends."""
        self._write(" ")
        edges = _list_edges(segment) or [segment.end]
        position = segment.start
        shown = list_near_bounds(segment.text.text, (segment.start, segment.end), edges, reach)
        for start, end in (*shown, (segment.end, segment.end)):
            if position < start:
                self._write(f" {format_gap(segment.text.text[position:start])} ")
            for piece in segment.text.iter_pieces(start, end):
                self._write_piece(piece, segment.quoted)
            position = end

    def _write_piece(self, piece: VisiblePiece, quoted: Sequence[Bounds]) -> None:
        if piece == _LINE_END and _DIVIDED.search(self._text):
            return
        is_whole = piece.end - piece.start != len(piece.text)
        inside = [bounds for bounds in quoted if bounds[0] < piece.end and piece.start < bounds[1]]
        if is_whole or not inside:
            self._write(piece.text, is_quoted=bool(inside), emphasis=piece.emphasis)
            return
        edges = {edge for bounds in inside for edge in bounds if piece.start < edge < piece.end}
        for start, end in pairwise((piece.start, *sorted(edges), piece.end)):
            text = piece.text[start - piece.start : end - piece.start]
            is_quoted = any(low <= start < high for low, high in inside)
            self._write(text, is_quoted=is_quoted, emphasis=piece.emphasis)

    def _write(self, text: str, *, is_quoted: bool = False, emphasis: Emphasis = Emphasis.NONE) -> None:
        line = _SPACE.sub(" ", sanitise_text(text)).replace(_SOFT_HYPHEN, "")
        if self._text.endswith(" ") or not self._text:
            line = line.lstrip(" ")
        bounds = (len(self._text), len(self._text) + len(line.rstrip(" ")))
        self._text += line
        if is_quoted:
            self._quoted.append(bounds)
        if Emphasis.STRUCK in emphasis:
            self._struck.append(bounds)

    def finish(self, exact_quote: str | None) -> QuotedSentence | None:
        """Return what was written, or None if it adds no word, sign or strike-out to an exact quote."""
        quoted = self._join(self._quoted)
        written = QuotedSentence(sentence=self._text.rstrip(), quoted=quoted, struck=self._join(self._struck))
        adds_nothing = False
        if exact_quote is not None and covers_whole_sentence(written) and not written.struck:
            adds_nothing = _list_signs(written.sentence) == _list_signs(extract_words(exact_quote))
        return written if quoted and not adds_nothing else None

    def _join(self, bounds: Iterable[Bounds]) -> tuple[Bounds, ...]:
        """Join bounds between which there is only white space."""
        joined: list[Bounds] = []
        for start, end in bounds:
            if start >= end:
                continue
            if joined and not self._text[joined[-1][1] : start].strip():
                joined[-1] = (joined[-1][0], end)
            else:
                joined.append((start, end))
        return tuple(joined)
