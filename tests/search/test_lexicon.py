"""Languages of questions, roots of words, and synonyms."""

import pytest

from roamtui.search.lexicon import Language
from roamtui.search.terms import detect_language
from tests.search.libraries import find_titles, make_library


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("Wer wählt den Hafenmeister?", Language.GERMAN),
        ("Wohin mit altem Öl?", Language.GERMAN),
        ("What is the die casting process?", Language.ENGLISH),
        ("What does es mean in de facto?", Language.ENGLISH),
        ("", Language.ENGLISH),
    ],
)
def test_stop_words_show_the_language(question: str, language: Language) -> None:
    assert detect_language(question) is language


_FILLER = "".join(f"## Filler {number}\n\nNothing of note.\n\n" for number in range(8))
_TERMS = make_library(
    f"# Terms\n\n## Orders\n\nThe internet is in the hall.\n\n## Ends\n\nEach side may terminate it.\n\n{_FILLER}"
)


def test_synonyms_are_found() -> None:
    assert find_titles(_TERMS, "Who can cancel?") == ["Ends"]
    assert find_titles(_TERMS, "Where is wifi?")[0] == "Orders"


_LAWS = make_library(
    "# Recht\n\n## § 1 Tierhalter\n\nVerletzt ein Tier einen Menschen, so ist der Halter zum Ersatz verpflichtet.\n\n"
    "## § 2 Kosten\n\nDer Beamte zahlt jemanden aus, der es muss. Wer muss, zahlt.\n\n"
    f"{_FILLER}"
)


def test_everyday_words_find_the_formal_words() -> None:
    assert find_titles(_LAWS, "Muss ich zahlen, wenn mein Hund jemanden gebissen hat?")[0] == "§ 1 Tierhalter"


@pytest.mark.parametrize("character", ["水", "한", "я", "é"])
def test_a_word_that_is_longer_than_the_index_takes_does_not_end_a_search(character: str) -> None:
    for word in (character * 10_930, f"a{character * 20_001}"):
        library = make_library(f"# All {word}\n\n## Owls\n\n{word}\n\n## Herons\n\nHerons eat fish, {word}.\n")
        assert find_titles(library, "Do herons eat fish?")[0] == "Herons"
        assert find_titles(library, f"Do herons eat {word}?")
