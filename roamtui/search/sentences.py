"""Rank the sentences of a Markdown text by the words of a question."""

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import chain, islice
from math import log

from msgspec import Struct

from roamtui.markdown.quoted_sentence import KeySentence, QuotedSentence
from roamtui.markdown.units import (
    Sentence,
    Unit,
    UnitKind,
    get_unit,
    read_units,
    read_visible_line,
    split_sentences,
    split_unit,
)
from roamtui.sanitiser import sanitise_line
from roamtui.search.lexicon import Language, get_synonyms
from roamtui.search.terms import TermMatcher, list_similar_words, tokenise

HEADING_KINDS = (UnitKind.HEADING, UnitKind.TABLE_HEADER)
RANKED_LENGTH_MAX = 20_000
"""Search ranks only the sentences in this many characters of a section, because it reads many sections."""
READ_LENGTH_MAX = 200_000
"""Excerpts and passages come from this many characters at the start of a section."""
SNIPPET_WIDTH_MAX = 240
_PLACE_WIDTH = 80
"""Width of the words around each term in a line that is cut. With less, sentences get torn."""
_COUNTED_GAP = re.compile(r"\[… [\d,]+ words?\]")


class RankedSentence(Struct, frozen=True):
    """The span of a sentence and its score."""

    start: int
    end: int
    score: float
    """About 1 if the sentence contains all terms."""
    terms: frozenset[str]
    """The terms that it contains. A row has those of its column heads too."""


def read_key_sentence(text: str, start: int, end: int, matcher: TermMatcher) -> KeySentence:
    """Read the sentence, row or line of code at a place of a Markdown text.

    It has no markup but tildes around struck-out words. After its first cell, a row has the columns first
    whose heads have most words of a question: ``Fees | 2021: 5 | 2022: 4``.
    """
    source = text[start:end]
    unit = get_unit(text, start)
    words = sanitise_line(source) if unit.kind is UnitKind.CODE else read_visible_line(source)
    if not unit.header_words:
        return KeySentence(words)
    (name_head, name), *others = unit.columns
    others.sort(key=lambda column: len(matcher.find_terms(column[0])), reverse=True)
    cells = [f"{head}: {cell.words}" if head else cell.words for head, cell in others]
    return KeySentence(words, sanitise_line(" | ".join((f"{name_head} {name.words}", *cells))))


def list_related_words(
    matcher: TermMatcher, texts: Sequence[str], present: Collection[str]
) -> dict[str, frozenset[str]]:
    """Return the synonyms of each term and, if it is not `present` in the texts, likely corrections of it.

    In German, there are no synonyms, because a `TermMatcher` counts them as their terms.
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


def make_question_matcher(question: str, texts: Sequence[str]) -> TermMatcher:
    """Make a matcher for a question's terms, their synonyms, and their corrections by words of the texts.

    Single letters are left out.
    """
    matcher = TermMatcher.for_question(question)
    present = {term for text in texts for term in matcher.find_terms(text)}
    related = frozenset().union(*list_related_words(matcher, texts, present).values())
    words = dict.fromkeys((*matcher.terms, *sorted(related)))
    return TermMatcher((word for word in words if len(word) > 1 or word.isdigit()), matcher.language)


def get_row_name(unit: Unit) -> str:
    """Return the first cell of a row with its column head in lower case, such as "class c", or empty."""
    return unit.as_row.text.partition(" | ")[0].casefold() if unit.header_words else ""


def rank_sentences(
    text: str,
    matcher: TermMatcher,
    *,
    limit: int | None = None,
    weights: Mapping[str, float] | None = None,
    join_row: Callable[[Unit], Collection[str]] | None = None,
) -> tuple[RankedSentence, ...]:
    """Return the sentences of a text that have terms of a question, best first, or the best `limit`.

    If none has a term, the first sentence is returned. Headings and table heads never are. Without `weights`,
    a term weighs more if it is rarer in the text. `join_row` returns the terms that a row has from rows of
    other tables.
    """
    units = read_units(text).units
    terms_by_unit = _assign_terms(units, matcher.list_occurrences(text))
    if join_row is not None:
        for index, unit in enumerate(units):
            terms_by_unit[index] += [(unit.start, unit.start, term) for term in join_row(unit)]
    if weights is None:
        by_unit = ({term for *_, term in places} for places in terms_by_unit.values())
        counts = Counter(chain.from_iterable(by_unit))
        weights = {term: log(1 + (len(units) + 1) / (counts[term] + 0.5)) for term in matcher.terms}
    total = sum(weights[term] for term in matcher.terms)
    ranked: dict[str, RankedSentence] = {}
    for index, places in terms_by_unit.items():
        unit = units[index]
        sentences = split_unit(text, unit) if unit.kind not in HEADING_KINDS else ()
        of_heads = matcher.list_occurrences(unit.header_words) if unit.kind.is_row else ()
        for number, located in _assign_terms(sentences, places).items():
            start, end = sentences[number].start, sentences[number].end
            terms = dict.fromkeys(term for *_, term in chain(located, of_heads))
            score = sum(map(weights.__getitem__, terms)) / total
            ranked.setdefault(text[start:end], RankedSentence(start, end, score, frozenset(terms)))
    if not ranked:
        opening = (sentence for sentence in split_sentences(text) if sentence.kind not in HEADING_KINDS)
        return tuple(RankedSentence(each.start, each.end, 0.0, frozenset()) for each in islice(opening, 1))
    best = sorted(ranked.values(), key=lambda sentence: (-sentence.score, sentence.start))
    return tuple(best[:limit])


def _assign_terms(
    spans: Sequence[Unit | Sentence], occurrences: Iterable[tuple[int, int, str]]
) -> dict[int, list[tuple[int, int, str]]]:
    starts = [span.start for span in spans]
    by_index: dict[int, list[tuple[int, int, str]]] = defaultdict(list)
    for occurrence in occurrences:
        index = bisect_right(starts, occurrence[0]) - 1
        if index >= 0 and occurrence[0] < spans[index].end:
            by_index[index].append(occurrence)
    return by_index


def make_snippet(text: str, matcher: TermMatcher) -> str:
    """Return the best sentence of a section's own text, on one line, without markup.

    A row has its column heads.
    """
    text = text[:RANKED_LENGTH_MAX]
    best = rank_sentences(text, matcher, limit=1)
    shown = read_key_sentence(text, best[0].start, best[0].end, matcher).shown if best else ""
    return cut_around_terms(shown, matcher, SNIPPET_WIDTH_MAX)


def cut_around_terms(words: str, matcher: TermMatcher, width: int) -> str:
    """Cut a line to at most `width` cells around the first terms of a question. A gap is ``[…]``."""
    places = matcher.list_occurrences(words)[: width // _PLACE_WIDTH]
    found = tuple((start, end) for start, end, _ in places)
    parts = QuotedSentence(sentence=words, quoted=found).cut(width)
    return _COUNTED_GAP.sub("[…]", "".join(part.text for part in parts)).rstrip()
