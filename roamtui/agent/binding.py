"""Reads the citations of an answer: its marks, its quotes in any language, and which mark a quote may belong to.

A quote binds to an id in its own sentence, the nearest before it first, else after it. What follows a colon, such as
the items of a list, belongs to the sentence before the colon where it has no ids of its own.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

_SECTION = r"[0-9a-f]{8}(?::[\dc.]+)?"
_DRESS = r"[\"'`*§\s]*+"
MARK = re.compile(rf"\[{_DRESS}{_SECTION}(?:[,;\"'`*§\s]++{_SECTION})*+{_DRESS}\]")
MARKED_ID = re.compile(r"(?<![0-9a-f:.])[0-9a-f]{8}")
"""Each id of a mark, without the numbers of pages and ranges."""


_TYPOGRAPHIC = re.compile(
    r"“(?P<curly>[^“”]*(?:“[^“”]*”[^“”]*)*)”|„(?P<low>[^„“”]+)[“”]|«(?P<guillemets>[^«»]*(?:«[^«»]*»[^«»]*)*)»"
    r"|»(?P<reversed>[^«»]+)«|「(?P<corner>[^「」]+)」|『(?P<white_corner>[^『』]+)』|〝(?P<prime>[^〝〞〟]+)[〞〟]"
    r"|＂(?P<wide>[^＂\n]+)＂|(?<![^\s(\[])”(?P<same>[^“”\n]+)”"
)
_STRAIGHT = re.compile(r"\"|\n[ \t]*\n")
_CODE = re.compile(r"(?<!`)(`+)(?!`)(?:(?!\n[ \t]*\n).)+?(?<!`)\1(?!`)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Quotation:
    """Words between quotation marks."""

    text: str
    start: int
    """Offset of the opening mark."""
    end: int
    """Offset after the closing mark."""
    is_code: bool = False
    """Whether it stands between backticks: a quote only where an id stands in its sentence."""


def find_quotations(answer: str) -> list[Quotation]:
    """Return the outermost quotations of an answer in order, and what stands in backticks outside of them.

    String literals inside code are none.
    """
    found = [*_find_typographic(answer), *_find_straight(answer)]
    spans = [*_CODE.finditer(answer)]
    code = [(match.start(), match.end()) for match in spans]
    quoted = [one for one in _keep_outermost(found) if one.text and not _is_inside(one, code)]
    coded = [Quotation(_read_code(m.group()), m.start(), m.end(), is_code=True) for m in spans]
    return _keep_outermost([*quoted, *(one for one in coded if one.text)])


def _read_code(span: str) -> str:
    """Return what stands in a code span; of a fenced block what stands below the line with its language."""
    inside = span.strip("`")
    if span.startswith("```") and "\n" in inside:
        inside = inside.partition("\n")[2]
    return inside.strip()


def _find_typographic(answer: str) -> Iterator[Quotation]:
    for match in _TYPOGRAPHIC.finditer(answer):
        text = next(group for group in match.groups() if group is not None)
        yield Quotation(text.strip(), match.start(), match.end())


def _find_straight(answer: str) -> Iterator[Quotation]:
    """Yield pairs of straight marks, inner ones first; a mark opens or closes by what stands beside it."""
    opened: list[int] = []
    for match in _STRAIGHT.finditer(answer):
        position = match.start()
        if match.group() != '"':
            opened.clear()
            continue
        before, after = answer[position - 1 : position] if position else "", answer[position + 1 : position + 2]
        can_open = bool(after.strip()) and not _is_letter(before)
        can_close = bool(before.strip()) and not _is_letter(after)
        if opened and (can_close or not can_open):
            start = opened.pop()
            yield Quotation(answer[start + 1 : position].strip(), start, position + 1)
        elif can_open or not can_close:
            opened.append(position)


def _is_letter(character: str) -> bool:
    """Return whether words go on beside this character: scripts without spaces quote in the middle of a line."""
    return character.isalnum() and ord(character) < 0x0E00


def _keep_outermost(quotations: Iterable[Quotation]) -> list[Quotation]:
    kept: list[Quotation] = []
    for quotation in sorted(quotations, key=lambda quotation: (quotation.start, -quotation.end)):
        if not kept or quotation.start >= kept[-1].end:
            kept.append(quotation)
    return kept


def _is_inside(quotation: Quotation, code: list[tuple[int, int]]) -> bool:
    index = bisect_right(code, (quotation.start, quotation.start)) - 1
    return index >= 0 and quotation.end <= code[index][1]


_CANDIDATES_MAX = 8
"""Marks on each side of a quote that are looked at."""
_MARKS_AT_END = re.compile(rf"\s*({MARK.pattern}\s*)+[.!?]?\Z")
_BEFORE_WHAT_FOLLOWS = re.compile(r":[*_ \t]*\Z")
_ITEM = re.compile(r"\s*(?:[-*+>|•]|\d+[.)])[ \t|]")
_MARKS_AFTER = rf"(?:\s*+{MARK.pattern})*+"
_CLOSERS = r"[\"'”’»)\]」』*_]*+"
_SENTENCE_END = re.compile(
    rf"(?:(?<!\b[^\W\d_])[.…]++|[!?]++){_CLOSERS}(?P<marks>{_MARKS_AFTER})\s++(?![\[(]?[a-zß-öø-ÿ\d])"
    rf"|[。！？]++{_CLOSERS}(?P<wide_marks>{_MARKS_AFTER})\s*+"
    r"|\n[ \t]*\n|\n(?=[ \t]*(?:[-*+|#]|\d+[.)])[ \t|#])"
)
"""Where a sentence ends: after the marks that follow its full stop, but neither after an initial nor before a small
letter or a number, as they follow abbreviations."""


@dataclass(frozen=True, slots=True)
class Mark:
    """One id between square brackets."""

    section_id: str
    start: int
    sentence: int
    """0-based."""


@dataclass(frozen=True, slots=True)
class ParsedAnswer:
    """The quotes and marks of an answer, in order."""

    quotes: Sequence[Quotation]
    marks: Sequence[Mark]
    sentence_ends: Sequence[int]
    marks_by_sentence: Mapping[int, Sequence[int]]
    """Indexes of marks."""
    first_quotes: Mapping[int, int]
    """Offset of the first quote of each sentence that has one."""
    introductions: Mapping[int, int]
    """The sentence with a colon that another one follows or is an item of."""

    def rank_marks(self, quote: Quotation) -> list[int]:
        """Return the marks of a quote's sentence: those before it, nearest first, then those after it.

        In a sentence that begins with a quote marks follow their quotes, so there those after it come first.
        """
        sentence = bisect_right(self.sentence_ends, quote.start)
        own = self.marks_by_sentence.get(sentence, ())
        if not own and sentence in self.introductions:
            own = self.marks_by_sentence.get(self.introductions[sentence], ())
        if not own:
            return []
        split = bisect_right(own, quote.start, key=lambda index: self.marks[index].start)
        before = [*reversed(own[max(0, split - _CANDIDATES_MAX) : split])]
        after = [*own[split : split + _CANDIDATES_MAX]]
        marks_follow = self.first_quotes[sentence] < self.marks[own[0]].start
        return after + before if marks_follow else before + after


def read_answer(answer: str) -> ParsedAnswer:
    """Return the quotes and marks of an answer."""
    quotes = [_cut_marks(quote, answer) for quote in find_quotations(answer) if not _is_part_of_mark(quote, answer)]
    starts = [quote.start for quote in quotes]
    ends = [match.end() for match in _SENTENCE_END.finditer(answer) if _ends_sentence(match, quotes, starts)]
    marks = [
        Mark(section.group(), match.start(), bisect_right(ends, match.start()))
        for match in MARK.finditer(answer)
        if _find_around(match.start(), quotes, starts) is None
        for section in MARKED_ID.finditer(match.group())
    ]
    marks_by_sentence: dict[int, list[int]] = defaultdict(list)
    for index, mark in enumerate(marks):
        marks_by_sentence[mark.sentence].append(index)
    first_quotes: dict[int, int] = {}
    for start in starts:
        first_quotes.setdefault(bisect_right(ends, start), start)
    return ParsedAnswer(quotes, marks, ends, marks_by_sentence, first_quotes, _find_introductions(answer, ends))


def _find_introductions(answer: str, ends: Sequence[int]) -> dict[int, int]:
    """Return which sentences belong to an earlier one that ends with a colon: the next one, and items of a list."""
    introductions: dict[int, int] = {}
    introduction: int | None = None
    for sentence, (start, end) in enumerate(pairwise((0, *ends, len(answer)))):
        if introduction is not None and (introduction == sentence - 1 or _ITEM.match(answer, start, end)):
            introductions[sentence] = introduction
        elif introduction is not None:
            introduction = None
        if _BEFORE_WHAT_FOLLOWS.search(answer[start:end].rstrip()):
            introduction = sentence
    return introductions


def _find_around(position: int, quotes: Sequence[Quotation], starts: Sequence[int]) -> Quotation | None:
    """Return the quote that holds a character, its quotation marks apart."""
    index = bisect_right(starts, position) - 1
    quote = quotes[index] if index >= 0 else None
    return quote if quote is not None and quote.start < position < quote.end - 1 else None


def _ends_sentence(match: re.Match[str], quotes: Sequence[Quotation], starts: Sequence[int]) -> bool:
    """Return whether a full stop ends a sentence: inside a quote it does only before marks that follow the quote."""
    quote = _find_around(match.start(), quotes, starts)
    return quote is None or (bool(match["marks"] or match["wide_marks"]) and match.end() >= quote.end)


def _cut_marks(quote: Quotation, answer: str) -> Quotation:
    """Return a quote without the marks at its end, which a model put inside the quotation marks."""
    match = _MARKS_AT_END.search(quote.text)
    if match is None or not match.start():
        return quote
    words = quote.text[: match.start()]
    return replace(quote, text=words, end=answer.index(words, quote.start) + len(words))


def _is_part_of_mark(quote: Quotation, answer: str) -> bool:
    """Return whether the quotation marks stand around an id, as in a list of a tool call."""
    before = answer[max(0, quote.start - 3) : quote.start].rstrip()
    return MARKED_ID.fullmatch(quote.text) is not None and before.endswith(("[", ",", ";"))
