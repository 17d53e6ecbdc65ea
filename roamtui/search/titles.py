"""Find by titles: mistyped words, topics of a conversation, and statements of a financial report."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property

from roamtui.search.index import SectionIndex, stem_title
from roamtui.search.lexicon import make_pattern, stem
from roamtui.search.terms import normalise_unicode, split_words

_LENGTH_MIN = 4
"""Minimum length of a word that is corrected. Shorter ones are too similar to each other."""
_SIMILARITY_MIN = 0.79
"""Minimum similarity of a correction: one slip in five letters. Rounding would make 0.8 exclude it."""
_CORRECTIONS_MAX = 3


def suggest_corrections(index: SectionIndex, words: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Return the title words most similar to each unknown word, or to its plural, most similar first."""
    unknown = (word for word in words if not index.has_word(word))
    titles = index.title_words
    similar = {
        word: list_similar_words(word, titles) or list_similar_words(f"{word}s", titles) for word in unknown
    }
    return {word: corrections for word, corrections in similar.items() if corrections}


def list_similar_words(word: str, words: Sequence[str]) -> tuple[str, ...]:
    """Return up to three words that a mistyped one may mean, most similar first."""
    from rapidfuzz import distance, process  # noqa: PLC0415 - the first screen does not need it

    if len(word) < _LENGTH_MIN or not word.isalpha():
        return ()
    scorer = distance.OSA.normalized_similarity
    similar = process.extract(
        word, words, scorer=scorer, score_cutoff=_SIMILARITY_MIN, limit=_CORRECTIONS_MAX
    )
    return tuple(other for other, *_ in similar)


_MESSAGES_MAX = 40
"""Number of earlier messages that are searched for topics."""
_MESSAGE_LENGTH_MAX = 10_000
_AGE_FACTOR = 0.9
"""Factor by which each later message weakens a mention."""
_RARITY_HALF = 4.0
"""Total rarity of the mentioned words at which a mention has half its full strength."""
_TOPICS_MAX = 8
_TOPIC_WEIGHT = 2.0
"""Weight of the boost for sections that belong to a topic."""


class TopicTitles:
    """The titles of all sections with subsections, which may be topics of a conversation."""

    def __init__(self, index: SectionIndex) -> None:
        self.index = index

    @cached_property
    def _sections_by_stem(self) -> dict[str, list[int]]:
        """Numbers of the sections whose titles contain each stem."""
        index = self.index
        numbers_by_stem: dict[str, list[int]] = defaultdict(list)
        for number in range(len(index)):
            if 1 < len(index.layout.subtree(number)) < len(index) and index.own_text(number):
                for word_stem in stem_title(index.title(number)):
                    numbers_by_stem[word_stem].append(number)
        return dict(numbers_by_stem)

    @cached_property
    def _rarities(self) -> dict[str, float]:
        """Rarity of each stem among the titles."""
        count = len({number for numbers in self._sections_by_stem.values() for number in numbers})
        return {
            word_stem: math.log(1 + count / len(numbers))
            for word_stem, numbers in self._sections_by_stem.items()
        }

    def recall_topics(self, query: str, earlier: Sequence[str]) -> dict[int, float]:
        """Return the sections that earlier messages mention, with strengths from 0 to 1, later ones stronger.

        If the query itself mentions a section, all strengths are lower, because it may be about something
        new.
        """
        strengths: dict[int, float] = {}
        for age, turn in enumerate(reversed(earlier[-_MESSAGES_MAX:])):
            for number, strength in self._match_topics(turn).items():
                strengths[number] = max(strengths.get(number, 0.0), strength * _AGE_FACTOR**age)
        named_now = max(self._match_topics(query).values(), default=0.0)
        strongest = sorted(strengths.items(), key=lambda item: (-item[1], item[0]))[:_TOPICS_MAX]
        return {number: strength - named_now for number, strength in strongest if strength > named_now}

    def _match_topics(self, text: str) -> dict[int, float]:
        """Return the sections whose titles a text mentions, with the strength of each mention.

        The strength grows with the share of the title that is mentioned, and with the rarity of the mentioned
        words.
        """
        mentioned: dict[int, float] = defaultdict(float)  # rarity of the mentioned words of each title
        for word_stem in dict.fromkeys(map(stem, split_words(normalise_unicode(text[:_MESSAGE_LENGTH_MAX])))):
            for number in self._sections_by_stem.get(word_stem, ()):
                mentioned[number] += self._rarities[word_stem]
        strengths = {}
        for number, rarity in mentioned.items():
            share = rarity / sum(
                self._rarities[word_stem] for word_stem in stem_title(self.index.title(number))
            )
            strengths[number] = share**2 * rarity / (rarity + _RARITY_HALF)
        return strengths


