"""Other forms of the words of a question."""

from __future__ import annotations

from roamtui.search.forms import find_forms, list_compounds, list_starts
from roamtui.search.languages import Language


def test_a_text_holds_other_forms_of_a_word() -> None:
    text = "Er wird auf fünf Jahre gewählt; wählbar ist jeder. Die Wahl wählt."
    assert find_forms(text, ("wahlt",), Language.GERMAN) == {"gewahlt": "wahlt", "wahlbar": "wahlt", "wahl": "wahlt"}


def test_english_has_a_stemmer_for_that() -> None:
    assert find_forms("elections elect", ("elected",), Language.ENGLISH) == {}
    assert list_starts(("elected",), Language.ENGLISH) == []


def test_pairs_of_characters_and_identifiers_have_no_forms() -> None:
    assert find_forms("借期 max_tokens", ("借期", "max_token"), Language.GERMAN) == {}


def test_starts_are_roots_and_participles() -> None:
    assert list_starts(("wahlt", "amt"), Language.GERMAN) == ["wahl", "gewahl"]
    assert list_starts(("congelar",), Language.SPANISH) == ["congel"]


def test_a_compound_is_divided_between_its_words() -> None:
    assert ("liegeplatz", "gebuhr") in list_compounds("liegeplatzgebuhr")
    assert ("zahlung", "frist") in list_compounds("zahlungsfrist")
    assert list(list_compounds("kurz")) == []
