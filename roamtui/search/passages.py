"""Choose what to quote of a Markdown text: its best sentences, the passages around them, and excerpts.

A passage is a whole paragraph with the table, list or code that belongs to it.
"""

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from math import log

from msgspec import Struct

from roamtui.plain import sanitise_line, shorten
from roamtui.search.lexicon import Language, get_synonyms
from roamtui.search.terms import TermMatcher, list_similar_words, tokenise
from roamtui.search.units import (
    CACHED_TEXTS_MAX,
    INDENTED_BLOCKS,
    Block,
    Unit,
    UnitKind,
    find_block,
    find_units,
    read_blocks,
    split_sentences,
    split_unit,
)
from roamtui.text import Bounds, estimate_tokens, merge_bounds, subtract_bounds

PASSAGE_TOKENS_MAX = 600
"""A longer passage is cut to whole sentences, rows and lines around its best sentence."""
LINES_TOKENS_MAX = 150
"""The same for indented code, such as a log: each of its lines can be understood by itself."""
_CODE = ("fence", "code_block")
_BOUNDARIES = ("heading_open", "hr")

_EARLY_BONUS = 0.15
_HEADING_KINDS = (UnitKind.HEADING, UnitKind.TABLE_HEAD)
# Factors of the score of sentences that answer less often than their terms promise.
_KIND_FACTORS = {UnitKind.CODE: 0.6, UnitKind.ROW: 0.95}
RANKED_LENGTH_MAX = 20_000
"""Number of characters at the start of a section whose sentences are ranked."""

_RANKED_TEXTS_MAX = 200
"""Maximum number of texts whose ranked sentences are cached: search, snippets and excerpts share those of a
question."""

SNIPPET_LENGTH = 240
_SECTION_LENGTH_MAX = 60_000
"""Maximum length of a section in characters. Of a longer one, only the start is searched."""
_SENTENCES_MAX = 4
_FILLED_SHARE_MAX = 0.1
"""Maximum share of an excerpt's size that may be added to fill short omissions. A reader who needs what an
omission hides has to ask again, which costs more."""
_FENCE = re.compile(r"[> \t]*(?:```|~~~)")
_TOTAL_ROW = re.compile(r"(?i)[|\s*_]*(?:grand |net |sub-?)?(?:total|sum\b|gesamt|summe)")


class RankedSentence(Struct, frozen=True):
    """The span of a sentence and its score."""

    start: int
    end: int
    score: float
    """Above 0, and about 1 if the sentence contains all terms."""


@lru_cache(maxsize=CACHED_TEXTS_MAX)
def split_passages(text: str) -> tuple[Bounds, ...]:
    """Return the spans of the passages of a Markdown text in order. Headings and rules belong to none."""
    passages: list[Bounds] = []
    previous: Block | None = None
    for block in read_blocks(text):
        if block.kind in _BOUNDARIES:
            previous = None
            continue
        if previous is not None and _belongs_together(text, previous, block):
            passages[-1] = passages[-1][0], block.end
        else:
            passages.append((block.start, block.end))
        previous = block
    return tuple(passages)


def _belongs_together(text: str, above: Block, below: Block) -> bool:
    if above.kind != "paragraph_open":
        return False
    return text[above.start : above.end].rstrip("*_ ").endswith(":") or below.kind in INDENTED_BLOCKS


def find_passage(text: str, offset: int, tokens_max: int = PASSAGE_TOKENS_MAX) -> Bounds | None:
    """Return the span of the passage at an offset, or None between passages.

    A long one is cut to the part around the offset: as many whole units as fit, with the marks before them.
    Code is one unit, unless it is too long itself.
    """
    passages = split_passages(text)
    passage = next(((start, end) for start, end in passages if start <= offset < end), None)
    outer = find_block(text, offset)
    if outer is not None and outer.kind == "code_block" and passage == (outer.start, outer.end):
        tokens_max = min(tokens_max, LINES_TOKENS_MAX)
    if passage is None or estimate_tokens(text[slice(*passage)]) <= tokens_max:
        return passage
    spans: list[Bounds] = []
    for unit in split_sentences(text):
        if not passage[0] <= unit.start < passage[1] or (spans and unit.start < spans[-1][1]):
            continue
        code = _find_code(text, unit.start)
        if code is not None and estimate_tokens(text[code.start : code.end]) <= tokens_max:
            spans.append((code.start, code.end))
        else:  # the marks of a row or an item belong to it
            line_start = max(passage[0], text.rfind("\n", 0, unit.start) + 1)
            is_first_in_line = not spans or spans[-1][1] <= line_start
            spans.append((line_start if is_first_in_line else unit.start, unit.end))
    first = last = bisect_right(spans, offset, key=lambda span: span[0]) - 1
    if first < 0:
        return passage
    is_growing = True
    while is_growing:
        is_growing = False
        for above, below in ((0, 1), (1, 0)):
            low, high = first - above, last + below
            is_inside = low >= 0 and high < len(spans)
            if is_inside and estimate_tokens(text[spans[low][0] : spans[high][1]]) <= tokens_max:
                first = low
                last = high
                is_growing = True
    return spans[first][0], spans[last][1]


