"""Stems, languages, stop words and synonyms.

The lists of words are in `lexicon.txt`. All words are folded. English words are stemmed; those of other languages are
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


HIRAGANA = "\u3041-\u309f"
"""Range of hiragana, for character classes of regular expressions."""
_QUANTITY = re.compile(make_pattern("quantity"), re.IGNORECASE)
"""Phrases that ask for a number, such as "how many". Only the first word is kept: answers rarely contain the others."""
_LATEST_PERIOD = re.compile(make_pattern("latest period"), re.IGNORECASE)
"""Phrases such as "in the most recent fiscal year". They find the boilerplate of a report instead of its figures."""
_CHINESE_QUESTION = re.compile(make_pattern("asking zh"))
_JAPANESE_QUESTION = re.compile(make_pattern("asking ja"))
_PARTICLE = re.compile(
    rf"(?<=[^\s{HIRAGANA}])(?:から|まで|より|には|では|とは|にも|は|が|を|に|で|と|も|の|へ|か|や)+(?![{HIRAGANA}])"
)
_HIRAGANA_CHARACTER = re.compile(f"[{HIRAGANA}]")

_INSTRUCTION = re.compile(make_pattern("instructions"), re.IGNORECASE)
"""Sentences that say how to answer, such as "Round to two decimals." """
_REMAINING_WORDS_MIN = 3
"""Instructions are removed only if at least this many words remain. Otherwise they are the question itself."""
_IMPLICATIONS = tuple(
    (re.compile(pattern, re.IGNORECASE), tuple(words.split()))
    for pattern, words in (line.split(" => ") for line in list_lines("implied"))
)
"""Patterns of questions, each with words that an answer probably contains."""


class Language(StrEnum):
    """The language of a question. `ENGLISH` also stands for all languages that are not detected."""

    ENGLISH = "en"
    GERMAN = "de"
    FRENCH = "fr"
    SPANISH = "es"


STOP_WORDS_BY_LANGUAGE = {language: frozenset(list_words(f"stop {language}")) for language in Language}
STOP_WORDS = STOP_WORDS_BY_LANGUAGE[Language.ENGLISH]
"""English words that do not narrow a search."""
_FOREIGN = (Language.GERMAN, Language.FRENCH, Language.SPANISH)
_QUESTION_WORDS = {language: frozenset(list_words(f"asking {language}")) for language in _FOREIGN}
"""Words that start questions and do not exist in English. One of them is enough to detect the language."""
_FOREIGN_STOP_WORDS_MIN = 2
"""Minimum number of stop words of a language, without those that are English too, to detect that language."""
_ENGLISH_MEANING_WORDS = frozenset(list_words("meaning something")) - STOP_WORDS
FUNCTION_WORDS = frozenset().union(*STOP_WORDS_BY_LANGUAGE.values()) - _ENGLISH_MEANING_WORDS
"""Stop words of any language, except those that have a meaning in English."""
ROOT_LENGTH_MIN = 4
"""Minimum letters of a root. Shorter ones would join unrelated words."""
_PARTICIPLE = re.compile(r"ge(?=\w{3,}(?:t|te|en|ten|ter|tes|ne|nen)\Z)")
_ENDINGS = {language: list_words(f"endings {language}") for language in _FOREIGN}
"""Endings of inflected words. If one ends with another, the longer one comes first."""


def detect_language(words: Collection[str]) -> Language:
    """Detect the language of a question by its words. It is English unless it is clearly another one."""
    words = frozenset(word for word in words if len(word) > 1)
    best = max(_QUESTION_WORDS, key=lambda language: len(words & STOP_WORDS_BY_LANGUAGE[language]))
    found, english = words & STOP_WORDS_BY_LANGUAGE[best], (words & STOP_WORDS) - STOP_WORDS_BY_LANGUAGE[best]
    distinctive = found - STOP_WORDS
    is_clear = len(distinctive) >= _FOREIGN_STOP_WORDS_MIN or bool(distinctive & _QUESTION_WORDS[best])
    return best if is_clear and len(distinctive) > len(english) else Language.ENGLISH


@lru_cache(maxsize=1 << 14)
def reduce_to_root(word: str, language: Language) -> str:
    """Return the common root of a word's forms, such as ``wahl`` for ``gewahlt``, or an English word unchanged."""
    if language is Language.ENGLISH:
        return word
    if language is Language.GERMAN:
        word = _PARTICIPLE.sub("", word)
    for ending in _ENDINGS[language]:
        if word.endswith(ending) and len(word) - len(ending) >= ROOT_LENGTH_MIN:
            return word[: -len(ending)]
    return word


def strip_question_words(question: str) -> str:
    """Return a question without instructions, phrases for the latest period, and Chinese or Japanese question words.

    Instructions say how to answer. Japanese particles are left out too. Of a phrase that asks for a number, such as
    "how many", only the first word stays.
    """
    bare = _INSTRUCTION.sub(" ", question)
    question = bare if len(bare.split()) >= _REMAINING_WORDS_MIN else question
    question = _LATEST_PERIOD.sub(" ", question)
    question = _QUANTITY.sub(lambda match: match[0].split()[0], question)  # keep the first word
    if _HIRAGANA_CHARACTER.search(question):
        return _PARTICLE.sub(" ", _JAPANESE_QUESTION.sub(" ", question))
    return _CHINESE_QUESTION.sub(" ", question)


def get_synonyms(words: Iterable[str], language: Language = Language.ENGLISH) -> tuple[str, ...]:
    """Return the synonyms of `words`, folded and sorted, without forms of the words themselves.

    In German and French, these are the words that laws and handbooks use for everyday words.
    """
    if language is Language.ENGLISH:
        stems = {stem(word) for word in words}
        found = {other for word_stem in stems for other in _load_synonyms().get(word_stem, ())}
        return tuple(sorted(other for other in found if stem(other) not in stems))
    roots = {reduce_to_root(word, language) for word in words}
    found = {other for root in roots for other in _load_formal_words(language).get(root, ())}
    return tuple(sorted(other for other in found if reduce_to_root(other, language) not in roots))


@cache
def _load_synonyms() -> Mapping[str, frozenset[str]]:
    """Return the synonyms of each stem."""
    found: dict[str, set[str]] = defaultdict(set)
    for group in _read_lists()["synonyms"]:
        for word in group.split():
            found[stem(word)].update(group.split())
    return {word_stem: frozenset(words) for word_stem, words in found.items()}


@cache
def _load_formal_words(language: Language) -> Mapping[str, frozenset[str]]:
    """Return the formal words for each root of an everyday word."""
    found: dict[str, set[str]] = defaultdict(set)
    for line in _read_lists().get(f"everyday {language}", ()):
        everyday, formal = line.split(" => ")
        for word in everyday.split():
            found[reduce_to_root(word, language)].update(formal.split())
    return {root: frozenset(words) for root, words in found.items()}


def get_implied_words(question: str) -> tuple[str, ...]:
    """Return words that an answer may contain, such as ``age`` for "how old". In a phrase, ``_`` joins the words."""
    return tuple(word for pattern, words in _IMPLICATIONS if pattern.search(question) for word in words)
