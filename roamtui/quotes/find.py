"""Find a quote in a text: a contiguous run of the same words.

The words are *exact* if their exact keys are equal, and *the same, written otherwise* if only their loose
keys are equal. In the second case, the quote may leave out note marks and list numbers. No quote begins or
ends inside a word. An ellipsis leaves out words of one sentence or row. The program does not judge what is
left out: the person sees the whole sentence next to the quote.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import lru_cache
from html import unescape
from itertools import islice
from operator import attrgetter
from typing import NamedTuple

from msgspec import Struct

from roamtui.document.library import Library
from roamtui.quotes.chunks import Gap, WordFlag
from roamtui.quotes.likely_places import list_likely_places
from roamtui.quotes.spans import join_pages, widen_to_sections
from roamtui.quotes.words import Edge, Spelling, TextWords, read_plain_words, read_words
from roamtui.text import DASHES, UNSPACED, Bounds, Span

_LENGTH_MIN = 2
"""Minimum number of letters and digits of a quote. A shorter one is nearly everywhere."""
_SHORT_PLACES_MAX = 200
"""Maximum number of parts of a text to search for a shorter quote."""
_DOTS = r"(?:[…‥⋯⋮︙]|&hellip;|&#8230;)+"
_ELLIPSIS = re.compile(
    r"(?:(?<!\S)[*_]+)?"
    rf"(?:\[\s*(?:{_DOTS}|\.{{2,4}}|\.(?: \.){{2,3}})\s*\]|\(\s*(?:{_DOTS}|\.{{3,4}})\s*\)|{_DOTS}"
    r"|(?<!\.)\.{3,4}(?!\.)|(?<!\S)\.(?: \.){2,3}(?!\S))"
    r"(?:[*_]+(?!\S))?"
)
"""An ellipsis, in brackets or not. Marks of emphasis may be around it."""
_SHORTENED_TARGET = re.compile(r"(?<=\]\()[^()\s]*(?:…|\.{3})(?=\)|\Z)")
"""A link target that `annotate_with_ids` has shortened. Its ellipsis omits no words."""
_EDITED_LETTER = re.compile(r"\[(\w)\](?=\w)")
"""A first letter that was changed to fit into a sentence: "[t]he"."""
PARTS_MAX = 20
"""Maximum number of parts between ellipses. More ellipses leave too little text to prove anything."""
_GAP = Gap.SPACE | Gap.HYPHEN
_UNSPACED = re.compile(f"[{UNSPACED}]")
_MATCHES_MAX = 1000
"""Maximum number of places of a part of a quote in one text."""
_MARKERS = "+>#"
"""Signs that begin a block of Markdown, and that are no punctuation before a number."""
_SIGN_BEFORE = re.compile(rf"(?P<sign>[{DASHES}{_MARKERS}])[^{DASHES}{_MARKERS}\w|\n]*\Z")
_SIGN_REACH = 20
"""Number of characters before a place that may have its sign."""
_START = attrgetter("start")
PUNCTUATION = ".,;:!?\"'“”‘’„«»()[]{}*_`-–—…。，；：！？「」『』"


class QuoteMatch(NamedTuple):
    """Where a text has a quote."""

    start: int
    end: int
    is_exact: bool
    """Whether the text has the same words, and not only the same letters and numbers."""
    parts: tuple[Bounds, ...]
    """The bounds of its parts between ellipses."""
    fills_unit: bool
    """Whether it begins and ends with a cell, an item or a sentence."""


class FoundQuote(Struct, frozen=True, kw_only=True):
    """Where a library has a quote."""

    span: Span
    is_exact: bool
    fills_unit: bool
    parts: tuple[Span, ...]


def find_quote(quote: str, text: str) -> QuoteMatch | None:
    """Return where a Markdown text has a quote, or None. An exact place comes before one written otherwise.

    Both are read as a person sees them: see `words.py`.
    """
    return next(_iter_quote(quote, text, (0, len(text))), None)


def find_in_span(quote: str, library: Library, within: Span) -> FoundQuote | None:
    """Return where a span has a quote, or None. The span is read with the sections around it."""
    return next(iter_in_span(quote, library, within), None)


def iter_in_span(quote: str, library: Library, within: Span) -> Iterator[FoundQuote]:
    """Yield the places at which a span has a quote, each once.

    The span is read with the sections around it, then without page footers, like every text that a model or
    search reads, then also without the titles of pages.
    """
    around = widen_to_sections(library, within)
    bounds = (within.start - around.start, within.end - around.start)
    texts = library.text_at(around), library.clean_text(around), join_pages(library, around)
    found: set[Span] = set()
    for text in dict.fromkeys(texts):
        for match in _iter_quote(quote, text, bounds):
            span = around.get_part(match.start, match.end)
            if span not in found:
                found.add(span)
                parts = tuple(around.get_part(*part) for part in match.parts)
                yield FoundQuote(span=span, is_exact=match.is_exact, fills_unit=match.fills_unit, parts=parts)


def _iter_quote(quote: str, text: str, within: Bounds) -> Iterator[QuoteMatch]:
    """Yield the places of a quote in a part of a text: the exact ones, then all as written otherwise."""
    if not _read_quote(quote):
        return
    likely: list[Bounds] = []
    places_max = None if is_long_quote(quote) else _SHORT_PLACES_MAX
    for bounds in islice(list_likely_places(quote, text), places_max):  # the first often has the quote
        likely.append(bounds)
        yield from _iter_matches(quote, text, bounds, within, is_exact=True)
    for bounds in likely:
        yield from _iter_matches(quote, text, bounds, within, is_exact=False)


def _iter_matches(
    quote: str, text: str, bounds: Bounds, within: Bounds, *, is_exact: bool
) -> Iterator[QuoteMatch]:
    excerpt = text[slice(*bounds)]
    words = read_words(excerpt)
    for variant in _read_quote(quote):
        for runs in _find_parts(variant, words, excerpt, is_exact=is_exact):
            match = _make_match(quote, text, bounds[0], words, runs, is_exact=is_exact)
            # an ellipsis at an edge may be apart from the words, as in `Fee <b>…`
            start = words.ends[runs[0].start - 1] if runs[0].start else 0
            end = words.starts[runs[-1].stop] if runs[-1].stop < len(words) else len(excerpt)
            has_ellipses = variant.ellipses <= len(_ELLIPSIS.findall(excerpt, start, end))
            is_within = within[0] <= match.start and match.end <= within[1]
            if has_ellipses and is_within:
                yield match


def is_long_quote(quote: str) -> bool:
    """Return whether a quote is proof wherever it is found, and not only in the section that it names."""
    return sum(map(str.isalnum, quote)) >= _LENGTH_MIN


class _QuotePart(NamedTuple):
    words: TextWords
    sign: str = ""
    """The sign with which it begins, if a number follows. The text must have it."""


class _QuoteVariant(NamedTuple):
    parts: Sequence[_QuotePart]
    """Its parts between ellipses."""
    ellipses: int = 0
    """Number of ellipses in its parts. The text must have them too, because they leave out nothing."""
    is_code: bool = False


def split_at_ellipses(quote: str) -> list[str]:
    """Return the parts of a quote between its ellipses. Parts without a letter or digit are left out."""
    return [part.strip() for part in _ELLIPSIS.split(quote) if any(map(str.isalnum, part))]


@lru_cache(maxsize=256)
def _read_quote(quote: str) -> list[_QuoteVariant]:
    """Read a quote as Markdown, in parts or whole with its ellipses, and as code.

    The list is empty if the quote has no word or too many parts.
    """
    whole = _EDITED_LETTER.sub(r"\1", _SHORTENED_TARGET.sub("", quote))
    parts = split_at_ellipses(whole)
    if not 1 <= len(parts) <= PARTS_MAX:
        return []
    variants = [_QuoteVariant([*map(_read_part, parts)])]
    if len(parts) > 1:
        variants.append(_QuoteVariant([_read_part(whole)], ellipses=len(_ELLIPSIS.findall(whole))))
    code = [_QuotePart(read_plain_words(part, is_code=True)) for part in parts]
    variants.append(_QuoteVariant(code, is_code=True))
    return [variant for variant in variants if all(len(part.words) for part in variant.parts)]


def _read_part(part: str) -> _QuotePart:
    words = read_words(part)
    return _QuotePart(words, find_first_sign(part, words))


def find_first_sign(part: str, words: TextWords) -> str:
    """Return the sign before the first word of a quote, if it may change a number, or an empty text."""
    if not words:
        return ""
    before = part[: words.starts[0]]
    sign = before.rstrip()[-1:]
    has_number = any(map(str.isdigit, part[words.starts[0] : words.ends[0]]))
    return sign if has_number and sign in {*DASHES, *_MARKERS} else ""


def _find_parts(
    variant: _QuoteVariant, words: TextWords, text: str, *, is_exact: bool
) -> Iterator[Sequence[range]]:
    """Yield the runs of a quote's parts for each of its places. All are in one sentence or row."""
    firsts, *following = (
        [run for run in _find_runs(part.words, words, is_exact=is_exact) if _has_sign(part, text, words, run)]
        for part in variant.parts
    )
    following = [sorted(runs, key=_START) for runs in following]
    for run in firsts:
        if variant.is_code and not words.flags[run.start] & WordFlag.CODE:
            continue
        chosen = [run]
        for runs in following:
            index = bisect_left(runs, chosen[-1].stop, key=_START)
            if index == len(runs) or not _may_omit(words, text, chosen[-1], runs[index]):
                break
            chosen.append(runs[index])
        else:
            yield chosen