def find_related_words(
    matcher: TermMatcher, texts: Sequence[str], present: Collection[str]
) -> dict[str, frozenset[str]]:
    """Return each term's synonyms and, unless it is `present`, the words that it may be a slip of.

    `present` are the terms that the texts contain. In German, a `TermMatcher` counts synonyms as their terms.
    """
    words: list[str] = []
    if len(present) < len(matcher.terms):
        words = sorted({word for text in texts for word in tokenise(text)})
    related = {}
    for term in matcher.terms:
        corrections = list_similar_words(term, words) if term not in present else ()
        synonyms = get_synonyms(term) if matcher.language is Language.ENGLISH else ()
        related[term] = frozenset((*synonyms, *corrections))
    return related


def find_question_words(question: str, texts: Sequence[str]) -> TermMatcher:
    """Find the words of some texts that match the terms of a question, their synonyms and corrections.

    Single letters are left out.
    """
    matcher = TermMatcher.for_question(question)
    present = {term for text in texts for *_, term in matcher.locate(text)}
    related = frozenset().union(*find_related_words(matcher, texts, present).values())
    words = dict.fromkeys((*matcher.terms, *sorted(related)))
    return TermMatcher((word for word in words if len(word) > 1 or word.isdigit()), matcher.language)


def rank_sentences(
    text: str, matcher: TermMatcher, *, limit: int, weights: Mapping[str, float] | None = None
) -> tuple[RankedSentence, ...]:
    """Return up to `limit` sentences of a text that match a question best, best first.

    Headings and table heads are never returned. `weights` has the weight of each term, which is otherwise its
    rarity in the text.
    """
    ranked = _rank_by_rarity(text, matcher) if weights is None else _rank_sentences(text, matcher, weights)
    return ranked[:limit]


@lru_cache(maxsize=_RANKED_TEXTS_MAX)
def _rank_by_rarity(text: str, matcher: TermMatcher) -> tuple[RankedSentence, ...]:
    return _rank_sentences(text, matcher, None)


def _rank_sentences(
    text: str, matcher: TermMatcher, weights: Mapping[str, float] | None
) -> tuple[RankedSentence, ...]:
    units = find_units(text)
    terms_by_unit = _assign_terms(units, matcher.locate(text))
    if weights is None:
        by_unit = ({term for *_, term in places} for places in terms_by_unit.values())
        counts = Counter(chain.from_iterable(by_unit))
        weights = {term: log(1 + (len(units) + 1) / (counts[term] + 0.5)) for term in matcher.terms}
    total = sum(weights[term] for term in matcher.terms)
    ranked: dict[str, RankedSentence] = {}
    for index, places in terms_by_unit.items():
        unit = units[index]
        sentences = split_unit(text, unit) if unit.kind not in _HEADING_KINDS else ()
        for number, terms in _assign_terms(sentences, places).items():
            start, end = sentences[number].start, sentences[number].end
            score = sum(weights[term] for term in dict.fromkeys(located for *_, located in terms)) / total
            score = score * _KIND_FACTORS.get(unit.kind, 1.0) + _EARLY_BONUS / (1 + index + number)
            ranked.setdefault(text[start:end], RankedSentence(start, end, score))
    return tuple(sorted(ranked.values(), key=lambda sentence: (-sentence.score, sentence.start)))


def _assign_terms(
    spans: Sequence[Unit], occurrences: Iterable[tuple[int, int, str]]
) -> dict[int, list[tuple[int, int, str]]]:
    """Return the occurrences of terms in each span, by the index of the span."""
    starts = [span.start for span in spans]
    by_index: dict[int, list[tuple[int, int, str]]] = defaultdict(list)
    for occurrence in occurrences:
        index = bisect_right(starts, occurrence[0]) - 1
        if index >= 0 and occurrence[0] < spans[index].end:
            by_index[index].append(occurrence)
    return by_index


def get_first_sentence(text: str) -> Unit | None:
    """Return the first sentence of a text, or None if the text has only headings."""
    return next((sentence for sentence in split_sentences(text) if sentence.kind not in _HEADING_KINDS), None)


def make_snippet(text: str, matcher: TermMatcher) -> str:
    """Return the best sentence of a section's own text, or the first, on one line, safe to display."""
    text = text[:RANKED_LENGTH_MAX]
    start, end = next(iter(_list_best_spans(text, matcher)), (0, 0))
    return shorten(sanitise_line(text[start:end].replace("\n>", "\n")), SNIPPET_LENGTH)


def _list_best_spans(text: str, matcher: TermMatcher) -> list[Bounds]:
    """Return the spans of the best sentences, or of the first sentence if none matches."""
    best = rank_sentences(text, matcher, limit=_SENTENCES_MAX)
    first = get_first_sentence(text) if not best else None
    return [(sentence.start, sentence.end) for sentence in best or ([first] if first is not None else [])]


