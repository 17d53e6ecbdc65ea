"""Find the words of a text that are most similar to a quote that the text does not contain."""

from __future__ import annotations

import re
from functools import lru_cache

from msgspec import Struct

from roamtui.outline.spans import Bounds
from roamtui.quotes.find import normalise_markdown
from roamtui.quotes.numbers import widen_to_numbers

_WORD = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|\d+(?:[.,:/]\d+)*\w*|\w+"
)
"""A whole number, a word, or, in a script without spaces, a character."""
_BREAK = re.compile(r"[.!?]\s|\n[ \t]*\r?\n")
_WORDS_MAX = 400
"""Maximum number of words of a quote to compare. The time grows with the square of this number."""


class NearestWords(Struct, frozen=True):
    """A passage that is similar to a quote."""

    similarity: float
    """Share of common words, in order, among the words of both, from 0 to 1."""
    bounds: Bounds
    """The passage, with the words that replace the first and last ones of the quote."""


def find_nearest_words(quote: str, text: str) -> NearestWords | None:
    """Return the passage of a text that is most similar to a quote, or None if they have no word in common."""
    from rapidfuzz import distance, fuzz  # noqa: PLC0415 - the first screen does not need it

    quote_words, text_words = _read_words(quote)[0][:_WORDS_MAX], _read_words(text)[0]
    low, high = 0, len(text_words)
    if len(quote_words) < high and (near := fuzz.partial_ratio_alignment(quote_words, text_words)) is not None:
        low, high = near.dest_start, near.dest_end
    edits = distance.LCSseq.editops(quote_words, text_words[low:high])
    blocks = [block for block in edits.as_matching_blocks() if block.size]
    if not blocks:
        return None
    first, last = low + blocks[0].b, low + blocks[-1].b + blocks[-1].size - 1
    common = sum(block.size for block in blocks)
    similarity = 2 * common / (len(quote_words) + last - first + 1)
    # new words may have replaced the first and last words of the quote, so include as many of them,
    # but none of another sentence or paragraph
    in_text = _read_words(text)[1]
    for _ in range(blocks[0].a):
        if first and not _BREAK.search(text[in_text[first - 1][1] : in_text[first][0]]):
            first -= 1
    for _ in range(len(quote_words) - blocks[-1].a - blocks[-1].size):
        if last + 1 < len(in_text) and not _BREAK.search(text[in_text[last][1] : in_text[last + 1][0]]):
            last += 1
    start, end = widen_to_numbers(text, in_text[first][0], in_text[last][1])
    # words do not include the marks around them, such as parentheses, so add those with which the quote begins and ends
    return NearestWords(similarity, (start - text.endswith(quote[0], 0, start), end + text.startswith(quote[-1], end)))


@lru_cache(maxsize=32)
def _read_words(text: str) -> tuple[tuple[str, ...], tuple[Bounds, ...]]:
    """Return the words of a text without regard to case, and their bounds."""
    normal = normalise_markdown(text)
    words = [*_WORD.finditer(normal.text)]
    offsets = normal.offsets
    bounds = tuple((offsets[word.start()], offsets[word.end() - 1] + 1) for word in words)
    return tuple(word.group().casefold() for word in words), bounds