def _has_sign(part: _QuotePart, text: str, words: TextWords, run: range) -> bool:
    """Return whether a text has the sign of a part, if there is one, before a run."""
    if not part.sign:
        return True
    position = words.starts[run.start]
    match = _SIGN_BEFORE.search(unescape(text[max(0, position - _SIGN_REACH) : position]))
    return match is not None and (match["sign"] == part.sign or {match["sign"], part.sign} <= {*DASHES})


def _find_runs(part: TextWords, words: TextWords, *, is_exact: bool) -> Iterator[range]:
    """Yield the places of a part: by its exact keys, or by its letters with notes, then without any."""
    pairs = [(part.exact, words.exact)] if is_exact else [(part.letters, words.letters)]
    has_notes = part.plain_letters is not part.letters or words.plain_letters is not words.letters
    if has_notes and not is_exact:
        pairs.append((part.plain_letters, words.plain_letters))
    for quoted, spelling in pairs:
        notes = _place_notes(part, quoted, range(len(quoted.rows)))
        for indices in islice(spelling.iter_runs(quoted.text), _MATCHES_MAX):
            run = range(spelling.rows[indices.start], spelling.rows[indices.stop - 1] + 1)
            has_notes = is_exact or notes <= _place_notes(words, spelling, indices)
            if has_notes and _has_whole_words(run, words) and _has_same_gaps(quoted, spelling, indices):
                yield run


