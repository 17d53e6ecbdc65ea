"""Find the sentences of a Markdown text that answer a query best, as exact spans.

A sentence is part of a paragraph or list item, or a whole heading, table row or line of code. `excerpts.py` adds
the context that a reader needs.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from math import log
from types import MappingProxyType

from msgspec import Struct

from roamtui.search.lexicon import make_pattern
from roamtui.search.terms import locate_terms
from roamtui.search.units import CACHED_TEXTS_MAX, Unit, UnitKind, find_units

_SENTENCE_END = re.compile(r"(?<![.!?…])[.!?…]++[\"'”’)\]*_]*+(?=\s)|[。！？｡]++[」』”’）】]*+")
_CODE_SPAN = re.compile(r"(?<!`)(`++)[^`]++\1")
_LAST_WORD = re.compile(r"[\w.]+$")
_CLAUSE_END = re.compile(r";(?=\s)")
_LONG_SENTENCE_LENGTH = 400
"""A longer sentence, in characters, is divided at its semicolons. Contracts have such sentences."""
_PARENTHESIS_LENGTH_MAX = 300
"""A parenthesis that does not close within this many characters is ignored."""
_ABBREVIATION_WORDS = """
al capt cf co corp dept dr e.g ed eds excl gen i.e inc incl jr lt ltd mr mrs ms mt prof reg resp sr st treas vs viz
bzw d.h ggf inkl u.a vgl z.b mme p.ej p.ex sra
"""
_ABBREVIATIONS = frozenset(_ABBREVIATION_WORDS.split())
"""Words whose full stop ends no sentence, without that full stop."""
_BEFORE_NUMBER = frozenset(
    ("abs", "approx", "art", "ca", "ch", "eq", "fig", "figs", "no", "nos", "nr", "pp", "sec", "vol")
)
"""Words that are abbreviations before a number, but may end a sentence elsewhere."""
_OPENING_WORDS = """
a all although an any as at because but by each for he however if in it its no on our she since such that the their
there these they this those to under we when while you das der die diese ein eine er es sie wenn wir
"""
_OPENERS = frozenset(_OPENING_WORDS.split())
"""Words that begin a sentence after an abbreviation such as `U.S.`"""
_DOTTED = re.compile(r"(?![ap]\.m\b)(?:[^\W\d_]\.)+[^\W\d_]\Z")
"""Letters with full stops, as in `U.S.` or `L.L.C.` The next word decides whether the sentence ends."""
_ORDINAL = re.compile(r"\b(?:am|ab|bis|das|dem|den|der|des|die|im|seit|vom|zum|zur)\s+\d{1,2}\Z", re.IGNORECASE)
"""A German ordinal number, without its full stop."""
_MONTH = re.compile(rf"\s*(?:{make_pattern('months')})\b", re.IGNORECASE)

_WORD = re.compile(r"\w+")

_PROXIMITY_BONUS = 0.15
_PROXIMITY_LENGTH = 60
"""Distance between the first and last term that halves the bonus, in characters."""
_EARLY_BONUS = 0.15
_SENTENCE_WORDS_MIN = 5
_SENTENCE_KINDS = (UnitKind.PROSE, UnitKind.ITEM)
_ENDS_LIKE_SENTENCE = re.compile(r"[.!?:;…。！？｡][\W_]*\Z")
_LETTERED_ITEM = re.compile(r"[a-z]{1,4}[.)]\s")
_HEADING_KINDS = (UnitKind.HEADING, UnitKind.TABLE_HEAD)
# Factors of the score of sentences that answer less often than their terms promise.
_KIND_FACTORS = {UnitKind.CODE: 0.6, UnitKind.ROW: 0.95}
_QUESTION_FACTOR = 0.6
"""Factor for a question. It repeats the words of the person's question, but its answer follows it."""
_SHORT_FACTOR = 0.7
"""Factor for fewer words than `_SENTENCE_WORDS_MIN`."""
_FRAGMENT_FACTOR = 0.4
"""Factor for one or two words."""
_TEXT_LENGTH_MAX = 20_000
"""Maximum length of a section whose sentences are ranked, in characters. Of a longer one, only one part is used."""
_TERM_START_LENGTH = 5
"""Number of first letters of a term that are compared to choose the part of a long section. Endings may differ."""


class RankedSentence(Struct, frozen=True):
    """The span of a sentence and its score."""

    start: int
    end: int
    score: float
    """Above 0, and about 1 if the sentence contains all terms."""


def split_sentences(text: str) -> tuple[Unit, ...]:
    """Return the sentences of a Markdown text in order, including headings and table heads."""
    return tuple(
        Unit(start, end, unit.kind, unit.block)
        for unit in find_units(text)
        for start, end in _iter_divided_spans(text, unit)
    )


