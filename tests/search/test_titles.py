"""Mistyped words are led back to words of titles."""

from __future__ import annotations

from roamtui.search.index import SectionIndex
from roamtui.search.titles import TitleWords
from tests.search.libraries import make_library

_LIBRARY = make_library(
    "# Installation\n\nHow to install.\n\n# Guide\n\nFollow it.\n\n# Installation guide\n\nAll.\n\n# Port\n\nOpen.\n"
)
_INDEX = SectionIndex(_LIBRARY)
_TITLES = TitleWords(_INDEX)


def test_an_unknown_word_is_corrected() -> None:
    corrections = _TITLES.correct(["instalattion", "giude"])
    assert list(corrections["instalattion"]) == ["installation"]
    assert list(corrections["giude"]) == ["guide"]
    assert all(0.79 <= likeness < 1 for similar in corrections.values() for likeness in similar.values())


def test_known_short_and_strange_words_are_left_alone() -> None:
    assert _TITLES.correct(["installed", "step", "pot", "guide2", "zebra"]) == {}


def test_another_form_of_a_word_is_no_slip() -> None:
    titles = TitleWords(SectionIndex(make_library("# Counterparts\n\nTwo copies.\n\n# Database\n\nRows.\n")))
    assert titles.correct(["counterparty"]) == {}
    assert list(titles.correct(["databsae"])["databsae"]) == ["database"]


def test_a_title_that_shares_little_with_the_query_is_left_out() -> None:
    words = ["instalattion", "fails", "without", "network", "behind", "proxy"]
    assert _TITLES.rank(words, _TITLES.correct(words), range(len(_INDEX))) == []