def _has_same_gaps(sought: Spelling, letters: Spelling, indices: range) -> bool:
    """Return whether no space makes another word, and no gap or bracket makes another number."""
    gaps = letters.gaps[letters.starts[indices.start] : letters.starts[indices.stop]]
    for index, (own, other) in enumerate(zip(sought.gaps, gaps, strict=True)):
        if own == other:
            continue
        lacks_bracket = other & Gap.NEGATIVE and not own & Gap.BRACKETS
        has_more_brackets = own & Gap.BRACKETS and not other & Gap.BRACKETS
        pair = sought.text[index - 1 : index + 1]
        kinds = {own & _GAP, other & _GAP}
        is_other_word = pair.isalpha() and kinds == {Gap.NONE, Gap.SPACE} and not _UNSPACED.search(pair)
        is_in_number = pair.strip(".,").isdigit()
        is_other_number = is_in_number and len(kinds) > 1 and Gap.NONE in kinds
        if lacks_bracket or has_more_brackets or (index and (is_other_word or is_other_number)):
            return False
    return True


def _place_notes(words: TextWords, letters: Spelling, indices: range) -> set[tuple[int, str]]:
    """Return the note marks and list numbers in and beside a run of words, each with its place in the run."""
    rows = letters.rows
    first = rows[indices.start - 1] + 1 if indices.start else 0
    after = rows[indices.stop] if indices.stop < len(rows) else len(words)
    notes = (row for row in range(first, after) if words.flags[row] & WordFlag.NOTE)
    start = letters.starts[indices.start]
    places = ((row, bisect_left(rows, row, indices.start, indices.stop)) for row in notes)
    return {(letters.starts[index] - start, words.exact.get_key(row)) for row, index in places}


def _has_whole_words(run: range, words: TextWords) -> bool:
    """Return whether a run neither begins nor ends inside a word."""
    edges = words.flags[run.start : run.start + 1] + words.flags[run.stop : run.stop + 1]
    return not any(flags & WordFlag.INSIDE for flags in edges)


def _may_omit(words: TextWords, text: str, before: range, after: range) -> bool:
    """Return whether an ellipsis may leave out the words between two runs: words of one sentence or row."""
    gap = text[words.ends[before[-1]] : words.starts[after[0]]]
    are_rows = "|" in gap and "\n" in gap  # of a table without heads
    edges = words.edges[before.stop : after.start + 1]
    if are_rows or Edge.BLOCK in edges:
        return False
    return Edge.CELL in edges or Edge.SENTENCE not in edges


def _make_match(
    quote: str, text: str, shift: int, words: TextWords, runs: Sequence[range], *, is_exact: bool
) -> QuoteMatch:
    """Make a match of runs of `words`, whose offsets count from `shift` in the text."""
    parts = [(shift + words.starts[run[0]], shift + words.ends[run[-1]]) for run in runs]
    start, end = _include_punctuation(quote, text, parts[0][0], parts[-1][1])
    fills_unit = _is_edge(words, runs[0].start) and _is_edge(words, runs[-1].stop)
    return QuoteMatch(start, end, is_exact, tuple(parts), fills_unit)


def _is_edge(words: TextWords, row: int) -> bool:
    """Return whether a cell, an item or a sentence begins with the word of a row, or ends before it."""
    return row in (0, len(words)) or words.edges[row] != Edge.NONE


def _include_punctuation(quote: str, text: str, start: int, end: int) -> Bounds:
    """Widen bounds to the punctuation with which both the quote and the text begin and end."""
    for sign in reversed(quote[: len(quote) - len(quote.lstrip(PUNCTUATION))]):
        if not text.endswith(sign, 0, start):
            break
        start -= 1
    for sign in quote[len(quote.rstrip(PUNCTUATION)) :]:
        if not text.startswith(sign, end):
            break
        end += 1
    return start, end
