"""Find the parts of a long text that may have a quote, so that only these parts are read into words."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left
from collections.abc import Iterator
from functools import lru_cache
from itertools import accumulate, pairwise
from typing import NamedTuple

from roamtui.document.headings import scan_headings
from roamtui.quotes.chunks import normalise_word
from roamtui.quotes.words import read_words
from roamtui.text import Bounds

_SMALL = 1 << 16
"""Texts up to this number of characters are read whole."""
_PART_LENGTH_MIN = 1 << 10
"""Minimum number of characters of a part, so that a text does not have too many."""
_WORDS_MAX = 8
"""Maximum number of words of a quote to look for: its longest ones."""
_DIVIDED_SHARE = 4
"""One word in this many may be missing in a part, because a tag or a link may divide it there."""
_OTHER_SIGNS = re.compile(r"[\W_]+")


class _Parts(NamedTuple):
    """A text divided at headings."""

    edges: array[int]
    """Where each part starts, and the end of the text."""
    letters: str
    """The letters and figures of the text, without spaces, so that the end of a line divides no word."""
    letter_edges: array[int]
    """Where the letters of each part start, and the end of all letters."""


def list_likely_places(quote: str, text: str) -> Iterator[Bounds]:
    """Yield the parts of a long text that may contain a quote. A short text is one part."""
    if len(text) <= _SMALL:
        yield 0, len(text)
        return
    visible = read_words(quote)
    spelled = (quote[start:end] for start, end in zip(visible.starts, visible.ends, strict=True))
    words = sorted(filter(None, dict.fromkeys(map(_keep_letters, spelled))), key=len)[-_WORDS_MAX:]
    edges, letters, letter_edges = _divide(text)
    for part, (start, end) in enumerate(pairwise(edges)):
        after = bisect_left(edges, min(end + 3 * len(quote), len(text)))
        missing = sum(letters.find(word, letter_edges[part], letter_edges[after]) < 0 for word in words)
        if missing <= len(words) // _DIVIDED_SHARE:
            yield start, edges[after]


def _keep_letters(text: str) -> str:
    """Return only the letters and figures of a text, folded so that the same words are equal."""
    from html import unescape  # noqa: PLC0415

    return _OTHER_SIGNS.sub("", normalise_word(unescape(text)).casefold())


@lru_cache(maxsize=16)
def _divide(text: str) -> _Parts:
    """Divide a text at the headings that are far enough from each other."""
    headings, _ = scan_headings(text.replace("\r\n", " \n").replace("\r", "\n"))
    edges = array("Q", [0])
    for heading in headings:
        if heading.start >= edges[-1] + _PART_LENGTH_MIN:
            edges.append(heading.start)
    edges.append(len(text))
    letters = [_keep_letters(text[start:end]) for start, end in pairwise(edges)]
    letter_edges = array("Q", accumulate(map(len, letters), initial=0))
    return _Parts(edges, "".join(letters), letter_edges)
