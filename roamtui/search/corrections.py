"""Correct mistyped words to words of titles."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from roamtui.search.index import SectionIndex

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
