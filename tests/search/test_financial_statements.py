"""The statements that a question names come first."""

import pytest

from roamtui.search.searcher import Searcher
from tests.case_files import read_case, read_rows
from tests.search.libraries import find_titles, make_folder, make_library

_TABLE = "| (in millions) | 2022 |\n|---|---|\n" + "".join(
    f"| Line {number} | {number},000 |\n" for number in range(12)
)
_REPORT = make_library(read_case("report_with_statements.md").replace("{table}", _TABLE))


@pytest.mark.parametrize(("question", "titles"), read_rows("search/financial_statements", "named"))
def test_the_statements_that_a_question_names_come_first(question: str, titles: list[str]) -> None:
    assert find_titles(_REPORT, question)[: len(titles)] == titles


def test_a_report_that_a_question_is_not_about_is_not_named() -> None:
    def make_report(company: str) -> str:
        return f"# {company} annual report\n\n{company} makes things.\n\n## Balance Sheets\n\n{company}\n\n{_TABLE}"

    library = make_folder({f"{name}.md": make_report(name) for name in ("Heron", "Magpie", "Osprey")})
    hits = Searcher(library).search(library, "What is the working capital of Magpie?")
    named = [library.node(hit.section_id).path for hit in hits if hit.is_statement]
    assert len(named) == 1
    assert "Magpie" in str(named[0])
