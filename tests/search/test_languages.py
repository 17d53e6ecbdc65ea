"""Which language a question is in, and what the forms of a word share."""

from __future__ import annotations

import pytest

from roamtui.search.languages import Language, find_language, find_root
from roamtui.search.terms import find_words


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("Wer wählt den Hafenmeister?", Language.GERMAN),
        ("Wohin mit altem Öl?", Language.GERMAN),
        ("Gebühr im Winter", Language.ENGLISH),
        ("Puis-je ajouter du linge ?", Language.FRENCH),
        ("Où se trouve le filtre ?", Language.FRENCH),
        ("¿Cuántos huevos lleva la tortilla?", Language.SPANISH),
        ("What is the die casting process?", Language.ENGLISH),
        ("When do the heirs die?", Language.ENGLISH),
        ("Why doesn't Ray's actor die", Language.ENGLISH),
        ("What does es mean in de facto?", Language.ENGLISH),
        ("", Language.ENGLISH),
    ],
)
def test_small_words_tell_the_language(question: str, language: Language) -> None:
    assert find_language(find_words(question)) is language


@pytest.mark.parametrize(
    ("language", "root", "words"),
    [
        (Language.GERMAN, "wahl", "wahlt gewahlt wahlen wahlbar wahler wahl"),
        (Language.GERMAN, "zahl", "zahle zahlt gezahlt zahlung zahlungen"),
        (Language.FRENCH, "nettoy", "nettoyer nettoyez nettoyee nettoyement"),
        (Language.SPANISH, "congel", "congelar congelan congelado congeladas"),
    ],
)
def test_forms_of_a_word_have_one_root(language: Language, root: str, words: str) -> None:
    assert {find_root(word, language) for word in words.split()} == {root}
