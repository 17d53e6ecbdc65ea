"""Mistyped words are corrected to words of titles."""

from roamtui.search.index import SectionIndex
from roamtui.search.keyword import suggest_corrections
from tests.search.libraries import make_library

_LIBRARY = make_library(
    "# Installation\n\nHow to install.\n\n# Guide\n\nFollow it.\n\n# Installation guide\n\nAll.\n\n# Port\n\nOpen.\n"
)
_INDEX = SectionIndex(_LIBRARY)


def test_an_unknown_word_is_corrected() -> None:
    corrections = suggest_corrections(_INDEX, ["instalattion", "giude"])
    assert corrections == {"instalattion": ["installation"], "giude": ["guide"]}
    index = SectionIndex(make_library("# Bicycles\n\nTwo wheels.\n"))
    assert suggest_corrections(index, ["bicicle"]) == {"bicicle": ["bicycles"]}


def test_known_short_and_unusual_words_are_not_corrected() -> None:
    assert suggest_corrections(_INDEX, ["guided", "step", "pot", "guide2", "zebra"]) == {}
