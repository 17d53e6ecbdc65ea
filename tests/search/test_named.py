"""What a question names by its title or number comes first."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from roamtui.search.index import SectionIndex
from roamtui.search.keyword import KeywordSearcher
from roamtui.search.named import find_named_documents
from roamtui.search.query import parse_query
from tests.search.libraries import find_titles, make_folder, make_library

_TABLE = "| (in millions) | 2022 |\n|---|---|\n" + "".join(
    f"| Line {number} | {number},000 |\n" for number in range(12)
)
_REPORT = make_library(f"""# Report

## Item 7. Discussion

Our quick ratio of orders to stores may fall. Revenue per store and capex per store, revenue and capex.

## Item 7A. Market risk

### Balance Sheet Components

The balance sheet and the quick ratio: see the balance sheet.

## CONSOLIDATED BALANCE SHEETS (Unaudited)

{_TABLE}
## Condensed Consolidated Statements of Operations

### Birds Inc. and Subsidiaries

{_TABLE}
## Consolidated Statement of Cash Flows for the years ended May 31, 2022

{_TABLE}| Advances to nest builders, net | 9 |

## Statements of Comprehensive Income

{_TABLE}
## Notes

### 12. Leases

Rooms, and how large the advances are. Large advances to builders were made.

### 13. Taxes

