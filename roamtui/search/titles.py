"""The titles of an index: which a mistyped word may have meant, by RapidFuzz, and which a conversation is about."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from rapidfuzz import process
from rapidfuzz.distance import OSA

from roamtui.document.document import Document
from roamtui.search.index import SectionIndex, stem_title
from roamtui.search.lexicon import stem
from roamtui.search.segments import title_of
from roamtui.search.terms import Query, normalise_unicode, split_words

_ENDINGS = frozenset({"s", "es", "y", "ies", "d", "ed", "er", "ers", "or", "ors", "ee", "ees", "ing", "ings", "ion"})
_LENGTH_MIN = 4
"""Shorter words are too like each other."""
_SIMILARITY_MIN = 0.79
"""One slip in five letters, two in ten; 0.8 itself is lost to rounding."""
_CORRECTIONS_MAX = 3


def suggest_corrections(index: SectionIndex, words: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Return for each word that an index does not know the words of titles most like it, the most alike first."""
    corrections = {}
    for word in words:
        if len(word) < _LENGTH_MIN or any(map(str.isdigit, word)) or index.has_word(word):
            continue
        meant = list_similar_words(word, index.store.list_title_words())
        if meant:
            corrections[word] = tuple(meant)
    return corrections


def list_similar_words(word: str, words: Sequence[str]) -> dict[str, float]:
    """Return up to three words that a mistyped one may have meant, in the plural or not, with likeness from 0 to 1."""
    meant: dict[str, float] = {}
    for written in (word, word[:-1] if word.endswith("s") else f"{word}s"):
        similar = process.extract(
            written,
            words,
            scorer=OSA.normalized_similarity,
            score_cutoff=_SIMILARITY_MIN,
            limit=_CORRECTIONS_MAX,
        )
        for found, likeness, _ in similar:
            meant[found] = max(likeness, meant.get(found, 0.0))
    best = sorted(meant, key=lambda found: (-meant[found], found))[:_CORRECTIONS_MAX]
    return {found: meant[found] for found in best if not is_other_form(word, found)}


def is_other_form(word: str, other: str) -> bool:
    """Return whether two words differ by their endings alone (``owners``, ``owning``): no slip made the other."""
    start = next((place for place, pair in enumerate(zip(word, other, strict=False)) if pair[0] != pair[1]), 0)
    return start >= _LENGTH_MIN and word[start:] in _ENDINGS and other[start:] in _ENDINGS


_TURNS_MAX = 40
"""Turns that are looked back upon."""
_TURN_LENGTH_MAX = 10_000
_DECAY = 0.9
"""What a mention keeps of its strength with each turn that followed it."""
_SHARE_MIN = 0.5
"""Share of a title, by the rarity of its words, that a turn must say to have named it."""
_RARITY_HALF = 4.0
"""Rarity of the words said at which a mention has half its strength: a common word alone names little."""
_TOPICS_MAX = 8


class TopicTitles:
    """The titles of all sections of an index that hold others: what a conversation may be about."""

    def __init__(self, index: SectionIndex, before: TopicTitles | None = None) -> None:
        """Look at the titles of an index; those of documents that `before` has looked at are known."""
        self._index = index
        self._tables: dict[int, tuple[Document, list[tuple[int, frozenset[str]]]]] = (
            dict(before._tables) if before is not None else {}  # noqa: SLF001 - its own kind
        )
        """Of each document by its identity: it, and its rows that hold others with the stems of their titles."""

    @cached_property
    def _holders(self) -> dict[str, list[int]]:
        """Sections by each stem in their titles."""
        index = self._index
        holders: dict[str, list[int]] = defaultdict(list)
        for number, stems in self._list_titles():
            if 1 < len(index.layout.subtree(number)) < len(index) and index.own_text(number):
                for word_stem in stems:
                    holders[word_stem].append(number)
        return dict(holders)

    def _list_titles(self) -> Iterator[tuple[int, frozenset[str]]]:
        """Yield sections that hold others, in their own document or as pages below them, with the stems of titles."""
        library = self._index.library
        tables = {}
        for document in library.documents:
            known = self._tables.get(id(document))
            table = known if known is not None and known[0] is document else (document, _list_parents(document))
            tables[id(document)] = table
            for row, stems in table[1]:
                yield self._index.layout.number_of(document, row), stems
        self._tables = tables
        for section_id in library.grafts:
            document, row = library.locate(section_id)
            if document.columns.ends[row] == row + 1:
                number = self._index.layout.number_of(document, row)
                yield number, self._index.title_stems(number)

    @cached_property
    def _rarities(self) -> dict[str, float]:
        """How rare each stem is among the titles."""
        count = len({number for numbers in self._holders.values() for number in numbers})
        return {word_stem: math.log(1 + count / len(numbers)) for word_stem, numbers in self._holders.items()}

    def recall_topics(self, query: str, earlier: Sequence[str]) -> dict[int, float]:
        """Return the sections that earlier turns named, with their strengths from 0 to 1.

        The last named is the strongest. What the query itself names weakens all of them: it may be about something new.
        """
        strengths: dict[int, float] = {}
        for age, turn in enumerate(reversed(earlier[-_TURNS_MAX:])):
            for number, strength in self._match_topics(turn).items():
                strengths[number] = max(strengths.get(number, 0.0), strength * _DECAY**age)
        named_now = max(self._match_topics(query).values(), default=0.0)
        strongest = sorted(strengths.items(), key=lambda item: (-item[1], item[0]))[:_TOPICS_MAX]
        return {number: strength - named_now for number, strength in strongest if strength > named_now}

    def _match_topics(self, text: str) -> dict[int, float]:
        """Return the sections that a text names by most of their titles' words, with the strength of the mention."""
        masses: dict[int, float] = defaultdict(float)
        said = dict.fromkeys(map(stem, split_words(normalise_unicode(text[:_TURN_LENGTH_MAX]))))
        for word_stem in said:
            for number in self._holders.get(word_stem, ()):
                masses[number] += self._rarities[word_stem]
        strengths = {}
        for number, mass in masses.items():
            share = mass / sum(self._rarities[word_stem] for word_stem in self._index.title_stems(number))
            if share >= _SHARE_MIN:
                strengths[number] = share**2 * mass / (mass + _RARITY_HALF)
        return strengths


def favour_topics(
    scores: Mapping[int, float], topics: Mapping[int, float], index: SectionIndex, query: Query, weight: float
) -> dict[int, float]:
    """Return scores in which sections inside a topic gain by its strength, and by how well the topic answers at all.

    A query that does not lean back may be about something new: what it asks for must then stand inside the topic as
    well as elsewhere, or the topic counts little.
    """
    gained: dict[int, float] = {}
    for topic, strength in topics.items():
        for number in index.layout.subtree(topic):
            if number in scores:
                gained[number] = max(gained.get(number, 0.0), strength)
    fit = max((scores[number] for number in gained), default=0.0)
    if not query.is_follow_up and fit:
        weight *= (fit / max(scores.values())) ** 2
    return {number: score + weight * gained.get(number, 0.0) * fit for number, score in scores.items()}


def _list_parents(document: Document) -> list[tuple[int, frozenset[str]]]:
    """Return the rows of a document that hold others, with the stems of their titles."""
    ends = document.columns.ends
    rows = (row for row in range(len(ends)) if ends[row] > row + 1)
    return [(row, stem_title(title_of(document, row))) for row in rows]