def select_excerpt(
    text: str, matcher: TermMatcher, *, tokens_max: int, whole_max: int = 0
) -> tuple[Bounds, ...]:
    """Return the spans of a section's own text that answer best, in order. A bare heading has none.

    These are the passages of the best sentences, and, as long as there is room, the passages after and before
    them. Code below a paragraph comes after the other best sentences, which are shorter. A passage that is
    too long is cut; a part of a table comes with its head and its total, a part of code with its fences. All
    spans together have at most `tokens_max` tokens; then short omissions are filled. A text with at most
    `tokens_max` or `whole_max` tokens is returned whole.
    """
    text = text[:_SECTION_LENGTH_MAX]
    passages = split_passages(text)
    if not passages:
        return ()
    whole = passages[0][0], passages[-1][1]
    if estimate_tokens(text[slice(*whole)]) <= max(tokens_max, whole_max):
        return (whole,)
    chosen: list[Bounds] = []

    def add_spans(*spans: Bounds) -> bool:
        """Add spans if there is room for all of them."""
        added = [bounds for span in spans for bounds in subtract_bounds(*span, chosen)]
        has_room = _count_tokens(text, (*chosen, *added)) <= tokens_max
        chosen.extend(added if has_room else ())
        return has_room

    best = _list_best_spans(text, matcher)
    postponed: list[Bounds] = []
    for start, end in best:
        room = tokens_max - _count_tokens(text, chosen)
        if room < tokens_max // 4:  # too little for a further sentence with its context
            break
        index = bisect_right(passages, start, key=lambda passage: passage[0]) - 1
        passage = passages[index]
        around = (*passages[index + 1 : index + 2], *passages[max(0, index - 1) : index])
        paragraph = _leave_out_code(text, passage, start)
        if add_spans(paragraph):
            if paragraph == passage:
                for span in around:
                    add_spans(span)
            else:
                postponed += [passage, *around]
            continue
        frame = _find_frame(text, start)
        part = find_passage(text, start, max(1, room - _count_tokens(text, frame)))
        if part is None or not add_spans(*frame, part):
            add_spans((start, end))
    for span in postponed:
        add_spans(span)
    if not chosen:
        return (_cut_words(text, best[0] if best else whole, tokens_max),)
    return tuple(merge_bounds((*chosen, *_list_short_gaps(text, whole, chosen, tokens_max))))


def _list_short_gaps(text: str, whole: Bounds, chosen: Sequence[Bounds], tokens_max: int) -> list[Bounds]:
    """List the shortest omissions, as long as they add little to an excerpt of `tokens_max` tokens."""
    room = int(_FILLED_SHARE_MAX * tokens_max)
    gaps: list[Bounds] = []
    for start, end in sorted(subtract_bounds(*whole, chosen), key=lambda bounds: bounds[1] - bounds[0]):
        room -= estimate_tokens(text[start:end])
        if room < 0:
            break
        if text[start:end].strip():
            gaps.append((start, end))
    return gaps


def _cut_words(text: str, bounds: Bounds, tokens_max: int) -> Bounds:
    """Return the first words of a span that is longer than `tokens_max` tokens."""
    start, end = bounds
    length_max = max(1, (end - start) * tokens_max // estimate_tokens(text[start:end]))
    cut = text.rfind(" ", start, start + length_max)
    return start, cut if cut > start else start + length_max


def _leave_out_code(text: str, passage: Bounds, offset: int) -> Bounds:
    """Return a passage without the code at its end, unless `offset` is in that code."""
    block = find_block(text, offset)
    if block is None or block.kind in _CODE or not is_in_code(text, passage[1] - 1):
        return passage
    return passage[0], block.end


def _count_tokens(text: str, spans: Iterable[Bounds]) -> int:
    return sum(estimate_tokens(text[start:end]) for start, end in spans)


def _find_frame(text: str, offset: int) -> list[Bounds]:
    """Return the lines that a part of a table or code needs: head and next total, or fences."""
    block = find_block(text, offset)
    if block is None:
        return []
    if block.kind in _CODE:
        lines = [_get_line(text, end, end) for end in (block.start, block.end - 1)]
        return [(start, end) for start, end in lines if _FENCE.match(text, start, end)]
    unit = block.units[bisect_right(block.units, offset, key=lambda unit: unit.start) - 1]
    if unit.kind is not UnitKind.ROW:
        return []
    heads = [other for other in block.units if other.kind is UnitKind.TABLE_HEAD]
    below = (other for other in block.units if other.start > unit.start)
    totals = [other for other in below if _TOTAL_ROW.match(text, other.start)]
    return [_get_line(text, other.start, other.end) for other in (*heads, *totals[:1])]


def is_in_code(text: str, offset: int) -> bool:
    """Return whether a block of code is at an offset."""
    return _find_code(text, offset) is not None


def _find_code(text: str, offset: int) -> Block | None:
    block = find_block(text, offset)
    return block if block is not None and block.kind in _CODE else None


def _get_line(text: str, start: int, end: int) -> Bounds:
    line_end = text.find("\n", end)
    return text.rfind("\n", 0, start) + 1, line_end if line_end >= 0 else len(text)