def boost_topics(
    scores: Mapping[int, float], topics: Mapping[int, float], index: SectionIndex
) -> dict[int, float]:
    """Return the scores with a boost for the sections of each topic.

    The boost grows with the strength of the topic, and with the best score of all topics.
    """
    boosts: dict[int, float] = {}
    for topic, strength in topics.items():
        for number in index.layout.subtree(topic):
            if number in scores:
                boosts[number] = max(boosts.get(number, 0.0), strength)
    fit = max((scores[number] for number in boosts), default=0.0)
    return {number: score + _TOPIC_WEIGHT * boosts.get(number, 0.0) * fit for number, score in scores.items()}


_TITLES_MAX = 500
"""Maximum number of titles that are compared with a name."""
_NAMED_MAX = 4
"""Maximum number of sections that are returned for a question."""
_DOCUMENT_SHARE = 0.5
"""A document's sections count as named only if its best has this share of the best score of all."""
_ROWS_MIN = 8
"""Minimum number of table rows of a financial statement. A section with fewer only mentions it."""
_TITLE_LENGTH_MAX = 200
_STATEMENTS = ("income", "balance", "cash")


@cache
def _compile(*list_names: str) -> re.Pattern[str]:
    return re.compile("|".join(map(make_pattern, list_names)), re.IGNORECASE)


_STATEMENT_TITLES = "title : (statement OR sheet OR (profit AND loss))"


def find_statements(
    index: SectionIndex, question: str, within: range, scores: Mapping[int, float]
) -> list[int]:
    """Return the statements that a question names, or a line of them as "gross margin", best first.

    A statement often shares no other word with the question: a balance sheet does not contain "quick ratio".

    For each name, at most one section of each document is returned: preferably one at the highest level, then
    one with the best score. `scores` has the scores of sections for the words of the question.
    """
    best_scores: dict[int, float] = {}
    for number, score in scores.items():
        key = id(index.layout.locate(number)[0])
        best_scores[key] = max(score, best_scores.get(key, 0.0))
    score_min = _DOCUMENT_SHARE * max(best_scores.values(), default=0.0)
    numbers: dict[int, None] = {}
    for kind in _STATEMENTS:
        if not _compile(f"statement {kind} names", f"statement {kind} lines").search(question):
            continue
        best: dict[int, tuple[int, float, int]] = {}
        for number in _list_statements(index, kind, within):
            document, row = index.layout.locate(number)
            if best_scores.get(id(document), 0.0) >= score_min:
                order = (document.columns.levels[row], -scores.get(number, 0.0), number)
                best[id(document)] = min(order, best.get(id(document), order))
        numbers |= dict.fromkeys(number for *_, number in sorted(best.values(), key=lambda order: order[1:]))
    return [*numbers][:_NAMED_MAX]


def _list_statements(index: SectionIndex, kind: str, within: range) -> Iterator[int]:
    """Yield the sections with the title and the table of a statement.

    The table may also be in the first subsection, whose title is then the name of the company.
    """
    names = _compile(f"statement {kind} names")
    noise = _compile("statement title noise")
    for number, _ in index.rank(_STATEMENT_TITLES, within, _TITLES_MAX):
        title = index.title(number)[:_TITLE_LENGTH_MAX]
        if names.fullmatch(" ".join(noise.sub(" ", title).split())):
            text = "".join(map(index.own_text, index.layout.subtree(number)[:2]))
            if text.count("\n|") >= _ROWS_MIN:
                yield number
