"""Find the parts of a long text that may have a quote, so that only these parts are read into words."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise

from roamtui.document.headings import scan_headings
from roamtui.quotes.chunks import fold_word
from roamtui.text import Bounds

_SMALL = 1 << 16
"""Texts up to this number of characters are read whole."""
_PART_LENGTH_MIN = 1 << 10
"""Minimum number of characters of a part, so that a text does not have too many."""
_WORDS_MAX = 8
"""Maximum number of words of a quote, its longest ones, that a part must have."""
_WORD_RUN = re.compile(r"[^\W_]+")
_MARKUP_IN_WORD = re.compile(r"<[^<>]*>|[*_~`\\]|[-‐]\s*\n[\s>]*|\s+(?=[\u3040-\u9fff])")


def list_likely_places(quote: str, text: str) -> Iterator[Bounds]:
    """Yield the parts of a long text that may contain a quote. A short text is one part.

    A part has the words of the quote as they are, or without the markup that may divide them.
    """
    if len(text) <= _SMALL:
        yield 0, len(text)
        return
    # "&nbsp;" has a word only in code
    first, *others = _WORD_RUN.findall(_show_words(quote)) or _WORD_RUN.findall(quote)
    # its case may differ
    runs = sorted(dict.fromkeys(others), key=len, reverse=True)[:_WORDS_MAX] or [first[1:] or first]
    parts, edges = _divide(text)
    for (start, end, hidden), (_, _, hidden_after) in pairwise((*parts, (len(text), len(text), ""))):
        reach = min(end + 3 * len(quote), len(text))
        after = edges[bisect_left(edges, reach)]
        if all(text.find(run, start, after) >= 0 or run in hidden or run in hidden_after for run in runs):
            yield start, after


def _show_words(text: str) -> str:
    from html import unescape  # noqa: PLC0415

    return fold_word(unescape(text))


@lru_cache(maxsize=16)
def _divide(text: str) -> tuple[list[tuple[int, int, str]], array[int]]:
    """Divide a text at headings into parts, each with the words that markup hides. Also list the headings."""
    headings, _ = scan_headings(text.replace("\r\n", " \n").replace("\r", "\n"))
    edges = array("Q", (heading.start for heading in headings))
    edges.append(len(text))
    parts: list[tuple[int, int, str]] = []
    start = 0
    for end in edges:
        if end < start + _PART_LENGTH_MIN and end < len(text):
            continue
        part = text[start:end]
        words = set(_show_words(_MARKUP_IN_WORD.sub("", part)).split())
        parts.append((start, end, " ".join(words.difference(part.split()))))
        start = end
    return parts, edges
