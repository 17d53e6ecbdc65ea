"""Find the words of a text that are most similar to a quote, and tell how they differ."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from heapq import nlargest
from itertools import islice
from operator import attrgetter
from typing import NamedTuple

from msgspec.structs import replace

from roamtui.document.library import Library
from roamtui.markdown.inline import extract_words
from roamtui.quotes.chunks import Gap
from roamtui.quotes.find import PARTS_MAX, find_first_sign, find_in_span, split_at_ellipses
from roamtui.quotes.spans import widen_to_sections
from roamtui.quotes.words import TextWords, read_plain_words, read_words
from roamtui.sentences import widen_to_sentences
from roamtui.text import Bounds, Span

_WORDS_MAX = 400
"""Maximum number of words of a quote to compare. The time grows with the square of this number."""
_SOUGHT_MAX = 8
"""Maximum number of a quote's longest words to look for in the text, and of their places to read."""
_OCCURRENCES_MAX = 2000
_WORDS_BESIDE = 6
_OPENING = re.compile(r"(?:!?\[|[*_~`])+\Z")
_CLOSING = re.compile(r"(?:\]\([^()\s]*(?:\([^()\s]*\)[^()\s]*)*\)|\]\[[^\]\n]*\]|[*_~`])+")
"""Markup next to the words of a passage."""
_UNSPACED_END = re.compile(r"(?<=\s)\S*\Z")


class SimilarWords(NamedTuple):
    """Words that are similar to a quote."""

    similarity: float
    """The share of words that both have in the same order, from 0 to 1."""
    span: Span
    is_apart: bool = False
    """Whether they have all parts of the quote between ellipses, one after the other."""


class DiffPart(NamedTuple):
    """Words that a quote and a text share, or that only one of them has."""

    words: str
    is_in_quote: bool
    is_in_text: bool

    @property
    def is_shared(self) -> bool:
        """Whether both have them."""
        return self.is_in_quote and self.is_in_text


def find_similar_words(quote: str, library: Library, spans: Sequence[Span]) -> SimilarWords | None:
    """Return the words of the spans that are most similar to a quote, and have most of its words.

    They include the words in place of its first and last ones. If a span has all parts of the quote between
    ellipses one after the other, they reach from the first part to the last.
    """
    words = read_words(quote)
    similar = (
        _find_parts_apart(quote, library, place) or _find_similar(quote, words, library, place)
        for place in _list_similar_stretches(quote, words, library, spans)
    )
    return max(filter(None, similar), key=attrgetter("similarity"), default=None)


def _find_parts_apart(quote: str, library: Library, within: Span) -> SimilarWords | None:
    parts = split_at_ellipses(quote)
    left = within
    found: list[Span] = []
    for part in parts if 1 < len(parts) <= PARTS_MAX else ():
        match = find_in_span(part, library, left)
        if match is None:
            return None
        found.append(match.span)
        left = replace(left, start=match.span.end)
    if not found:
        return None
    span = replace(within, start=found[0].start, end=found[-1].end)
    return SimilarWords(1.0, span, is_apart=True)  # the ellipsis says that words are left out


