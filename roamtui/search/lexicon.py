"""Stems, languages, stop words and synonyms.

The lists of words are in `lexicon.txt`. All words are folded. English words are stemmed; German ones are
reduced to roots.
"""

from __future__ import annotations

import re
import sqlite3
import threading
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from enum import StrEnum
from functools import cache, lru_cache
from pathlib import Path

TOKENIZER = "porter unicode61 remove_diacritics 2"
"""Tokenizer of FTS5, which splits texts into words and stems them."""
_LISTS = re.compile(r"^== (.+)\n((?:(?!==).*\n)*)", re.MULTILINE)
_STEMMER_LOCK = threading.Lock()


@lru_cache(maxsize=1 << 16)
def stem(word: str) -> str:
    """Return the stem that the index stores for a word. FTS5 computes it, which takes 16 µs for a new word."""
    with _STEMMER_LOCK:
        connection = _open_stemmer()
        connection.execute("INSERT INTO words VALUES(?)", (word,))
        stems = connection.execute("SELECT term FROM stems").fetchall()
        connection.rollback()
    return str(stems[0][0]) if len(stems) == 1 else word


@cache
def _open_stemmer() -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:", check_same_thread=False)
    connection.execute(f"CREATE VIRTUAL TABLE words USING fts5(word, content='', tokenize='{TOKENIZER}')")
    connection.execute("CREATE VIRTUAL TABLE stems USING fts5vocab(words, row)")
    return connection


@cache
def _read_lists() -> Mapping[str, tuple[str, ...]]:
    text = Path(__file__).with_suffix(".txt").read_text("utf-8")
    return {name: tuple(filter(None, lines.split("\n"))) for name, lines in _LISTS.findall(text)}


def list_words(name: str) -> tuple[str, ...]:
    """Return the words of a list in `lexicon.txt`."""
    return tuple(" ".join(_read_lists()[name]).split())


def list_lines(name: str) -> tuple[str, ...]:
    """Return the lines of a list in `lexicon.txt`."""
    return _read_lists()[name]


def make_pattern(name: str) -> str:
    """Return the lines of a list in `lexicon.txt` as alternatives of a regular expression."""
    return "|".join(_read_lists()[name])


_IMPLICATIONS = tuple(tuple(line.split(" => ")) for line in list_lines("implied"))
"""Patterns of questions, each with words that an answer probably contains."""


class Language(StrEnum):
    """The language of a question. `ENGLISH` also stands for all other languages."""

    ENGLISH = "en"
    GERMAN = "de"


STOP_WORDS_BY_LANGUAGE = {language: frozenset(list_words(f"stop {language}")) for language in Language}
STOP_WORDS = STOP_WORDS_BY_LANGUAGE[Language.ENGLISH]
"""English words that do not narrow a search."""
_GERMAN_QUESTION_WORDS = frozenset(list_words("asking de"))
"""Words that start questions and do not exist in English. One of them is enough to detect German."""
_GERMAN_STOP_WORDS_MIN = 2
"""Minimum number of German stop words, without those that are English too, to detect German."""
ROOT_LENGTH_MIN = 4
"""Minimum letters of a root. Shorter ones would join unrelated words."""
_PARTICIPLE = re.compile(r"ge(?=\w{3,}(?:t|te|en|ten|ter|tes|ne|nen)\Z)")
_GERMAN_ENDINGS = list_words("endings de")
"""Endings of inflected words. If one ends with another, the longer one comes first."""


def detect_language(words: Collection[str]) -> Language:
    """Detect the language of a question by its words. It is English unless it is clearly German."""
    words = frozenset(word for word in words if len(word) > 1)
    german, english = STOP_WORDS_BY_LANGUAGE[Language.GERMAN], STOP_WORDS
    distinctive = (words & german) - english
    is_clear = len(distinctive) >= _GERMAN_STOP_WORDS_MIN or bool(distinctive & _GERMAN_QUESTION_WORDS)
    return Language.GERMAN if is_clear and len(distinctive) > len((words & english) - german) else Language.ENGLISH


@lru_cache(maxsize=1 << 14)
def reduce_to_root(word: str, language: Language) -> str:
    """Return the common root of a word's forms, such as ``wahl`` for ``gewahlt``, or an English word unchanged."""
    if language is Language.ENGLISH:
        return word
    word = _PARTICIPLE.sub("", word)
    for ending in _GERMAN_ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= ROOT_LENGTH_MIN:
            return word[: -len(ending)]
    return word


def get_synonyms(words: Iterable[str], language: Language = Language.ENGLISH) -> tuple[str, ...]:
    """Return the synonyms of `words`, folded and sorted, without forms of the words themselves.

    In German, these are the words that laws and handbooks use for everyday words.
    """
    stems = {_reduce(word, language) for word in words}
    found = {other for word_stem in stems for other in _load_synonyms(language).get(word_stem, ())}
    return tuple(sorted(other for other in found if _reduce(other, language) not in stems))


@cache
def _load_synonyms(language: Language) -> Mapping[str, frozenset[str]]:
    """Return the synonyms of each stem or root. A list of words, or of words and their synonyms after an arrow."""
    found: dict[str, set[str]] = defaultdict(set)
    for line in list_lines("synonyms" if language is Language.ENGLISH else "everyday de"):
        words, _, others = line.partition(" => ")
        for word in words.split():
            found[_reduce(word, language)].update((others or words).split())
    return {word_stem: frozenset(others) for word_stem, others in found.items()}


def _reduce(word: str, language: Language) -> str:
    return stem(word) if language is Language.ENGLISH else reduce_to_root(word, language)


def get_implied_words(question: str) -> tuple[str, ...]:
    """Return words that an answer may contain, such as ``age`` for "how old". In a phrase, ``_`` joins the words."""
    found = (words for pattern, words in _IMPLICATIONS if re.search(pattern, question, re.IGNORECASE))
    return tuple(" ".join(found).split())