def rank_sentences(
    text: str,
    query_terms: Sequence[str],
    *,
    limit: int,
    idf: Mapping[str, float] | None = None,
    forms: Mapping[str, str] = MappingProxyType({}),
) -> tuple[RankedSentence, ...]:
    """Return up to `limit` sentences of a text that match a query best, best first.

    Sentences that have the terms close together rank higher. Headings and table heads are never returned.

    `query_terms` comes from `roamtui.search.terms.extract_query_terms`. `idf` has the weight of each term, which is
    otherwise computed from the text. `forms` maps inflected forms to the term that each counts as.
    """
    units = find_units(text)
    terms_by_unit = _assign_terms(units, locate_terms(text, query_terms, forms))
    if idf is not None:
        weights = {term: max(0.01, idf.get(term, 1.0)) for term in query_terms}
    else:
        unit_counts = Counter(term for found in terms_by_unit.values() for term in {term for _, term in found})
        weights = {term: log(1 + (len(units) + 1) / (unit_counts[term] + 0.5)) for term in query_terms}
    total = sum(weights.values())
    ranked: dict[str, RankedSentence] = {}
    for index, unit in enumerate(units):
        if unit.kind in _HEADING_KINDS or index not in terms_by_unit:
            continue
        sentences = [Unit(start, end, unit.kind) for start, end in _iter_divided_spans(text, unit)]
        for number, terms in _assign_terms(sentences, terms_by_unit[index]).items():
            sentence = sentences[number]
            score = _score_sentence(text, sentence, terms, weights) / total
            score += _EARLY_BONUS / (1 + index + number)
            ranked.setdefault(text[sentence.start : sentence.end], RankedSentence(sentence.start, sentence.end, score))
    return tuple(sorted(ranked.values(), key=lambda sentence: (-sentence.score, sentence.start))[:limit])


def get_first_sentence(text: str) -> Unit | None:
    """Return the first meaningful sentence of a text, or None if the text has only headings.

    A meaningful sentence is not code, and has at least five words. If there is none, return the first sentence.
    """
    bodies = [sentence for sentence in split_sentences(text) if sentence.kind not in _HEADING_KINDS]
    for sentence in bodies:
        if sentence.kind is not UnitKind.CODE and count_words(text, sentence) >= _SENTENCE_WORDS_MIN:
            return sentence
    return bodies[0] if bodies else None


def find_sentence_end(text: str, offset: int) -> int | None:
    """Return the end of the sentence, row, heading or line of code at an offset, or None if there is none.

    A long sentence is not divided. A sentence may continue in later paragraphs, for example after a page break.
    """
    units = find_units(text)
    index = bisect_right(units, offset, key=lambda unit: unit.start) - 1
    if index < 0 or offset >= units[index].end:
        return None
    ends = _get_sentence_ends(text, units[index])
    end = ends[bisect_right(ends, offset)]
    for unit, following in pairwise(units[index:]):
        is_unfinished = unit.kind in _SENTENCE_KINDS and not _ENDS_LIKE_SENTENCE.search(
            text, max(unit.start, unit.end - 20), unit.end
        )
        starts_lower = following.kind is UnitKind.PROSE and text[following.start].islower()
        if end != unit.end or not is_unfinished or not starts_lower or _LETTERED_ITEM.match(text, following.start):
            break
        end = _get_sentence_ends(text, following)[0]
    return end


@lru_cache(maxsize=CACHED_TEXTS_MAX)
def _get_sentence_ends(text: str, unit: Unit) -> tuple[int, ...]:
    """Return the ends of the undivided sentences of a unit. The last one is the end of the unit."""
    ends = [end for _, end in _iter_sentence_spans(text, unit)] if unit.kind in _SENTENCE_KINDS else []
    return (*ends, unit.end)


def _iter_divided_spans(text: str, unit: Unit) -> Iterator[tuple[int, int]]:
    """Yield the spans of a unit's sentences. Long ones are divided. A row, heading or line of code is one sentence."""
    if unit.kind not in _SENTENCE_KINDS:
        yield unit.start, unit.end
        return
    for sentence_start, end in _iter_sentence_spans(text, unit):
        start = cut = sentence_start
        if end - start > _LONG_SENTENCE_LENGTH:  # divide it into as few pieces as possible
            for semicolon in [*(match.end() for match in _CLAUSE_END.finditer(text, start, end)), end]:
                if cut > start and semicolon - start > _LONG_SENTENCE_LENGTH:
                    yield start, cut
                    start = cut + len(text[cut:semicolon]) - len(text[cut:semicolon].lstrip())
                cut = semicolon
        yield start, end


