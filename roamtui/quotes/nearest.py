"""Find the words of a text that are most similar to a quote that the text does not contain."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from roamtui.outline.spans import Bounds
from roamtui.quotes.find import normalise_markdown
from roamtui.quotes.numbers import widen_to_numbers

_WORD = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|\d+(?:[.,:/]\d+)*\w*|\w+"
)
"""A whole number, a word, or, in a script without spaces, a character."""
_BREAK = re.compile(r"[.!?]\s|\n[ \t]*\r?\n")
_SPACE_OR_EMPHASIS = re.compile(r"[\s*_`~]+")
_WORDS_MAX = 400
"""Maximum number of words of a quote to compare. The time grows with the square of this number."""


@dataclass(frozen=True, slots=True)
class NearestWords:
    """A passage that is similar to a quote."""

    similarity: float
    """Share of common words, in order, among the words of both, from 0 to 1."""
    bounds: Bounds
    """The passage, with the words that replace the first and last ones of the quote."""
    common: tuple[Bounds, ...]
    """The words that the quote has too, in runs."""


def find_nearest_words(quote: str, text: str) -> NearestWords | None:
    """Return the passage of a text that is most similar to a quote, or None if they have no word in common."""
    quote_words, in_quote = _read_words(quote)
    text_words, in_text = _read_words(text)
    quote_words = quote_words[:_WORDS_MAX]
    similarity, pairs = _align(quote_words, text_words)
    if not pairs:
        return None
    first, last = pairs[0][1], pairs[-1][1]
    # new words may have replaced the first and last words of the quote, so include as many of them,
    # but none of another sentence or paragraph
    for _ in range(pairs[0][0]):
        if first and not _BREAK.search(text[in_text[first - 1][1] : in_text[first][0]]):
            first -= 1
    for _ in range(len(quote_words) - 1 - pairs[-1][0]):
        if last + 1 < len(in_text) and not _BREAK.search(text[in_text[last][1] : in_text[last + 1][0]]):
            last += 1
    start, end = widen_to_numbers(text, in_text[first][0], in_text[last][1])
    # words do not include the marks around them, such as parentheses, so add those with which the quote begins and ends
    if text.endswith(quote[0], 0, start):
        start -= 1
    if text.startswith(quote[-1], end):
        end += 1
    runs = [[*in_text[pairs[0][1]]]]
    for (before, before_in_text), (word, word_in_text) in pairwise(pairs):
        gap_in_quote = quote[in_quote[before][1] : in_quote[word][0]]
        gap_in_text = text[in_text[before_in_text][1] : in_text[word_in_text][0]]
        # different signs between two words, such as a minus, may change the meaning
        is_next = (before + 1, before_in_text + 1) == (word, word_in_text)
        if is_next and _SPACE_OR_EMPHASIS.sub("", gap_in_text) == _SPACE_OR_EMPHASIS.sub("", gap_in_quote):
            runs[-1][1] = in_text[word_in_text][1]
        else:
            runs.append([*in_text[word_in_text]])
    return NearestWords(similarity, (start, end), tuple((first, last) for first, last in runs))


@lru_cache(maxsize=32)
def _read_words(text: str) -> tuple[tuple[str, ...], tuple[Bounds, ...]]:
    """Return the words of a text without regard to case, and their bounds."""
    normal = normalise_markdown(text)
    words = [*_WORD.finditer(normal.text)]
    offsets = normal.offsets
    bounds = tuple((offsets[word.start()], offsets[word.end() - 1] + 1) for word in words)
    return tuple(word.group().casefold() for word in words), bounds


def _align(quote_words: tuple[str, ...], text_words: tuple[str, ...]) -> tuple[float, list[tuple[int, int]]]:
    """Return the similarity of the nearest run of words, and the indexes of common words in the quote and the text."""
    from rapidfuzz import fuzz  # noqa: PLC0415 - the first screen does not need it
    from rapidfuzz.distance import LCSseq  # noqa: PLC0415

    low, high = 0, len(text_words)
    if len(quote_words) < high and (near := fuzz.partial_ratio_alignment(quote_words, text_words)) is not None:
        low, high = max(0, near.dest_start - len(quote_words)), near.dest_end + len(quote_words)
    blocks = LCSseq.editops(quote_words, text_words[low:high]).as_matching_blocks()
    pairs = [(block.a + step, low + block.b + step) for block in blocks for step in range(block.size)]
    for index in range(len(pairs) - 2, -1, -1):  # a title may repeat the first word: keep neighbours together
        (in_quote, _), (in_next_quote, following) = pairs[index], pairs[index + 1]
        if in_quote + 1 == in_next_quote and text_words[following - 1] == quote_words[in_quote]:
            pairs[index] = in_quote, following - 1
    best_similarity, best_pairs = 0.0, slice(0, 0)
    for index, (_, first) in enumerate(pairs):
        for count, (_, last) in enumerate(pairs[index:], start=1):
            similarity = 2 * count / (len(quote_words) + last - first + 1)
            if similarity > best_similarity:
                best_similarity, best_pairs = similarity, slice(index, index + count)
    return best_similarity, pairs[best_pairs]