Dues. See Note 12, note 12 and Note 12 again.
""")


@pytest.mark.parametrize(
    ("question", "titles"),
    [
        ("What is the quick ratio?", ["CONSOLIDATED BALANCE SHEETS (Unaudited)"]),
        ("How much revenue was there by the P&L?", ["Condensed Consolidated Statements of Operations"]),
        ("capex in FY2022", ["Consolidated Statement of Cash Flows for the years ended May 31, 2022"]),
        (
            "What is the fixed asset turnover?",
            ["Condensed Consolidated Statements of Operations", "CONSOLIDATED BALANCE SHEETS (Unaudited)"],
        ),
        (
            "How large were the advances to nest builders?",
            ["Consolidated Statement of Cash Flows for the years ended May 31, 2022"],
        ),
        ("What does Item 7A say of risk?", ["Item 7A. Market risk"]),
        ("What is said in item 7?", ["Item 7. Discussion"]),
        ("What does Note 12 say?", ["12. Leases"]),
    ],
)
def test_the_parts_of_a_report_that_a_question_names_come_first(question: str, titles: list[str]) -> None:
    assert find_titles(_REPORT, question)[: len(titles)] == titles


_BOOK = make_folder(
    {
        "guide.md": (
            "# Guide\n\n## 3. Installation\n\nRun it.\n\n## Glossary\n\nWords.\n\n"
            "## Start\n\nThe installation of the glossary page: install it, the installation page says.\n\n"
            "## § 12 Liability\n\nNone.\n\n## 12.3 Limits\n\nTen.\n\n## ARTICLE IV\n\nPeace.\n\n"
            "## Appendix B: Forms\n\nForms.\n\n"
            "## Results\n\nAs Table 4 shows, it is slow.\n\nTable 3. Sizes\n\n| a |\n|---|\n| 1 |\n\n"
            "Table 4. Speeds\n\n| b |\n|---|\n| 2 |\n\nIt is fast.\n\nTable 5: Weights\n"
        ),
        "changelog.md": "# Changes\n\n## 2.5.0 (May)\n\nNew.\n\n## 2.5.1\n\nFixed.\n\n## v1.12\n\nOld.\n",
    }
)


@pytest.mark.parametrize(
    ("question", "title"),
    [
        ("What does the installation page say?", "3. Installation"),
        ("What is in the glossary?", "Glossary"),
        ("What does § 12 say?", "§ 12 Liability"),
        ("How much is it under section 12.3?", "12.3 Limits"),
        ("What is article 4 about?", "ARTICLE IV"),
        ("Which forms does Appendix B have?", "Appendix B: Forms"),
        ("What does the changelog for v2.5 say?", "2.5.0 (May)"),
        ("release notes of 1.12", "v1.12"),
        ('What does the section "12.3 Limits" say?', "12.3 Limits"),
    ],
)
def test_what_a_question_names_by_title_or_number_comes_first(question: str, title: str) -> None:
    assert find_titles(_BOOK, question)[0] == title


def test_a_caption_names_its_table() -> None:
    hit = KeywordSearcher(_BOOK).search("What does Table 4 show?")[0]
    assert hit.named is not None
    text = _BOOK.own_text(hit.section_id)
    assert text[slice(*hit.named)] == "Table 4. Speeds\n\n| b |\n|---|\n| 2 |\n"


def test_the_kind_that_is_asked_for_comes_before_bare_numbers_and_other_kinds() -> None:
    text = (
        "# Law\n\n## V. Presidents\n\nOne.\n\n### Art 5\n\nSpeech.\n\n### Section 7\n\nSeven.\n\n### § 9\n\nNine.\n\n"
    )
    library = make_library(text + "### 9 Ends\n\nEnd.\n")
    assert [find_titles(library, f"What does article {number} say?")[0] for number in (5, 7, 9)] == [
        "Art 5",
        "Section 7",
        "9 Ends",
    ]
    assert find_titles(library, "What does § 9 say?")[0] == "§ 9"


@pytest.mark.parametrize("question", ["What does Article II, Section 2 say?", "What does section 2 of article 2 say?"])
def test_a_part_inside_another_one_is_meant(question: str) -> None:
    parts = "".join(
        f"## Article {article}\n\n### Section 1\n\nOne.\n\n### Section 2\n\nTwo.\n\n" for article in ("I", "II")
    )
    library = make_library(f"# Law\n\n{parts}")
    first, second, *_ = KeywordSearcher(library).search(question)
    assert "Article II > Section 2" in " > ".join(library.node(first.section_id).path)
    assert second.named is None


def test_a_number_alone_names_nothing() -> None:
    for question in ("What happens after 12 months?", "Is it 12.3 percent?", "Is version 12.3 fast?", "What has it?"):
        assert not any(hit.named for hit in KeywordSearcher(_BOOK).search(question))


@given(
    st.lists(st.integers(1, 40), min_size=2, unique=True), st.sampled_from(["Section", "Chapter", "Appendix", "Item"])
)
def test_a_title_named_by_its_number_is_the_first_hit(numbers: list[int], kind: str) -> None:
    text = "".join(f"## {kind} {number}: Rules\n\nSee {kind} {numbers[0]} for its rules.\n\n" for number in numbers)
    library = make_library(f"# Code\n\n{text}")
    for number in numbers:
        assert find_titles(library, f"Which rules does {kind.lower()} {number} have?")[0] == f"{kind} {number}: Rules"


def test_a_report_that_a_question_is_not_about_is_not_named() -> None:
    def make_report(company: str) -> str:
        return f"# {company} annual report\n\n{company} makes things.\n\n## Balance Sheets\n\n{company}\n\n{_TABLE}"

    library = make_folder({f"{name}.md": make_report(name) for name in ("Heron", "Magpie", "Osprey")})
    hits = KeywordSearcher(library).search("What is the working capital of Magpie?")
    named = [library.node(hit.section_id).path for hit in hits if hit.named]
    assert len(named) == 1
    assert "Magpie" in str(named[0])


@example(["the", "漢字書", "page"])
@given(
    st.lists(
        st.sampled_from(
            [
                "the",
                "page",
                "section",
                "§",
                "12",
                "12.3",
                "A-1",
                "IV",
                "table",
                "items",
                "漢字書",
                "“",
                '"',
                "(",
                "*",
                ".",
                "v2.5",
            ]
        )
    )
)
def test_any_question_can_be_searched(words: list[str]) -> None:
    KeywordSearcher(_BOOK).search(f"new {' '.join(words)}")


def _make_report(title: str, *texts: str) -> str:
    """Return a report with these sections among as many others as a long document has."""
    sections = "".join(f"## Item {number}\n\n{text}\n\n" for number, text in enumerate(texts, start=1))
    return f"# {title}\n\n{sections}" + "".join(f"## Note {number}\n\nNothing.\n\n" for number in range(40))


_MARGIN = "The operating margin improved, and the operating margin of each segment too."
_FILINGS = make_folder(
    {
        "a_2022.pdf": _make_report(
            "Alder Inc., Form 10-K for the year ended May 31, 2022", "Alder has an operating margin.", "Alder sells."
        ),
        "oakandpine_2022.pdf": _make_report("Annual report", "Oak and Pine has an operating margin.", "Oak and Pine."),
        "Stone Fort 2018.md": _make_report("Form 10-K", f"Stone Fort here. {_MARGIN}", "Stone Fort has many stones."),
        "Stone Fort 2022.md": _make_report("Form 10-K", "Stone Fort has an operating margin.", "Stone Fort sells."),
        "others_2022.md": _make_report(
            "Elm Corp", _MARGIN, f"Elm has square feet of stones. {_MARGIN}", f"## Balance sheets\n\n{_TABLE}"
        ),
        "rest.md": _make_report(
            "Yew Corp", f"A stone. {_MARGIN}", "Annual reports have stones and a fort.", "Stone, stone."
        ),
    }
)


@pytest.mark.parametrize(
    ("question", "file"),
    [
        ("Has Alder an improving operating margin?", "a_2022.pdf"),
        ("has alder's operating margin improved?", "a_2022.pdf"),
        ("What is the operating margin of Oak and Pine?", "oakandpine_2022.pdf"),
        ("What is Stone Fort's operating margin in FY2018?", "Stone Fort 2018.md"),
        ("What is Stone Fort's operating margin in FY2022 and 2021?", "Stone Fort 2022.md"),
        ("What is the operating margin of Elm and its segments?", "others_2022.md"),
    ],
)
def test_the_document_that_a_question_names_comes_first(question: str, file: str) -> None:
    hits = KeywordSearcher(_FILINGS).search(question)
    assert _FILINGS.locate(hits[0].section_id)[0].key == file


def test_a_statement_is_one_of_the_company_that_the_question_names() -> None:
    hits = KeywordSearcher(_FILINGS).search("What does Alder's balance sheet say about its operating margin?")
    assert {_FILINGS.locate(hit.section_id)[0].key for hit in hits if hit.named is not None} <= {"a_2022.pdf"}
    assert _FILINGS.locate(hits[0].section_id)[0].key == "a_2022.pdf"


def test_a_word_that_other_documents_contain_names_none() -> None:
    question = "What do annual reports say about stones?"
    assert find_named_documents(SectionIndex(_FILINGS), question, parse_query(question)) == {}


def test_pages_of_a_site_are_not_named_by_their_titles() -> None:
    question = "Has Alder a margin?"
    assert find_named_documents(SectionIndex(_FILINGS), question, parse_query(question))
    pages = make_folder({f"{word}.md": f"# {word}\n\n{word}.\n" for word in ("Alder", "Larch", "Maple")})
    assert find_named_documents(SectionIndex(pages), question, parse_query(question)) == {}
