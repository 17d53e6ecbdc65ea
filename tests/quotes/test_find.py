"""Finding a quote in a text."""

import pytest

from roamtui.markdown.units import split_sentences
from roamtui.quotes.find import find_quote
from tests.case_files import read_case, read_rows

_OTHER_SECTIONS = "# Other\n\nMore.\n\n" * 6_000
"""So many that only the parts of a text that may have a quote are read."""


def judge(quote: str, text: str) -> str:
    match = find_quote(quote, text)
    if match is None:
        return "no"
    return "exact" if match.is_exact else "same"


@pytest.mark.parametrize(("quote", "text", "state"), read_rows("quotes/find", "same_words"))
def test_what_counts_as_the_same_words(quote: str, text: str, state: str) -> None:
    assert judge(quote, text) == state
    assert judge(quote, _OTHER_SECTIONS + text) == state


@pytest.mark.parametrize("quote", read_rows("quotes/find", "pieces"))
def test_a_piece_of_a_text_is_found_that_would_be_read_otherwise_by_itself(quote: str) -> None:
    opening = "```python\nimport ray\n" if quote.startswith(("ray", "ds")) else "* It runs as root.\n\n"
    text = f"# Doc\n\n{opening}{quote}\n"
    assert find_quote(quote, text) is not None
    assert find_quote(quote, text.replace("s", "z")) is None


@pytest.mark.parametrize(("quote", "text", "state"), read_rows("quotes/find", "numbers"))
def test_no_match_starts_or_ends_inside_a_number(quote: str, text: str, state: str) -> None:
    assert judge(quote, text) == state


def test_each_sentence_is_found_even_if_the_space_after_it_is_missing() -> None:
    text = "We had to go our way.Thus, one argument was left. “Was it?”Nobody knew.Not even we."
    sentences = [text[part.start : part.end] for part in split_sentences(text)]
    assert len(sentences) == 5
    assert {judge(sentence, text) for sentence in sentences} == {"exact"}


def test_each_part_between_ellipses_is_located() -> None:
    text = "The Buyer may, if notice is given, cancel the order."
    match = find_quote("The Buyer may … cancel", text)
    assert match is not None
    assert [text[start:end] for start, end in match.parts] == ["The Buyer may", "cancel"]


_RULES = read_case("club_rules.md")


@pytest.mark.parametrize(("quote", "is_whole"), read_rows("quotes/find", "ellipses"))
def test_an_ellipsis_omits_words_of_one_sentence_item_or_row(quote: str, is_whole: bool) -> None:  # noqa: FBT001
    assert (find_quote(quote, _RULES) is not None) is is_whole
