"""The terms of a question, and their occurrences in a text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamtui.search.terms import TERMS_MAX, extract_query_terms, locate_terms


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("How do I use getUserById with --flag-name?", ("use", "getuserbyid", "--flag-name")),
        ("What is the max_tokens limit?", ("max_tokens", "limit")),
        ("C++ and C# and std::vector", ("c++", "c#", "std::vector")),
        ("import a.b.c", ("import", "a.b.c")),
        ("§ 4.2, please", ("4.2", "please")),
        ("call ray.data.map_batches() twice", ("call", "ray.data.map_batches", "map_batches", "twice")),
        ("what does __init__ do", ("__init__",)),
        ("why doesn't Ray's actor die", ("ray", "actor", "die")),
        ("e.g. this", ("e.g", "this")),
        ("What is it?", ("what", "is", "it")),
        ("Café CAFE", ("cafe",)),
        ("数据库 index", ("数据", "据库", "index")),
        ("हिन्दी", ("हिन्दी",)),
        ("ＡＢＣ", ("abc",)),
        ("!?*", ()),
        ("", ()),
    ],
)
def test_query_terms(question: str, expected: tuple[str, ...]) -> None:
    assert extract_query_terms(question) == expected


def test_pasted_text_is_cut() -> None:
    assert len(extract_query_terms(" ".join(f"word{number}" for number in range(1_000)))) == TERMS_MAX


@given(st.text())
def test_any_text_is_a_question(text: str) -> None:
    terms = extract_query_terms(text)
    assert len(set(terms)) == len(terms)
    assert all(terms)


@given(st.text(), st.lists(st.sampled_from(["one", "max_tokens", "c++", "数据", "é", "(", "-x"])))
def test_terms_are_found_in_order_within_the_text(text: str, terms: list[str]) -> None:
    found = locate_terms(text, terms)
    assert found == sorted(found)
    assert all(0 <= offset < len(text) for offset, _ in found)


def test_stop_words_of_other_languages_are_dropped() -> None:
    assert extract_query_terms("Wie lange ist die Frist für den Käufer?") == ("lange", "frist", "kaufer")
    assert extract_query_terms("Who was the man in the war?") == ("man", "war")
    assert extract_query_terms("When do the heirs die?") == ("heirs", "die")
