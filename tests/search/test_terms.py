"""The terms of a question, and their occurrences in a text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamtui.search.lexicon import Language
from roamtui.search.terms import TermMatcher, extract_query_terms


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("How do I use getUserById with --flag-name?", ("use", "getuserbyid", "--flag-name")),
        ("What is the max_tokens limit?", ("max_tokens", "limit")),
        ("C++ and C# and std::vector", ("c++", "c#", "std::vector")),
        ("call ray.data.map_batches() twice", ("call", "ray.data.map_batches", "map_batches", "twice")),
        ("why doesn't Ray's actor die", ("ray", "actor", "die")),
        ("What is it?", ("what", "is", "it")),
        ("数据库 index", ("数据", "据库", "index")),
        ("हिन्दी", ("हिन्दी",)),
        ("ＡＢＣ", ("abc",)),
        ("!?*", ()),
        ("", ()),
    ],
)
def test_query_terms(question: str, expected: tuple[str, ...]) -> None:
    assert extract_query_terms(question) == expected


@given(st.text())
def test_any_text_is_a_question(text: str) -> None:
    terms = extract_query_terms(text)
    assert len(set(terms)) == len(terms)
    assert all(terms)


@given(st.text(), st.lists(st.sampled_from(["one", "max_tokens", "c++", "数据", "é", "(", "-x"])))
def test_terms_are_found_in_order_within_the_text(text: str, terms: list[str]) -> None:
    found = TermMatcher(terms, Language.ENGLISH).locate(text)
    assert found == sorted(found)
    assert all(0 <= start < end <= len(text) for start, end, _ in found)
