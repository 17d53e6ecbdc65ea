"""Languages of questions: what tells one, which words say nothing in it or only ask, what forms of a word share.

English is read by its stemmer and needs no roots. All words are folded.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from enum import StrEnum
from functools import lru_cache

from roamtui.search.words import list_words, make_pattern

_HIRAGANA = "\u3041-\u309f"
_QUANTITY = re.compile(make_pattern("quantity"), re.IGNORECASE)
"""Asks for a number; its second word seldom stands where the number does."""
_EVENT = re.compile(r"\bwhat\s+(?:will\s+|would\s+)?happen(?:s|ed)?\b", re.IGNORECASE)
"""Asks for what follows from something; where that is told, nothing "happens"."""
_FIRST_WORD = re.compile(r"\w+")
_HAS_UNSPACED = re.compile("[\u3041-\u30ff\u3400-\u9fff]")
_CHINESE = re.compile(make_pattern("asking zh"))
_JAPANESE = re.compile(make_pattern("asking ja"))
_PARTICLE = re.compile(
    rf"(?<=[^\s{_HIRAGANA}])(?:から|まで|より|には|では|とは|にも|は|が|を|に|で|と|も|の|へ|か|や)+(?![{_HIRAGANA}])"
)
_HIRAGANA_WORD = re.compile(f"[{_HIRAGANA}]")


class Language(StrEnum):
    """A language that a question can be in; English stands for all that are not told apart."""

    ENGLISH = "en"
    GERMAN = "de"
    FRENCH = "fr"
    SPANISH = "es"


_WORDS = {language: frozenset(list_words(f"stop {language}")) for language in Language}
STOP_WORDS = _WORDS[Language.ENGLISH]
"""English words that say nothing of what is looked for."""
_FOREIGN = (Language.GERMAN, Language.FRENCH, Language.SPANISH)
_ASKING = {language: frozenset(list_words(f"asking {language}")) for language in _FOREIGN}
"""Words with which questions begin, and which English has not: one of them alone tells the language."""
_FOREIGN_MIN = 2
"""Other words of a language alone that tell it."""
EMPTY_WORDS = frozenset().union(*_WORDS.values()) - (frozenset(list_words("meaning something")) - STOP_WORDS)
"""Words that say nothing in any of the languages, those that mean something in English apart."""
_ROOT_MIN = 4
"""Letters."""
_PARTICIPLE = re.compile(r"ge(?=\w{3,}(?:t|te|en|ten|ter|tes|ne|nen)\Z)")
_ENDINGS = {language: list_words(f"endings {language}") for language in _FOREIGN}
"""The longest first where one ends with another."""


def find_language(words: Collection[str]) -> Language:
    """Return the language of a question; English where it is not clearly another."""
    words = frozenset(word for word in words if len(word) > 1)
    best = max(_ASKING, key=lambda language: len(words & _WORDS[language]))
    found, english = words & _WORDS[best], (words & STOP_WORDS) - _WORDS[best]
    alone = found - STOP_WORDS
    is_told = len(alone) >= _FOREIGN_MIN or bool(alone & _ASKING[best])
    return best if is_told and len(alone) > len(english) else Language.ENGLISH


def list_stop_words(language: Language) -> frozenset[str]:
    """Return the words of a language that say nothing of what is looked for."""
    return _WORDS[language]


@lru_cache(maxsize=1 << 14)
def find_root(word: str, language: Language) -> str:
    """Return what the forms of a word share, such as ``wahl`` of ``gewahlt``; English words come back as they are."""
    if language is Language.ENGLISH:
        return word
    if language is Language.GERMAN:
        word = _PARTICIPLE.sub("", word)
    for ending in _ENDINGS[language]:
        if word.endswith(ending) and len(word) - len(ending) >= _ROOT_MIN:
            return word[: -len(ending)]
    return word


def strip_asking(question: str) -> str:
    """Return a question without the words that only ask."""
    question = _EVENT.sub(_keep_first, _QUANTITY.sub(_keep_first, question))
    if _HAS_UNSPACED.search(question) is None:
        return question
    if _HIRAGANA_WORD.search(question):
        return _PARTICLE.sub(" ", _JAPANESE.sub(" ", question))
    return _CHINESE.sub(" ", question)


def _keep_first(match: re.Match[str]) -> str:
    """Return the first word of a phrase, which says nothing and holds its place."""
    found = _FIRST_WORD.match(match.group())
    return found.group() if found else " "
