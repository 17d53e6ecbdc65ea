"""Find the words of a text that are most similar to a quote, and tell how they differ."""

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Sequence
from difflib import SequenceMatcher
from itertools import islice
from operator import itemgetter

from roamtui.document.library import Library
from roamtui.markdown.inline import extract_words
from roamtui.quotes.words import TextWords, read_words
from roamtui.sentences import get_sentence
from roamtui.text import Bounds, Span

SIMILARITY_MIN = 0.65
"""If a text is more similar to the quote than this, the quote counts as changed. Similarity is the share of
words that both have in the same order."""
CITED_SIMILARITY_MIN = 0.4
"""If a model's words and a passage are less similar than this, they were not made from it."""
_OPENING = re.compile(r"(?:!?\[|[*_~`])+\Z")
_CLOSING = re.compile(r"(?:\]\([^()\s]*(?:\([^()\s]*\)[^()\s]*)*\)|\]\[[^\]\n]*\]|[*_~`])+")
"""Markup next to the words of a passage."""
_WORDS_MAX = 400
"""Maximum number of words of a quote to compare. The time grows with the square of this number."""
_BESIDE = 3
"""Number of words beside the most similar run that may belong to it."""
_NEAREST_MAX = 3
"""Number of places in long texts at which similar words are looked for."""
_LONG = 1 << 16
"""Texts of more characters are read only where they have rare words of a quote."""
_SOUGHT_MAX = 8
_OCCURRENCES_MAX = 2000
_WORD_RUN = re.compile(r"[^\W_]{2,}")


def find_nearest(quote: str, library: Library, spans: Sequence[Span], similarity_min: float) -> Span | None:
    """Return the words in some spans that are most similar to a quote, with those that replace its ends."""
    nearest: Span | None = None
    best = similarity_min
    for span in _list_likely_places(quote, library, spans):
        similar = _find_similar(quote, library, span)
        if similar is not None and similar[0] > best:
            best, nearest = similar
    return nearest


def _list_likely_places(quote: str, library: Library, spans: Sequence[Span]) -> list[Span]:
    """List the spans, and of long ones only the places that share most of the long words of a quote."""
    runs = sorted(set(_WORD_RUN.findall(quote)), key=len)[-_SOUGHT_MAX:]
    width = 2 * len(quote) + 200
    places: list[tuple[int, Span]] = []
    short: list[Span] = []
    for span in spans:
        if span.end - span.start <= _LONG:
            short.append(span)
            continue
        text = library.documents_by_key[span.doc].text
        hits: list[tuple[int, int]] = []
        for number, run in enumerate(runs):
            found = re.compile(re.escape(run)).finditer(text, span.start, span.end)
            hits += ((match.start(), number) for match in islice(found, _OCCURRENCES_MAX))
        if hits:
            places.append(_find_best_window(sorted(hits), width, span))
    places.sort(key=itemgetter(0), reverse=True)
    return short + [place for _, place in places[:_NEAREST_MAX]]


def _find_best_window(hits: Sequence[tuple[int, int]], width: int, within: Span) -> tuple[int, Span]:
    """Return how many different words the best window has, and the window. A hit is an offset and a word."""
    counts: Counter[int] = Counter()
    first = 0
    best_count, best_start = 0, 0
    for offset, number in hits:
        counts[number] += 1
        while hits[first][0] < offset - width:
            counts[hits[first][1]] -= 1
            counts += Counter()  # drops those that are not there
            first += 1
        if len(counts) > best_count:
            best_count, best_start = len(counts), hits[first][0]
    start = max(within.start, best_start - width // 2)
    end = min(within.end, best_start + width + width // 2)
    return best_count, Span(doc=within.doc, start=start, end=end)


def _find_similar(quote: str, library: Library, within: Span) -> tuple[float, Span] | None:
    """Return a span's most similar words, with their similarity from 0 to 1, or None if none is shared."""
    from rapidfuzz import distance, fuzz  # noqa: PLC0415 - the first screen does not need it

    around = library.widen_to_sections(within)
    text = library.clean_text(around)
    quote_words = read_words(quote)
    words = read_words(text)
    first_row = bisect_left(words.starts, within.start - around.start)
    keys = list(words.exact_keys[first_row : bisect_right(words.ends, within.end - around.start)])
    wanted = list(quote_words.exact_keys[:_WORDS_MAX])
    low, high = 0, len(keys)
    if len(wanted) < high and (near := fuzz.partial_ratio_alignment(wanted, keys)) is not None:
        low, high = near.dest_start, near.dest_end
        if keys[low] != wanted[0]:
            low = max(0, low - _BESIDE)
        if keys[high - 1] != wanted[-1]:
            high = min(len(keys), high + _BESIDE)
    edits = distance.LCSseq.editops(wanted, keys[low:high])
    blocks = [block for block in edits.as_matching_blocks() if block.size]
    if not blocks:
        return None
    first = first_row + low + blocks[0].b
    last = first_row + low + blocks[-1].b + blocks[-1].size - 1
    shared = sum(block.size for block in blocks)
    similarity = 2 * shared / (len(wanted) + last - first + 1)
    # Widen the match by as many words as the quote has unmatched at each end, but not into another sentence.
    start, end = get_sentence(text, words.starts[first], words.ends[last])
    for _ in range(blocks[0].a):
        if first and words.starts[first - 1] >= start:
            first -= 1
    for _ in range(len(wanted) - blocks[-1].a - blocks[-1].size):
        if last + 1 < len(words) and words.ends[last + 1] <= end:
            last += 1
    bounds = _widen_to_marks(text, words.starts[first], words.ends[last], quote, quote_words)
    return similarity, around.get_part(*bounds)


def _widen_to_marks(text: str, start: int, end: int, quote: str, quote_words: TextWords) -> Bounds:
    """Widen the bounds of words to the marks at a quote's ends, or else to the Markdown around them."""
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


def format_word_diff(quote: str, text: str) -> str:
    """Format the differences of a text from a quote: ``for [-three-]{+four+} weeks``."""
    before = quote.split()
    after = (extract_words(text) if quote == extract_words(quote) else text).split()
    parts: list[str] = []
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    for kind, start, end, start_after, end_after in matcher.get_opcodes():
        old, new = " ".join(before[start:end]), " ".join(after[start_after:end_after])
        if kind == "equal":
            parts.append(new)
        else:
            parts.append((f"[-{old}-]" if old else "") + (f"{{+{new}+}}" if new else ""))
    return " ".join(parts)