def _list_similar_stretches(
    quote: str, words: TextWords, library: Library, spans: Sequence[Span]
) -> Iterator[Span]:
    """Yield the stretches of the spans that share most of a quote's longest words, the likeliest first."""
    texts = (quote[start:end] for start, end in zip(words.starts, words.ends, strict=True))
    longest = nlargest(_SOUGHT_MAX, dict.fromkeys(texts), key=len)
    width = 2 * len(quote) + 200
    shared = Counter[int]()
    count = len(spans)
    for number, span in enumerate(spans):
        text = library.documents_by_key[span.doc].text
        for word in longest:
            offsets = _list_offsets(word, text, span.start, span.end)
            stretches = {offset // width * count + number for offset in offsets}
            shared.update(stretches | {stretch - count for stretch in stretches if stretch >= count})
    for key, _ in shared.most_common(_SOUGHT_MAX):
        stretch, number = divmod(key, count)
        span = spans[number]
        start = span.start + max(0, stretch - 1) * width
        yield Span(doc=span.doc, start=start, end=min(span.end, start + 4 * width))


@lru_cache(maxsize=1_000)
def _list_offsets(word: str, text: str, start: int, end: int) -> array[int]:
    """List the offsets of a word in a part of a text, from its start. Cached, because quotes share words."""
    found = re.compile(re.escape(word)).finditer(text, start, end)
    return array("I", [match.start() - start for match in islice(found, _OCCURRENCES_MAX)])


def _find_similar(quote: str, quote_words: TextWords, library: Library, within: Span) -> SimilarWords | None:
    """Return a span's most similar words, or None if it does not have most of the quote's words.

    With fewer, they were not made from each other: a single word may be anywhere in the text.
    """
    from rapidfuzz import distance, fuzz  # noqa: PLC0415

    around = widen_to_sections(library, within)
    text = library.clean_text(around)
    words = read_words(text)
    first_row = bisect_left(words.starts, within.start - around.start)
    after_row = bisect_right(words.ends, within.end - around.start)
    wanted = _list_keys(quote_words, 0, len(quote_words))[:_WORDS_MAX]
    keys = _list_keys(words, first_row, after_row)
    low, high = 0, len(keys)
    near = fuzz.partial_ratio_alignment(wanted, keys) if len(wanted) < high else None
    if near is not None:
        low, high = near.dest_start, near.dest_end
    edits = distance.LCSseq.editops(wanted, keys[low:high])
    blocks = [block for block in edits.as_matching_blocks() if block.size]
    if not blocks:
        return None
    start = low + blocks[0].b
    size = blocks[0].size
    # these first words may be a title, and stand again right before the next ones
    nearer = low + blocks[1].b - size if len(blocks) > 1 else start
    if keys[nearer : nearer + size] == keys[start : start + size]:
        start = nearer
    first = first_row + start
    last = first_row + low + blocks[-1].b + blocks[-1].size - 1
    shared = sum(block.size for block in blocks)
    if shared <= len(wanted) / 2:
        return None
    similarity = 2 * shared / (len(wanted) + last - first + 1)
    # Widen the match by as many words as the quote has unmatched at each end, but not into another sentence.
    start, end = widen_to_sentences(text, words.starts[first], words.ends[last])
    for _ in range(blocks[0].a):
        if first and words.starts[first - 1] >= start:
            first -= 1
    for _ in range(len(wanted) - blocks[-1].a - blocks[-1].size):
        if last + 1 < len(words) and words.ends[last + 1] <= end:
            last += 1
    bounds = _widen_to_punctuation(text, words.starts[first], words.ends[last], quote, quote_words)
    return SimilarWords(similarity, around.get_part(*bounds))


def _widen_to_punctuation(text: str, start: int, end: int, quote: str, quote_words: TextWords) -> Bounds:
    """Widen the bounds of words to the punctuation at a quote's ends, or else to the Markdown around them."""
    before = quote[: quote_words.starts[0]]
    after = quote[quote_words.ends[-1] :]
    if before and text.endswith(before, 0, start):
        start -= len(before)
    elif opening := _OPENING.search(text, max(0, start - 10), start):
        start = opening.start()
    if after and text.startswith(after, end):
        end += len(after)
    else:
        if closing := _CLOSING.match(text, end):
            end = closing.end()
        if after and text.startswith(after[-1], end):
            end += 1
    return start, end


def _list_keys(words: TextWords, first: int, after: int) -> list[tuple[object, ...]]:
    """List a key for each word of some rows. Words with the same letters and numbers have equal keys."""
    letters = words.letters
    bounds = (slice(*letters.starts[row : row + 2]) for row in range(first, after))
    return [(letters.text[part], any(gap & Gap.BRACKETS for gap in letters.gaps[part])) for part in bounds]


def compare_words(quote: str, text: str) -> list[DiffPart]:
    """Compare a quote and a Markdown text word by word. Shared words are spelled as in the text."""
    shown = extract_words(text) if quote == extract_words(quote) else text
    return _compare(quote, read_words(quote), shown, read_words(shown))


def compare_sentences(before: str, now: str) -> list[DiffPart]:
    """Compare two sentences, which are no Markdown, word by word."""
    return _compare(before, read_plain_words(before), now, read_plain_words(now))


def _compare(quote: str, before: TextWords, shown: str, after: TextWords) -> list[DiffPart]:
    parts: list[DiffPart] = []
    old_keys, new_keys = (_list_keys(words, 0, len(words)) for words in (before, after))
    if sign := find_first_sign(quote, before):
        old_keys[0] = (sign, *old_keys[0])
    opcodes = SequenceMatcher(None, old_keys, new_keys, autojunk=False).get_opcodes()
    for kind, start, end, start_after, end_after in opcodes:
        old = _cut(quote, before, start, end)
        new = _cut(shown, after, start_after, end_after)
        if kind == "equal":
            parts.append(DiffPart(new, is_in_quote=True, is_in_text=True))
        else:
            parts.append(DiffPart(old, is_in_quote=True, is_in_text=False))
            parts.append(DiffPart(new, is_in_quote=False, is_in_text=True))
    return [part for part in parts if part.words]


def _cut(text: str, words: TextWords, start: int, end: int) -> str:
    """Return some words of a text with the punctuation around them."""
    if start == end:
        return ""
    first = _find_edge(text, words, start)
    last = _find_edge(text, words, end)
    return text[first:last].strip()


def _find_edge(text: str, words: TextWords, row: int) -> int:
    """Return where a word begins with the punctuation next to it, such as a bracket."""
    if row in (0, len(words)):
        return len(text) if row else 0
    opening = _UNSPACED_END.search(text, words.ends[row - 1], words.starts[row])
    return words.starts[row] if opening is None else opening.start()


def shorten_equal_parts(parts: Sequence[DiffPart]) -> list[DiffPart]:
    """Shorten what a quote and a text share to the words next to the differences."""
    shortened: list[DiffPart] = []
    for part in parts:
        words = part.words.split()
        if part.is_shared and len(words) > 2 * _WORDS_BESIDE + 1:
            words = [*words[:_WORDS_BESIDE], "…", *words[-_WORDS_BESIDE:]]
        shortened.append(part._replace(words=" ".join(words)))
    return shortened


def format_diff_parts(parts: Sequence[DiffPart]) -> str:
    """Format parts with brackets around the words that only one side has: ``for [-three-]{+four+} weeks``."""
    line = ""
    for part in shorten_equal_parts(parts):
        if part.is_shared:
            line += f" {part.words}"
        elif part.is_in_quote:
            line += f" [-{part.words}-]"
        else:
            line += f"{'' if line.endswith('-]') else ' '}{{+{part.words}+}}"
    return line.strip()
