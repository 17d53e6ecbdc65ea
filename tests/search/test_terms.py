"""The terms of a question, and their occurrences in a text."""

import pytest

from roamtui.search.terms import extract_query_terms
from tests.case_files import read_rows


@pytest.mark.parametrize(("question", "expected"), read_rows("search/terms", "queries"))
def test_query_terms(question: str, expected: list[str]) -> None:
    assert extract_query_terms(question) == tuple(expected)
