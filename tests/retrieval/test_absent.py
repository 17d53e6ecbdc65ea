"""Which words of a question are said to stand nowhere: names, numbers, codes and quoted words."""

import pytest

from roamtui.document.library import Library
from roamtui.document.parse import parse_document
from roamtui.retrieval.absent import (
    expand_abbreviations,
    format_absence_clause,
    leave_out_subject,
    list_absent_names,
    list_absent_words,
)
from tests.case_files import read_rows
from tests.search.libraries import make_folder, make_library

_TEXT = (
    "# A\n\n## B\n\nRed.\n\n## C\n\nThe bricks of 2022: readUnits, T-1103, 8-K, $5, new. PP&E, EBITDA, 12,000, clause "
    "12.5.1 of FY22. max\\_tokens of Fabri-\nkam, **un**known, H<sub>2</sub>O4, Caf&eacute;, 2019–2021, `List<Foo>`.\n"
    "Each tenancy and filing of Müller. Bjørn, Łódź, Đorđević, Sigurðsson, Þingvellir.\n"
)


@pytest.mark.parametrize(("query", "absent"), read_rows("retrieval/absent", "absent"))
def test_only_names_numbers_codes_and_quoted_words_are_said_to_be_absent(query: str, absent: str) -> None:
    library = Library(source="/d/notes.md", root=parse_document(_TEXT, name="notes.md"))
    assert ", ".join(list_absent_names(query, library)) == absent


@pytest.mark.parametrize(("text", "absent"), [("It is red.", ["price"]), ("It is red, for 9 €.", []), ("A fee.", [])])
def test_a_price_is_absent_unless_its_synonym_or_an_amount_is_there(text: str, absent: list[str]) -> None:
    assert list_absent_words("What is its price?", make_library(f"# A\n\n{text}\n")) == absent


@pytest.mark.parametrize(
    ("count", "clause"),
    [(0, ""), (1, "“a0” does not occur"), (3, "“a0”, “a1” and “a2” do not occur")],
)
def test_absent_words_are_one_clause(count: int, clause: str) -> None:
    assert format_absence_clause([f"a{number}" for number in range(count)]) == clause
    assert "a6" not in format_absence_clause([f"a{number}" for number in range(9)])


@pytest.mark.parametrize(
    ("question", "expanded"),
    [
        ("When is the agm?", "When is the agm annual general meeting?"),
        ("Can I bring my cat?", "Can I bring my cat customer agreement terms?"),
        ("Is my Dog insured, and is there a fee?", "Is my Dog insured, and is there a fee?"),
        ("May CLI cover TSG, SGR, PDQ and NS?", "May CLI club liability insurance cover TSG, SGR, PDQ and NS?"),
        ("Is my DOG insured?", "Is my DOG driver ordering goods insured?"),
    ],
)
def test_the_words_of_an_abbreviation_are_added_to_it_if_it_or_they_have_capitals(question: str, expanded: str) -> None:
    text = (
        "The Annual General Meeting. The Club Liability\nInsurance. The small guests. No Smoking. Pay Day Quiz, PDQ.\n"
        "Each driver ordering goods comes to an ANNUAL GENERAL MEETING. Free entry every day.\n"
        "\n## Customer Agreement Terms\n\n## The six great rules\n\nNone. Some green reeds.\n"
    )
    library = Library(source="/d/notes.md", root=parse_document(text, name="notes.md"))
    assert expand_abbreviations(question, library) == expanded


@pytest.mark.parametrize(
    ("question", "rest"),
    [
        ("How many people does Red Fern employ?", "How many people does employ?"),
        ("where is red fern's office", "where is office"),
        ("What does a ladder cost?", "What does a ladder cost?"),
        ("What is Red Fern?", "What is Red Fern?"),
        ("Wie viele Leute hat Red Fern?", "Wie viele Leute hat Red Fern?"),
    ],
)
def test_the_name_that_a_document_is_about_is_left_out_if_anything_else_is_asked(question: str, rest: str) -> None:
    root = parse_document("Red Fern rents ladders. A ladder is red. Red Fern has an office.\n", name="a.md")
    assert leave_out_subject(question, Library(source="/d/REDFERN_ladder_prices.md", root=root)) == rest


def test_names_that_tell_documents_apart_are_not_left_out() -> None:
    texts = {"redfern.md": "# Redfern\n\nRedfern has ladders.\n", "oakley.md": "# Oakley\n\nOakley has none.\n"}
    assert leave_out_subject("Ladders of Redfern?", make_library(texts["redfern.md"])) == "Ladders of ?"
    assert leave_out_subject("Ladders of Redfern?", make_folder(texts)) == "Ladders of Redfern?"
