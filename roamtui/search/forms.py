"""Other forms of the words of a question that stems do not show, such as ``gewählt`` for ``wählt``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from roamtui.search.languages import Language, find_root
from roamtui.search.terms import find_words, is_unspaced

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_ROOT_MIN = 4
_PART_MIN = 4
_JOINTS = ("", "s", "n", "es", "en")
"""What German puts between the parts of a compound."""


def find_forms(text: str, terms: Iterable[str], language: Language) -> dict[str, str]:
    """Return the words of a text that are other forms of a term, each with its term; none in English.

    Args:
        text: Any text.
        terms: As `roamtui.search.terms.query_terms` gives them.
        language: Of the question.
    """
    if language is Language.ENGLISH:
        return {}
    roots = {find_root(term, language): term for term in terms if term.isalpha() and not is_unspaced(term)}
    found = {word: roots.get(find_root(word, language)) for word in set(find_words(text))}
    return {word: term for word, term in found.items() if term is not None and word != term}


def list_starts(words: Iterable[str], language: Language) -> list[str]:
    """Return how other forms of words, and compounds that begin with them, begin; none for English."""
    if language is Language.ENGLISH:
        return []
    starts: dict[str, None] = {}
    for word in words:
        root = find_root(word, language)
        if len(root) < _ROOT_MIN or not root.isalpha():
            continue
        starts[root] = None
        if language is Language.GERMAN:
            starts[f"ge{root}"] = None
    return list(starts)


def list_compounds(word: str) -> Iterator[tuple[str, str]]:
    """Yield the two words that a German compound may be made of, the longer first part first."""
    for end in range(len(word) - _PART_MIN, _PART_MIN - 1, -1):
        for joint in _JOINTS:
            if word[:end].endswith(joint) and end - len(joint) >= _PART_MIN:
                yield word[: end - len(joint)], word[end:]
