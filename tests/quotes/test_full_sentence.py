"""Beside a quote stands the document's own sentence, and what governs it."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamtui.markdown.lines import measure
from roamtui.markdown.quoted_sentence import QuotedSentence, SentencePart
from roamtui.quotes.find import find_in_span
from roamtui.quotes.full_sentence import find_quoted_sentence
from roamtui.text import Span
from tests.case_files import read_rows
from tests.search.libraries import make_library


def _look_up(text: str, quote: str) -> QuotedSentence | None:
    library = make_library(text)
    found = find_in_span(quote, library, Span(doc="", start=0, end=len(text)))
    assert found is not None
    return find_quoted_sentence(library, found.parts, quote if found.is_exact else None)


def _mark(parts: list[SentencePart]) -> str:
    """Write parts with marks around what is quoted and what is struck out."""
    marks = [("~~", "~~") if part.is_struck else ("⟦", "⟧") if part.is_quoted else ("", "") for part in parts]
    return "".join(f"{opening}{part.text}{closing}" for (opening, closing), part in zip(marks, parts, strict=True))


@pytest.mark.parametrize(
    ("text", "quote", "expected"),
    [row for table in ("sentences", "pages", "lists", "tables") for row in read_rows("quotes/surroundings", table)],
)
def test_the_sentence_is_shown_with_what_governs_it(text: str, quote: str, expected: str) -> None:
    surroundings = _look_up(text, quote)
    assert ("" if surroundings is None else _mark(surroundings.list_parts())) == expected


def test_what_an_ellipsis_of_the_quote_leaves_out_is_told_from_what_stands_around_it() -> None:
    surroundings = _look_up("In May, petrol machines may never be left there.", "petrol machines may … be left")
    assert surroundings is not None
    assert [part.text.strip() for part in surroundings.list_parts() if part.is_left_out] == ["never"]


@given(st.integers(20, 200), st.lists(st.sampled_from(["word", "a", "不", "longer", "…"]), min_size=3, max_size=90))
def test_a_line_fits_and_hides_as_many_words_as_it_says(width: int, words: list[str]) -> None:
    sentence = " ".join(words)
    start = sentence.index(words[len(words) // 2])
    surroundings = QuotedSentence(sentence=sentence, quoted=((start, start + 1),))
    text = "".join(part.text for part in surroundings.cut(width))
    hidden = [int(count) for count in re.findall(r"\[… (\d+) words?\]", text)]
    shown = re.sub(r"\[… \d+ words?\]", "", text).split()
    assert len(shown) + sum(hidden) == len(words)
    assert measure(text) <= width


def test_of_an_endless_sentence_what_is_near_is_kept() -> None:
    text = f"No {'word ' * 200_000}one two three{' more' * 200_000}."
    surroundings = _look_up(text, "one two three")
    assert surroundings is not None
    assert surroundings.sentence.startswith("[… 199,802 words] word")
    assert surroundings.sentence.endswith("more [… 199,801 words]")
    assert len(surroundings.sentence) < 2_200


def test_of_many_items_below_an_item_the_first_are_kept() -> None:
    surroundings = _look_up("# Hours\n\n- Open daily\n  - except Monday\n" + "  - and Christmas\n" * 500, "Open daily")
    assert surroundings is not None
    assert surroundings.sentence.startswith("Open daily except Monday and Christmas")
    assert re.search(r"and \[… \d+ words\]\Z", surroundings.sentence)
    assert len(surroundings.sentence) < 2_200


@given(st.text(alphabet="ab1. |-*#>\n`~[]()<>/td", max_size=120), st.integers(0, 120), st.integers(1, 120))
def test_any_text_has_its_words_in_order(text: str, start: int, length: int) -> None:
    library = make_library(text)
    start = min(start, len(text))
    span = Span(doc="", start=start, end=min(start + length, len(text)))
    surroundings = find_quoted_sentence(library, [span])
    if surroundings is not None:
        assert sorted(surroundings.quoted) == list(surroundings.quoted)
        assert "".join(part.text for part in surroundings.list_parts()) == surroundings.sentence
