"""Topics of a conversation: sections with subsections whose titles earlier messages mention."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from roamtui.search.index import SectionIndex, sort_scores, stem_title
from roamtui.search.lexicon import stem
from roamtui.search.terms import normalise_unicode, split_words

_MESSAGES_MAX = 40
_MESSAGE_LENGTH_MAX = 10_000
_AGE_FACTOR = 0.9
"""Factor by which each later message weakens a mention."""
_RARITY_HALF = 4.0
"""Total rarity of the mentioned words at which a mention has half its full strength."""
_TOPICS_MAX = 8
_TOPIC_WEIGHT = 2.0


def recall_topics(index: SectionIndex, query: str, earlier: Sequence[str]) -> dict[int, float]:
    """Return the sections that earlier messages mention, strongest first, with strengths from 0 to 1.

    Later mentions are stronger. If the query itself mentions a section, all strengths are lower, because the
    query may be about something new.
    """
    strengths: dict[int, float] = {}
    for age, turn in enumerate(reversed(earlier[-_MESSAGES_MAX:])):
        for number, strength in _match_topics(index, turn).items():
            strengths[number] = max(strengths.get(number, 0.0), strength * _AGE_FACTOR**age)
    named_now = max(_match_topics(index, query).values(), default=0.0)
    strongest = sort_scores(strengths)[:_TOPICS_MAX]
    return {number: strength - named_now for number, strength in strongest if strength > named_now}


def _match_topics(index: SectionIndex, text: str) -> dict[int, float]:
    """Return the sections whose titles a text mentions, with the strength of each mention.

    The strength grows with the share of the title that is mentioned, and with the rarity of these words.
    """
    mentioned: dict[int, float] = defaultdict(float)  # rarity of the mentioned words of each title
    for word_stem in dict.fromkeys(map(stem, split_words(normalise_unicode(text[:_MESSAGE_LENGTH_MAX])))):
        for number in index.topics_by_stem.get(word_stem, ()):
            mentioned[number] += index.topic_rarities[word_stem]
    strengths = {}
    for number, rarity in mentioned.items():
        share = rarity / sum(index.topic_rarities[word_stem] for word_stem in stem_title(index.title(number)))
        strengths[number] = share**2 * rarity / (rarity + _RARITY_HALF)
    return strengths


def boost_topics(
    scores: Mapping[int, float], topics: Mapping[int, float], index: SectionIndex
) -> dict[int, float]:
    """Return the scores with a boost for the sections of each topic.

    The boost grows with the strength of the topic, and with the best score that a section of any topic has.
    """
    boosts: dict[int, float] = {}
    for topic, strength in topics.items():
        for number in index.numbering.subtree(topic):
            if number in scores:
                boosts[number] = max(boosts.get(number, 0.0), strength)
    fit = max((scores[number] for number in boosts), default=0.0)
    return {number: score + _TOPIC_WEIGHT * boosts.get(number, 0.0) * fit for number, score in scores.items()}
