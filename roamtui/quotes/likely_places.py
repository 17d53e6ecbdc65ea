"""Find the parts of a long text that may have a quote, so that not all of it is read into words."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import islice, pairwise

from roamtui.document.headings import scan_headings
from roamtui.quotes.chunks import fold_word
from roamtui.text import Bounds

_SMALL = 1 << 16
"""Texts up to this number of characters are read whole."""
_REACH = 1000
"""Number of characters around a rare word of a quote that are read, in addition to three times its length."""
_COUNTED_MAX = 8
"""Number of words of a quote whose occurrences are counted."""
_RARE_MAX = 32
"""A word that stands less often than this is rare enough to look around each of its places."""
_WORD_RUN = re.compile(r"[^\W_]+")
_MARKUP_IN_WORD = re.compile(
    r"<[^<>]*>|[*_~`\\\u00ad\u200b-\u200f\u2060-\u2064\ufeff]|[-‐]\s*\n[\s>]*|\s+(?=[\u3040-\u9fff])"
)


def list_likely_places(quote: str, text: str) -> Iterator[Bounds]:
    """Yield the parts of a long text that may contain a quote. A short text is one part.

    A rare word of the quote is looked for as it is, then without the markup that may divide it.
    """
    if len(text) <= _SMALL:
        yield 0, len(text)
        return
    # "&nbsp;" has a word only in code
    first, *others = _WORD_RUN.findall(_show_words(quote)) or _WORD_RUN.findall(quote)
    # its case may differ
    runs = sorted(set(others), key=len, reverse=True)[:_COUNTED_MAX] or [first[1:] or first]
    anchor, positions = _find_rarest(runs, text)
    reach = 3 * len(quote) + _REACH
    edges, hidden, hidden_ends = _divide(text)
    covered = -1
    for position in positions:
        if position < covered:
            continue
        start = edges[bisect_right(edges, max(0, position - reach)) - 1]
        end = edges[bisect_left(edges, min(position + reach, len(text)))]
        covered = end if end == len(text) else end - reach
        if _has_all(runs, text[start:end]):
            yield start, end
    for position in _find_all(anchor, hidden):
        number = bisect_right(hidden_ends, position)
        start, end = edges[max(0, number - 1)], edges[min(number + 2, len(edges) - 1)]
        if _has_all(runs, text[start:end]):
            yield start, end


def _find_rarest(runs: Sequence[str], text: str) -> tuple[str, Iterable[int]]:
    """Return a rare one of some words, longest first, with all its offsets in a text."""
    rarest = runs[0]
    furthest = -1
    for run in runs:
        offsets = [*islice(_find_all(run, text), _RARE_MAX)]
        if len(offsets) < _RARE_MAX:
            return run, offsets
        if offsets[-1] > furthest:
            rarest = run
            furthest = offsets[-1]
    return rarest, _find_all(rarest, text)


def _find_all(run: str, text: str) -> Iterator[int]:
    offset = text.find(run)
    while offset >= 0:
        yield offset
        offset = text.find(run, offset + 1)


def _has_all(runs: Sequence[str], text: str) -> bool:
    hidden = [run for run in runs if run not in text]
    return not hidden or all(run in _show_joined_words(text) for run in hidden)


@lru_cache(maxsize=4)
def _show_joined_words(text: str) -> str:
    """Return a text without the markup that may divide its words."""
    return _show_words(_MARKUP_IN_WORD.sub("", text))


def _show_words(text: str) -> str:
    from html import unescape  # noqa: PLC0415 - the first screen does not need it

    return fold_word(unescape(text))


@lru_cache(maxsize=16)
def _divide(text: str) -> tuple[array[int], str, array[int]]:
    """Return where a text divides (start, headings and end), and the words of each part that are hidden.

    The last value is where the words of each part end among all hidden words.
    """
    headings, _ = scan_headings(text.replace("\r\n", " \n").replace("\r", "\n"))
    edges = array("Q", (0, *(heading.start for heading in headings if heading.start), len(text)))
    hidden: list[str] = []
    hidden_ends: array[int] = array("Q")
    length = 0
    for start, end in pairwise(edges):
        part = text[start:end]
        words = set(_show_joined_words(part).split()).difference(part.split())
        hidden.append(" ".join(words) + "\n")
        length += len(hidden[-1])
        hidden_ends.append(length)
    return edges, "".join(hidden), hidden_ends
