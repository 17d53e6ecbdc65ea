"""Find a quote in a text: a contiguous run of equal words.

An ellipsis in a quote omits words of one sentence, item or row, but none near its edges that turns the
meaning. The first letter of a quote may have another case, because a quote may begin inside a sentence. Words
directly beside a negation are found only if the answer negates them too.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache, partial
from heapq import nsmallest
from itertools import islice, pairwise, product
from operator import attrgetter
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from roamtui.document.headings import scan_headings
from roamtui.document.library import Library
from roamtui.quotes.turning import has_turning_part, has_turning_word, negates_after, negates_before
from roamtui.quotes.words import (
    BLOCK,
    CELL,
    CODE,
    INSIDE,
    OPTIONAL,
    TextWords,
    make_key,
    normalise_letters,
    read_plain_words,
    read_words,
)
from roamtui.sentences import CLOSERS, is_abbreviation
from roamtui.text import Bounds, Span

_LENGTH_MIN = 2
"""Minimum number of letters and digits. A shorter quote proves nothing."""
_ELLIPSIS = re.compile(r"\[\s*(?:…|\.{3,4})\s*\]|\(\s*(?:…|\.{3,4})\s*\)|…|(?<!\.)\.{3,4}(?!\.)")
_SHORTENED_TARGET = re.compile(r"(?<=\]\()[^()\s]*(?:…|\.{3})(?=\)|\Z)")
"""The link target that `annotate_with_ids` has shortened. This ellipsis omits no words."""
_EDITED_LETTER = re.compile(r"\[(\w)\](?=\w)")
"""A first letter that was changed to fit into a sentence: "[t]he"."""
_MARKUP = re.compile(r"[*_|\\`<>&!#~\[\]$]|^[ \t]*(?:[-+]|\d+[.)])[ \t]", re.MULTILINE)
"""What Markdown may read otherwise than code. A quote with it is read in both ways."""
_STRAIGHT_PRIME = re.compile(r"(?<=\d)(?:(?P<minute>['’])|[\"”])")
_SUBSCRIPT = re.compile(r"(?<=\b[^\W\d_])_(?=\w\b)")
_FENCE_LINE = re.compile(r"^[ \t>]*(?:```|~~~)", re.MULTILINE)
_INDENTED_LINE = re.compile(r"(?<=\n)(?: {4,}|\t)[ \t]*(?=\S)")
_GROUPED_CELLS = re.compile(r"(?<![\d.,])\d{3}(?: [1-9]\d{2})+(?![\d.,])")
"""Two cells of a row, or one number: if the first group is shorter, or a later one starts with 0."""
_GLUED_WORDS_MIN = 3
"""Minimum words of a quote that begins or ends where a page lacks a space. Fewer may be a name."""
_NEVER_GLUED = re.compile(r"(?:not|non|never|without|un|in|il|im|ir|dis|n['’]t)\Z", re.IGNORECASE)
"""What turns the meaning of the word after it, as in ``notAllowed``."""
_MATCHES_MAX = 1000
"""Maximum number of places in one text to compare with a part of a quote."""
_PARTS_MAX = 20
"""Maximum number of parts between ellipses. What is left of a text with more of them proves nothing."""
_ANCHORS_MAX = 3
"""Maximum number of words of a quote from which the others are compared."""
_COMPARED_MAX = 20_000
"""Maximum number of words to compare for a part of a quote that is not there as it is."""
_OMITTED_MAX = 8
"""Maximum number of optional words next to each other that a quote may leave out."""
_ROWS_MAX = 8
"""Maximum number of rows to follow at once, where the same optional word stands several times."""
_COUNTED_MAX = 8
"""Number of words of a quote whose occurrences are counted."""
_RARE_MAX = 32
"""A word that stands less often than this is rare enough to look around each of its places."""
_KEY_SIZE = 8
"""Number of bytes of a key."""

_TURNING_NEAR = 3
"""Number of words at each edge of an ellipsis among which none may turn the meaning."""
_SENTENCE_END = re.compile(
    rf"(?P<stop>[.…]){CLOSERS}(?:\[[^\[\]\s]{{1,12}}\]|[\d¹²³⁴-⁹]{{1,2}}|<sup>[^<>]*</sup>)*"
    rf"(?:\s+(?![a-zß-öø-ÿ])|(?=[A-Z][a-z]))|[!?]{CLOSERS}\s+(?![a-zß-öø-ÿ])|[。！？｡]|।"
)
"""After note marks too, and where a page lacks the space: a quote must not join two sentences."""
_CLAUSE_MIN = 3
"""A quote of fewer words is a name, which a negation after it does not turn."""
_PARAGRAPH_BREAK = re.compile(r"[\s>*_]*")
"""What stands between two paragraphs without a mark of a list or table, or the end of a sentence."""
_SENTENCE_MAX = 60
"""Maximum number of characters to read before a full stop, to tell whether it ends a sentence."""

_SMALL = 1 << 16
"""Texts up to this number of characters are read whole."""
_REACH = 1000
"""Number of characters around a rare word of a quote that are read, in addition to three times its length."""
_FIRST_ROW = attrgetter("first_row")
_PUNCTUATION = ".,;:!?\"'“”‘’„«»()[]{}*_`-–—…。，；：！？「」『』"
_WORD_RUN = re.compile(r"[^\W_]+")
_MARKUP_IN_WORD = re.compile(
    r"<[^<>]*>|[*_~`\\\u00ad\u200b-\u200f\u2060-\u2064\ufeff]|[-‐]\s*\n[\s>]*|\s+(?=[\u3040-\u9fff])"
)


def find_quote(
    quote: str,
    text: str,
    within: Sequence[Bounds] | None = None,
    *,
    keeps_meaning: bool = False,
    keeps_rows: bool = False,
) -> Bounds | None:
    """Return the bounds of a quote in a Markdown text, or None if the text does not contain it.

    With `within`, only these parts of the text count. With `keeps_meaning`, a place where a negation stands
    directly beside the quote does not count. With `keeps_rows`, a place where the quote joins the end of a
    row to the next row does not count. Quote and text are read as a person sees them: see `quotes.words`.
    """
    if sum(map(str.isalnum, quote)) < _LENGTH_MIN:
        return None
    readings = _read_quote(quote)
    if not readings:
        return None
    for start, end in _list_excerpt_bounds(quote, text):
        words = read_words(text[start:end] if (start, end) != (0, len(text)) else text)
        excerpt = _Excerpt(text, start, words)
        for reading in readings:
            for low, high in _find_parts(reading, excerpt):
                if reading.ellipses and len(_ELLIPSIS.findall(text, low, high)) < reading.ellipses:
                    continue
                if keeps_meaning and _is_negated(excerpt, low, high):
                    continue
                if keeps_rows and "\n" not in quote and _joins_rows(excerpt, low, high):
                    continue
                if within is None or any(begin <= low and high <= stop for begin, stop in within):
                    return _include_marks(quote, text, low, high)
    return None


def find_in_span(
    words: str, library: Library, within: Span, *, keeps_meaning: bool = False, keeps_rows: bool = False
) -> Span | None:
    """Return the span of words within a span, or None if they are not there. The Markdown may differ.

    The words may leave out page footers, like every text that a model or search reads.
    """
    text = library.text_at(within)
    find = partial(find_quote, words, keeps_meaning=keeps_meaning, keeps_rows=keeps_rows)
    bounds = find(text)
    if bounds is None and (clean_text := library.clean_text(within)) != text:
        bounds = find(clean_text)
    return within.get_part(*bounds) if bounds is not None else None


def find_in_context(
    words: str, library: Library, within: Span, *, keeps_meaning: bool = False, keeps_rows: bool = False
) -> Span | None:
    """Return the span of words within a span, read with the sections around it, or None.

    The text is read without its page footers.
    """
    around = library.widen_to_sections(within)
    bounds = (within.start - around.start, within.end - around.start)
    text = library.clean_text(around)
    found = find_quote(words, text, [bounds], keeps_meaning=keeps_meaning, keeps_rows=keeps_rows)
    return around.get_part(*found) if found is not None else None


class _Excerpt(Struct, frozen=True):
    """A part of a text with its words, which have a row each."""

    text: str
    shift: int
    """Offset of the part in the text."""
    words: TextWords

    def start(self, row: int) -> int:
        """Return the offset in the text at which a word starts."""
        return self.shift + self.words.starts[row]

    def end(self, row: int) -> int:
        """Return the offset in the text at which a word ends."""
        return self.shift + self.words.ends[row]


class _Run(NamedTuple):
    """Matched words: their bounds in the part of the text, and the rows of the first and the last."""

    start: int
    end: int
    first_row: int
    last_row: int


class _Reading(Struct, frozen=True):
    """A way to read a quote."""

    parts: tuple[TextWords, ...]
    """Its parts between ellipses."""
    hides_words: bool
    """Whether markup hides some of its letters, which code would show."""
    ellipses: int
    """Number of ellipses that the text has too, so that they omit nothing."""


@lru_cache(maxsize=256)
def _read_quote(quote: str) -> tuple[_Reading, ...]:
    """Return the ways to read a quote, the likeliest first."""
    whole = _EDITED_LETTER.sub(r"\1", _SHORTENED_TARGET.sub("", quote))
    spellings = [whole]
    if _STRAIGHT_PRIME.search(whole):
        spellings.append(_STRAIGHT_PRIME.sub(lambda match: "′" if match["minute"] else "″", whole))
    if _SUBSCRIPT.search(whole):
        spellings.append(_SUBSCRIPT.sub("", whole))
    if _GROUPED_CELLS.search(whole):
        spellings.append(_GROUPED_CELLS.sub(lambda match: match[0].replace(" ", "\t"), whole))
    if _FENCE_LINE.search(whole):
        spellings.append(f"```\n{whole}")  # it may begin in code
    if _INDENTED_LINE.search(whole):
        spellings.append(_INDENTED_LINE.sub("", whole))  # it may begin in a list
    readings: dict[tuple[bytes, ...], _Reading] = {}
    for spelling in spellings:
        parts = [part.strip() for part in _ELLIPSIS.split(spelling)]
        if len(parts) > _PARTS_MAX:
            break
        parts = list(filter(None, parts))  # an ellipsis at an end omits what the quote does not need
        divisions = [parts] if len(parts) == 1 else [[spelling], parts]
        for pieces in divisions:
            for reading in _read_pieces(pieces, spelling, len(parts) - len(pieces)):
                key = tuple(words.key_bytes for words in reading.parts)
                readings.setdefault(key, reading)
    return tuple(readings.values())


def _read_pieces(pieces: Sequence[str], spelling: str, ellipses: int) -> Iterator[_Reading]:
    """Yield the ways to read the pieces of a quote: as Markdown, then as code, each in two cases."""
    shown = tuple(map(read_words, pieces))
    ways = [(shown, False)]
    if _MARKUP.search(spelling):
        plain = tuple(map(read_plain_words, pieces))
        is_code = all(flags & CODE for words in shown for flags in words.flags)
        hides_words = not is_code and _count_letters(shown, pieces) < _count_letters(plain, pieces)
        ways = [(shown, hides_words), (plain, False)]
    for parts, hides_words in ways:
        full = tuple(filter(len, parts))
        for variant in (full, _swap_first_case(full, spelling)):
            if variant:
                yield _Reading(variant, hides_words, ellipses)


def _count_letters(parts: Sequence[TextWords], texts: Sequence[str]) -> int:
    """Count the letters and digits of the words of some texts."""
    count = 0
    for words, text in zip(parts, texts, strict=True):
        for start, end in zip(words.starts, words.ends, strict=True):
            count += sum(map(str.isalnum, text[start:end]))
    return count


def _swap_first_case(parts: tuple[TextWords, ...], quote: str) -> tuple[TextWords, ...]:
    """Return the parts with another case of the first letter, or none if that changes nothing."""
    if not parts:
        return ()
    first = parts[0]
    letter = next((character for character in quote if character.isalnum()), "")
    if letter.swapcase() == letter or first.flags[0] & OPTIONAL:
        return ()
    start = quote.index(letter)
    swapped = read_plain_words(quote[:start] + letter.swapcase() + quote[start + 1 :])
    if not len(swapped):
        return ()
    key_bytes = swapped.key_bytes[:_KEY_SIZE] + first.key_bytes[_KEY_SIZE:]
    return (replace(first, key_bytes=key_bytes, keys=memoryview(key_bytes).cast("q")), *parts[1:])


def _is_negated(excerpt: _Excerpt, low: int, high: int) -> bool:
    """Return whether a negation stands directly beside a quote, in the same paragraph or cell."""
    text = excerpt.text
    words = excerpt.words
    first = bisect_left(words.starts, low - excerpt.shift)
    after = bisect_left(words.starts, high - excerpt.shift)
    has_before = not words.flags[first] & (BLOCK | CELL)
    if has_before and negates_after(text, excerpt.start(first - 1), excerpt.end(first - 1)):
        return True
    is_clause = after - first >= _CLAUSE_MIN
    has_after = is_clause and after < len(words) and not words.flags[after] & (BLOCK | CELL)
    return has_after and negates_before(text, excerpt.start(after), excerpt.end(after), high)


def _joins_rows(excerpt: _Excerpt, low: int, high: int) -> bool:
    """Return whether a quote joins the last cells of a row to the row below it, as if they were one row."""
    words = excerpt.words
    row = bisect_left(words.starts, low - excerpt.shift)
    after = bisect_left(words.starts, high - excerpt.shift)
    if not any(flags & BLOCK for flags in words.flags[row + 1 : after]):
        return False
    while row and not words.flags[row] & (BLOCK | CELL):
        row -= 1
    return words.flags[row] & (BLOCK | CELL) == CELL


def _find_parts(reading: _Reading, excerpt: _Excerpt) -> Iterator[Bounds]:
    """Yield the bounds of the parts of a quote, where each follows the one before in the same sentence."""
    words = excerpt.words
    runs_of_parts = [_find_runs(part, words, excerpt.text) for part in reading.parts]
    if reading.hides_words:
        runs_of_parts = [(run for run in runs if not _is_code(words, run)) for runs in runs_of_parts]
    if len(runs_of_parts) == 1:
        yield from ((excerpt.shift + run.start, excerpt.shift + run.end) for run in runs_of_parts[0])
        return
    ordered = [sorted(runs, key=_FIRST_ROW) for runs in runs_of_parts]
    for first in ordered[0]:
        last = first
        for following in ordered[1:]:
            index = bisect_left(following, last.last_row + 1, key=_FIRST_ROW)
            if index == len(following) or not _may_omit(excerpt, last.last_row, following[index].first_row):
                break
            last = following[index]
        else:
            yield excerpt.shift + first.start, excerpt.shift + last.end


def _may_omit(excerpt: _Excerpt, last: int, first: int) -> bool:
    """Return whether an ellipsis may leave out the words between: those of one sentence, item or row."""
    text = excerpt.text
    flags = excerpt.words.flags
    indices = range(last + 1, first + 1)
    if len(indices) == 1 and _ELLIPSIS.search(text, excerpt.end(last), excerpt.start(first)):
        return True  # the ellipsis of the text, which omits nothing
    if any(flags[index] & BLOCK and not _continues(excerpt, index) for index in indices):
        return False
    is_in_row = any(flags[index] & CELL for index in indices)
    if not is_in_row and _has_sentence_end(text, excerpt.end(last), excerpt.start(first)):
        return False
    omitted = [text[excerpt.start(index) : excerpt.end(index)] for index in indices[:-1]]
    edges = (*omitted[:_TURNING_NEAR], *omitted[-_TURNING_NEAR:])
    near = f"{''.join(omitted[: 2 * _TURNING_NEAR])} {''.join(omitted[-2 * _TURNING_NEAR :])} "
    return not (has_turning_word(make_key(" ".join(edges))) or has_turning_part(near))


def _continues(excerpt: _Excerpt, row: int) -> bool:
    """Return whether a paragraph continues the sentence of the one before, as after a page break."""
    start = excerpt.start(row)
    return (
        not excerpt.words.flags[row] & CODE
        and excerpt.text[start].islower()
        and _PARAGRAPH_BREAK.fullmatch(excerpt.text, excerpt.end(row - 1), start) is not None
    )


def _has_sentence_end(text: str, start: int, end: int) -> bool:
    """Return whether a sentence ends in a part of a text, outside of parentheses."""
    depth = 0
    position = start
    for match in _SENTENCE_END.finditer(text, start, end):
        depth += text.count("(", position, match.start()) - text.count(")", position, match.start())
        position = match.start()
        is_inside = depth > 0 and text.find(")", match.end(), end) >= 0
        if not is_inside and not _is_abbreviated(text, match):
            return True
    return False


def _is_abbreviated(text: str, match: re.Match[str]) -> bool:
    """Return whether the full stop of a match belongs to an abbreviation or an ordinal number."""
    if not match["stop"]:
        return False
    stop = match.start()
    nearest = max(0, stop - _SENTENCE_MAX)
    start = max(nearest, text.rfind("\n", nearest, stop) + 1)
    return is_abbreviation(text, start, stop, stop + 1)


def _find_runs(part: TextWords, words: TextWords, text: str) -> Iterator[_Run]:
    """Yield the places of a run of words, in reading order: first where it stands as it is."""
    seen: set[tuple[int, int]] = set()
    for row in _find_rows(part.key_bytes, words):
        last = row + len(part) - 1
        if _is_whole(words, row, last):
            seen.add((row, last))
            yield _Run(words.starts[row], words.ends[last], row, last)
    if words.is_plain and part.is_plain:
        return
    tried_max = max(_ANCHORS_MAX, _COMPARED_MAX // len(part))
    for index, first_row, last_row in islice(_find_anchors(part, words), tried_max):
        firsts = _walk(part, index - 1, words, first_row - 1, -1, text)
        lasts = _walk(part, index + 1, words, last_row + 1, 1, text) if firsts else []
        for (first, start), (last, end) in product(firsts, lasts):
            if (first, last) not in seen and _is_whole(words, first, last):
                seen.add((first, last))
                yield _Run(start, end, first, last)


def _find_rows(keys: bytes, words: TextWords) -> Iterator[int]:
    """Yield the rows at which a run of keys starts."""
    position = words.key_bytes.find(keys)
    count = 0
    while position >= 0 and count < _MATCHES_MAX:
        if position % _KEY_SIZE == 0:
            count += 1
            yield position // _KEY_SIZE
        position = words.key_bytes.find(keys, position + 1)


def _find_anchors(part: TextWords, words: TextWords) -> Iterator[tuple[int, int, int]]:
    """Yield where the rarest words of a part are: index, and first and last row in the text.

    Only long words are counted, because these are rare. If the text has none, the end of a line may divide
    them.
    """
    lengths = [end - start for start, end in zip(part.starts, part.ends, strict=True)]
    longest = sorted(range(len(part)), key=lengths.__getitem__)[-_COUNTED_MAX:]
    keys = {index: part.key_bytes[index * _KEY_SIZE : (index + 1) * _KEY_SIZE] for index in longest}
    counts = sorted((words.key_bytes.count(key), index) for index, key in keys.items())
    present = [index for count, index in counts if count]
    for index in present[:_ANCHORS_MAX]:
        yield from ((index, row, row) for row in _find_rows(keys[index], words))
    if not present:
        indices = {part.keys[index]: index for index in longest}
        yield from ((indices[key], row, row + 1) for row, key in words.joined.items() if key in indices)


def _walk(
    part: TextWords, index: int, words: TextWords, row: int, step: int, text: str
) -> list[tuple[int, int]]:
    """Compare words from an index of the part and a row of the text, forwards or backwards, to the end.

    Returns:
        The row and the offset of each possible last word (backwards: first word), most often one.
    """
    rows = {row}
    stop = len(part) if step > 0 else -1
    for number in range(index, stop, step):
        following: set[int] = set()
        glued: list[tuple[int, int]] = []
        for start in rows:
            for next_row in _iter_next_rows(words, start, step):
                if words.keys[next_row] == part.keys[number]:
                    following.add(next_row + step)
                if words.joined.get(min(next_row, next_row + step)) == part.keys[number]:
                    following.add(next_row + 2 * step)
                if number + step == stop:
                    glued += _match_gluing(part, part.keys[number], words, next_row, step, text)
        if not following:
            return glued
        rows = following if len(following) <= _ROWS_MAX else set(nsmallest(_ROWS_MAX, following))
    outer = words.ends if step > 0 else words.starts
    return [(after - step, outer[after - step]) for after in rows]


def _iter_next_rows(words: TextWords, row: int, step: int) -> Iterator[int]:
    """Yield the rows that may come next: the next word, and those after it as long as it may be left out."""
    for next_row in range(row, row + step * (_OMITTED_MAX + 1), step):
        if not 0 <= next_row < len(words):
            return
        yield next_row
        if not words.flags[next_row] & OPTIONAL:
            return


def _match_gluing(
    part: TextWords, key: int, words: TextWords, row: int, step: int, text: str
) -> Iterator[tuple[int, int]]:
    """Yield the row of a word, and the offset where a part's last word ends (backwards: the first)."""
    if len(part) < _GLUED_WORDS_MIN:
        return
    for gluing in words.gluings.get(row, ()):
        is_same = key == (gluing.left_key if step > 0 else gluing.right_key)
        if is_same and not _NEVER_GLUED.search(gluing.left) and _has_word(text, gluing.left):
            yield row, words.starts[row] + gluing.length