def _iter_sentence_spans(text: str, unit: Unit) -> Iterator[tuple[int, int]]:
    """Yield the spans of the undivided sentences of a unit, without the white space before them. Each has a word."""
    start = unit.start
    for end in [*_iter_inner_ends(text, unit), unit.end]:
        while start < end and text[start] in " \t\r\n>":
            start += 1
        if _WORD.search(text, start, end):
            yield start, end
            start = end


def _iter_inner_ends(text: str, unit: Unit) -> Iterator[int]:
    """Yield the ends of all sentences in a unit except the last one. No end is inside code or a parenthesis."""
    piece = text[unit.start : unit.end]
    if "`" in piece:
        # code must not end a sentence, and offsets must stay
        piece = _CODE_SPAN.sub(lambda match: "X" * len(match.group()), piece)
    start = position = depth = 0
    for match in _SENTENCE_END.finditer(piece):
        stop, end = match.span()
        depth += piece.count("(", position, end) - piece.count(")", position, end)
        position = end
        if depth > 0 and piece.find(")", end, end + _PARENTHESIS_LENGTH_MAX) >= 0:
            continue
        if piece[stop] not in "。！？｡":
            following = piece[end : end + 40].lstrip("\r\n\t >*_\"'“‘([")[:1]
            if following.islower() or not following:
                continue
            if piece[stop] == "." and _is_abbreviation(piece, start, stop, end, following):
                continue
        yield unit.start + end
        start, depth = end, 0


def _is_abbreviation(piece: str, start: int, stop: int, end: int, following: str) -> bool:
    """Check whether the full stop at `stop` belongs to the word or number before it, so that no sentence ends.

    The sentence begins at `start`. `end` is the offset after the full stop and its closing marks. `following` is the
    next character that is not a blank or a mark.
    """
    last = _LAST_WORD.search(piece, max(start, stop - 20), stop)
    word = last.group().lower() if last else ""
    if word in _BEFORE_NUMBER:
        return following.isdigit()
    if _DOTTED.match(word) and word not in _ABBREVIATIONS:
        opener = _WORD.search(piece, end)
        return opener is None or opener.group().lower() not in _OPENERS
    if word.isdigit() and last is not None:
        is_enumerator = not piece[start : last.start()].strip()
        return bool(is_enumerator or _ORDINAL.search(piece, start, stop) or _MONTH.match(piece, end))
    is_initial = len(word) == 1 and word.isalpha() and word != "i"
    return is_initial or word in _ABBREVIATIONS


def _assign_terms(spans: Sequence[Unit], occurrences: Sequence[tuple[int, str]]) -> dict[int, list[tuple[int, str]]]:
    """Return the occurrences of terms (offset and term) in each span, by the index of the span."""
    starts = [span.start for span in spans]
    by_index: dict[int, list[tuple[int, str]]] = defaultdict(list)
    for offset, term in occurrences:
        index = bisect_right(starts, offset) - 1
        if index >= 0 and offset < spans[index].end:
            by_index[index].append((offset, term))
    return by_index


def _score_sentence(
    text: str,
    sentence: Unit,
    terms: Sequence[tuple[int, str]],
    weights: Mapping[str, float],
) -> float:
    """Return the weight of the terms in a sentence, with a bonus for terms close together."""
    first_offsets: dict[str, int] = {}
    for offset, term in terms:
        first_offsets.setdefault(term, offset)
    score = sum(weights[term] for term in first_offsets)
    if len(first_offsets) > 1:
        distance = max(first_offsets.values()) - min(first_offsets.values())
        score *= 1 + _PROXIMITY_BONUS / (1 + distance / _PROXIMITY_LENGTH)
    return score * _compute_form_factor(text, sentence)


def _compute_form_factor(text: str, sentence: Unit) -> float:
    """Return a factor for the score: below 1 for code, questions and very short sentences."""
    piece = text[sentence.start : sentence.end]
    factor = _KIND_FACTORS.get(sentence.kind, 1.0)
    words = count_words(text, sentence)
    if sentence.kind in _SENTENCE_KINDS:
        if piece.endswith("?"):
            factor *= _QUESTION_FACTOR
        if words < _SENTENCE_WORDS_MIN:
            factor *= _SHORT_FACTOR if words > 2 else _FRAGMENT_FACTOR
    return factor


def count_words(text: str, sentence: Unit) -> int:
    """Count the words of a sentence or another unit of a text."""
    return len(_WORD.findall(text, sentence.start, sentence.end))


def select_relevant_part(text: str, terms: Sequence[str]) -> str:
    """Return the part of a long text that contains the most terms, or a short text unchanged."""
    if len(text) <= _TEXT_LENGTH_MAX:
        return text
    starts = [term[:_TERM_START_LENGTH] for term in terms]
    parts = (text[start : start + _TEXT_LENGTH_MAX] for start in range(0, len(text), _TEXT_LENGTH_MAX))
    return max(parts, key=lambda part: sum(start in part.lower() for start in starts))
