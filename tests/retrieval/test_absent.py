"""Which words of a question are said to stand nowhere: names, numbers, codes and quoted words."""

import pytest

from roamtui.document.library import Library
from roamtui.document.parse import parse_document
from roamtui.retrieval.absent import expand_abbreviations, format_absence_clause, list_absent_names
from tests.case_files import read_rows

_TEXT = (
    "# A\n\n## B\n\nRed.\n\n## C\n\nThe bricks of 2022: readUnits, T-1103, 8-K, $5, new. PP&E, EBITDA, 12,000, clause "
    "12.5.1 of FY22. max\\_tokens of Fabri-\nkam, **un**known, H<sub>2</sub>O4, Caf&eacute;, 2019–2021, `List<Foo>`.\n"
    "Each tenancy and filing of Müller. Bjørn, Łódź, Đorđević, Sigurðsson, Þingvellir.\n"
)


@pytest.mark.parametrize(("query", "absent"), read_rows("retrieval/absent", "absent"))
def test_only_names_numbers_codes_and_quoted_words_are_said_to_be_absent(query: str, absent: str) -> None:
    library = Library(source="/d/notes.md", root=parse_document(_TEXT, name="notes.md"))
    assert ", ".join(list_absent_names(query, library)) == absent


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
