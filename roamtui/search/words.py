"""The lists of `words.txt`, by which questions and answers are known in several languages."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

from roamtui.search.stem import stem

_LISTS = re.compile(r"^== (.+)\n((?:(?!==).*\n)*)", re.MULTILINE)


@cache
def _read_lists() -> Mapping[str, tuple[str, ...]]:
    text = Path(__file__).with_suffix(".txt").read_text("utf-8")
    return {name: tuple(filter(None, lines.split("\n"))) for name, lines in _LISTS.findall(text)}


def list_lines(name: str) -> tuple[str, ...]:
    """Return the lines of a list."""
    return _read_lists()[name]


def list_words(name: str) -> tuple[str, ...]:
    """Return the words of a list."""
    return tuple(" ".join(list_lines(name)).split())


def make_pattern(name: str) -> str:
    """Return a list as alternatives of a pattern."""
    return "|".join(list_lines(name))


def find_synonyms(words: Iterable[str]) -> tuple[str, ...]:
    """Return words that mean nearly the same as some of `words`, folded and sorted, none of these among them."""
    stems = {stem(word) for word in words}
    found = {other for word_stem in stems for other in _list_by_stem().get(word_stem, ())}
    return tuple(sorted(other for other in found if stem(other) not in stems))


@cache
def _list_by_stem() -> Mapping[str, frozenset[str]]:
    """Return the words of the groups that hold a stem, by that stem."""
    found: dict[str, set[str]] = defaultdict(set)
    for group in list_lines("synonyms"):
        for word in group.split():
            found[stem(word)].update(group.split())
    return {word_stem: frozenset(words) for word_stem, words in found.items()}


MONTHS = make_pattern("months")
"""Names of months, as alternatives of a pattern in lower case."""
_AGE_WORDS = ("age", "lebensjahr", "alter", "edad", "岁", "歳")
_ASKS_FOR_AGE = re.compile(make_pattern("asks for age"), re.IGNORECASE)


def list_implied(question: str) -> tuple[str, ...]:
    """Return the words that a question asks for without saying them: a text says age where one asks how old."""
    return _AGE_WORDS if _ASKS_FOR_AGE.search(question) else ()
