"""Languages of questions, roots of words, and synonyms."""

from __future__ import annotations

import pytest

from roamtui.search.lexicon import Language, detect_language, reduce_to_root
from roamtui.search.terms import tokenise
from tests.search.libraries import find_titles, make_library


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("Wer wählt den Hafenmeister?", Language.GERMAN),
        ("Wohin mit altem Öl?", Language.GERMAN),
        ("Gebühr im Winter", Language.ENGLISH),
        ("What is the die casting process?", Language.ENGLISH),
        ("When do the heirs die?", Language.ENGLISH),
        ("Why doesn't Ray's actor die", Language.ENGLISH),
        ("What does es mean in de facto?", Language.ENGLISH),
        ("", Language.ENGLISH),
    ],
)
def test_stop_words_show_the_language(question: str, language: Language) -> None:
    assert detect_language(tokenise(question)) is language


@pytest.mark.parametrize(
    ("language", "root", "words"),
    [
        (Language.GERMAN, "wahl", "wahlt gewahlt wahlen wahlbar wahler wahl"),
        (Language.GERMAN, "zahl", "zahle zahlt gezahlt zahlung zahlungen"),
    ],
)
def test_all_forms_of_a_word_have_one_root(language: Language, root: str, words: str) -> None:
    assert {reduce_to_root(word, language) for word in words.split()} == {root}


_FILLER = "".join(f"## Filler {number}\n\nNothing of note.\n\n" for number in range(8))
_TERMS = make_library(
    f"# Terms\n\n## Orders\n\nGoods are procured in May.\n\n## Ends\n\nEach side may terminate it.\n\n{_FILLER}"
)


def test_synonyms_are_found() -> None:
    assert find_titles(_TERMS, "Who can cancel?") == ["Ends"]
    assert find_titles(_TERMS, "buying")[0] == "Orders"


def test_the_word_itself_ranks_above_synonyms() -> None:
    library = make_library(f"# A\n\n## One\n\nA taxi waits.\n\n## Two\n\nA cab waits.\n\n{_FILLER}")
    assert find_titles(library, "cab")[0] == "Two"
    assert find_titles(library, "taxi")[0] == "One"


_LAWS = make_library(
    "# Recht\n\n## § 1 Tierhalter\n\nVerletzt ein Tier einen Menschen, so ist der Halter zum Ersatz verpflichtet.\n\n"
    "## § 2 Kosten\n\nDer Beamte zahlt jemanden aus, der es muss. Wer muss, zahlt.\n\n"
    f"{_FILLER}"
)


def test_everyday_words_find_the_formal_words() -> None:
    assert find_titles(_LAWS, "Muss ich zahlen, wenn mein Hund jemanden gebissen hat?")[0] == "§ 1 Tierhalter"


_CONTRACT = """# Contract

## 1

Supplier hereby grants Buyer the right and license to use the Mark.

## 2

Buyer shall not attack or impugn the registration of the Mark.

## 3

Buyer shall meet the quotas of Exhibit A. Quotas are adjusted yearly.

## 4

Upon termination Buyer shall return all copies.

## 5

Buyer shall pay Supplier royalties of five percent of Net Sales.

## 6

A license granted by an office is kept in a file.

## 7

The revenue office has no part in this.

## 8

The form of an order has room for twelve lines.

## 9

A duty is listed in a file.

"""


@pytest.mark.parametrize(
    ("question", "title"),
    [
        ("Is a license granted to the other party?", "1"),
        ("May a party contest the validity of the other's intellectual property?", "2"),
        ("Is there a minimum order?", "3"),
        ("Which duties remain after the termination?", "4"),
        ("Do the parties share revenue?", "5"),
    ],
)
def test_a_kind_of_clause_is_found_by_the_words_of_contracts(question: str, title: str) -> None:
    assert find_titles(make_library(_CONTRACT + _FILLER), question)[0] == title
