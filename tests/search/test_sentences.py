"""The sentences of a text that match a question best."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamtui.markdown.units import split_sentences
from roamtui.search.lexicon import Language
from roamtui.search.sentences import find_question_words, rank_sentences
from roamtui.search.terms import TermMatcher
from tests.case_files import read_rows


@pytest.mark.parametrize(("question", "text", "words"), read_rows("search/sentences", "words"))
def test_words_of_a_question_are_found_as_search_knows_them(question: str, text: str, words: list[str]) -> None:
    found = find_question_words(question, [text]).locate(text)
    assert [text[start:end] for start, end, _ in found] == words


@given(st.text(alphabet="ab AB.!?;()`\n*_|#>-'\"。1 ", max_size=80), st.integers(0, 3))
def test_best_sentences_are_sentences(text: str, limit: int) -> None:
    known = {(sentence.start, sentence.end) for sentence in split_sentences(text)}
    best = rank_sentences(text, TermMatcher(("a", "b"), Language.ENGLISH), limit=limit)
    assert len(best) <= limit
    assert all((sentence.start, sentence.end) in known and sentence.score > 0 for sentence in best)
    assert [sentence.score for sentence in best] == sorted((s.score for s in best), reverse=True)


def test_a_german_question_gets_no_english_synonyms() -> None:
    text = "The fee and the price.\n\nDie Rate kostet 5 Euro.\n\nDas Entgelt der Miete.\n"
    for question, words in (
        ("Wie hoch ist die Rate?", ["Rate"]),
        ("Was sind die Kosten?", ["kostet", "Entgelt"]),
        ("What is the rate?", ["fee", "price", "Rate"]),
    ):
        found = find_question_words(question, [text]).locate(text)
        assert [text[start:end] for start, end, _ in found] == words