def _has_word(text: str, word: str) -> bool:
    pattern = rf"(?<![^\W_]){re.escape(word)}(?![^\W_])"
    return word.isdigit() or re.search(pattern, text, re.IGNORECASE) is not None


def _is_code(words: TextWords, run: _Run) -> bool:
    return all(flags & CODE for flags in words.flags[run.first_row : run.last_row + 1])


def _is_whole(words: TextWords, first: int, last: int) -> bool:
    """Return whether a run neither begins nor ends inside a word."""
    after = last + 1
    return not (words.flags[first] & INSIDE or (after < len(words) and words.flags[after] & INSIDE))


def _include_marks(quote: str, text: str, start: int, end: int) -> Bounds:
    """Widen bounds to the punctuation with which both the quote and the text begin and end."""
    for mark in reversed(quote[: len(quote) - len(quote.lstrip(_PUNCTUATION))]):
        if not text.endswith(mark, 0, start):
            break
        start -= 1
    for mark in quote[len(quote.rstrip(_PUNCTUATION)) :]:
        if not text.startswith(mark, end):
            break
        end += 1
    return start, end


def _list_excerpt_bounds(quote: str, text: str) -> Iterator[Bounds]:
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
    shown = _show_words(_MARKUP_IN_WORD.sub("", text))
    return all(run in text or run in shown for run in runs)


def _show_words(text: str) -> str:
    from html import unescape  # noqa: PLC0415 - the first screen does not need it

    return normalise_letters(unescape(text))


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
        shown = _show_words(_MARKUP_IN_WORD.sub("", part))
        words = set(shown.split()).difference(part.split())
        hidden.append(" ".join(words) + "\n")
        length += len(hidden[-1])
        hidden_ends.append(length)
    return edges, "".join(hidden), hidden_ends
