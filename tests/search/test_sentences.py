"""The sentences of a text that match a question best."""

import pytest

from roamtui.search.sentences import make_question_matcher
from tests.case_files import read_rows


@pytest.mark.parametrize(("question", "text", "words"), read_rows("search/sentences", "words"))
def test_words_of_a_question_are_found_as_search_knows_them(question: str, text: str, words: list[str]) -> None:
    found = make_question_matcher(question, [text]).list_occurrences(text)
    assert [text[start:end] for start, end, _ in found] == words


def test_a_german_question_gets_no_english_synonyms() -> None:
    text = "The fee and the price.\n\nDie Rate kostet 5 Euro.\n\nDas Entgelt der Miete.\n"
    for question, words in (
        ("Wie hoch ist die Rate?", ["Rate"]),
        ("Was sind die Kosten?", ["kostet", "Entgelt"]),
        ("What is the rate?", ["fee", "price", "Rate"]),
    ):
        found = make_question_matcher(question, [text]).list_occurrences(text)
        assert [text[start:end] for start, end, _ in found] == words
