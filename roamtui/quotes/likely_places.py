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
"""Maximum number of words of a quote to look for: its longest ones."""
_DIVIDED_SHARE = 4
"""One of so many words may be missing in a part, because markup or the end of a line may divide it there."""
_WORD_RUN = re.compile(r"[^\W_]+")


def list_likely_places(quote: str, text: str) -> Iterator[Bounds]:
    """Yield the parts of a long text that may contain a quote. A short text is one part."""
    from html import unescape  # noqa: PLC0415

    if len(text) <= _SMALL:
        yield 0, len(text)
        return
    # "&nbsp;" has a word only in code
    first, *others = _WORD_RUN.findall(fold_word(unescape(quote))) or _WORD_RUN.findall(quote)
    # its case may differ
    words = sorted(dict.fromkeys(others), key=len, reverse=True)[:_WORDS_MAX] or [first[1:] or first]
    edges = _list_edges(text)
    for start, end in pairwise((0, *edges)):
        after = edges[bisect_left(edges, min(end + 3 * len(quote), len(text)))]
        missing = sum(text.find(word, start, after) < 0 for word in words)
        if missing <= len(words) // _DIVIDED_SHARE:
            yield start, after


@lru_cache(maxsize=16)
def _list_edges(text: str) -> array[int]:
    """List the headings of a text that are far enough from each other, and its end."""
    headings, _ = scan_headings(text.replace("\r\n", " \n").replace("\r", "\n"))
    edges = array("Q")
    for heading in headings:
        if heading.start >= (edges[-1] if edges else 0) + _PART_LENGTH_MIN:
            edges.append(heading.start)
    edges.append(len(text))
    return edges
