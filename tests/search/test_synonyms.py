"""Everyday words that mean the same, and how much they count."""

from __future__ import annotations

from tests.search.libraries import find_titles, make_library

_FILLER = "".join(f"## Filler {number}\n\nNothing of note.\n\n" for number in range(8))
_TERMS = make_library(
    f"# Terms\n\n## Orders\n\nGoods are procured in May.\n\n## Ends\n\nEach side may terminate it.\n\n{_FILLER}"
)


def test_what_says_it_in_other_words_is_found() -> None:
    assert find_titles(_TERMS, "Who can cancel?") == ["Ends"]
    assert find_titles(_TERMS, "buying")[0] == "Orders"


def test_the_word_itself_goes_before_what_means_the_same() -> None:
    library = make_library(f"# A\n\n## One\n\nA taxi waits.\n\n## Two\n\nA cab waits.\n\n{_FILLER}")
    assert find_titles(library, "cab")[0] == "Two"
    assert find_titles(library, "taxi")[0] == "One"
