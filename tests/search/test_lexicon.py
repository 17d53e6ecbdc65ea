"""Languages of questions, roots of words, and synonyms."""

import pytest

from roamtui.search.terms import detect_language
from tests.case_files import read_rows
from tests.search.libraries import find_titles, make_library


@pytest.mark.parametrize(("question", "language"), read_rows("search/lexicon", "languages"))
def test_stop_words_show_the_language(question: str, language: str) -> None:
    assert detect_language(question).value == language


_FILLER = "".join(f"## Filler {number}\n\nNothing of note.\n\n" for number in range(8))


_LAWS = make_library(
    "# Recht\n\n## § 1 Tierhalter\n\nVerletzt ein Tier einen Menschen, so ist der Halter zum Ersatz verpflichtet.\n\n"
    "## § 2 Kosten\n\nDer Beamte zahlt jemanden aus, der es muss. Wer muss, zahlt.\n\n"
    f"{_FILLER}"
)


def test_everyday_words_find_the_formal_words() -> None:
    assert find_titles(_LAWS, "Muss ich zahlen, wenn mein Hund jemanden gebissen hat?")[0] == "§ 1 Tierhalter"


@pytest.mark.parametrize("character", ["水", "é"])
def test_a_word_that_is_longer_than_the_index_takes_does_not_end_a_search(character: str) -> None:
    for word in (character * 10_930, f"a{character * 20_001}"):
        library = make_library(f"# All {word}\n\n## Owls\n\n{word}\n\n## Herons\n\nHerons eat fish, {word}.\n")
        assert find_titles(library, "Do herons eat fish?")[0] == "Herons"
        assert find_titles(library, f"Do herons eat {word}?")
