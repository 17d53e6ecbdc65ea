"""The terms of a question, and their occurrences in a text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamtui.search.lexicon import Language
from roamtui.search.terms import TermMatcher, extract_query_terms
from tests.case_files import read_rows


@pytest.mark.parametrize(("question", "expected"), read_rows("search/terms", "queries"))
def test_query_terms(question: str, expected: list[str]) -> None:
    assert extract_query_terms(question) == tuple(expected)


@given(st.text(), st.lists(st.sampled_from(["one", "max_tokens", "c++", "数据", "é", "(", "-x"])))
def test_terms_are_found_in_order_within_the_text(text: str, terms: list[str]) -> None:
    found = TermMatcher(terms, Language.ENGLISH).locate(text)
    assert found == sorted(found)
    assert all(0 <= start < end <= len(text) for start, end, _ in found)
