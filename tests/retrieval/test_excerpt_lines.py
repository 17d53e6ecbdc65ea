"""The mark for what an excerpt leaves out."""

import re

from hypothesis import given
from hypothesis import strategies as st

from roamtui.retrieval.excerpt_lines import make_gap_mark
from roamtui.text import Span
from tests.search.libraries import make_library

_WORDS = "None of this limits what clause (b) says, and it goes on for long enough to be left out of it. " * 3
_TEXT = f"# A\n\nof the fee.\n\n(g) Sublicenses. {_WORDS}\n\n(h) Term: {_WORDS}\n\n- Notice {_WORDS}\n"


def test_the_paragraphs_and_items_that_are_left_out_are_named_in_words_that_can_be_quoted() -> None:
    library = make_library(_TEXT)
    mark, words = make_gap_mark(library, Span(doc="", start=5, end=len(_TEXT)))
    match = re.fullmatch(r"\[… (.+); ([\d,]+) tokens\]", mark)
    assert match is not None
    assert match[1] == "(g) Sublicenses; (h) Term; Notice None of this limits what"
    assert [library.text_at(span) for span in words] == match[1].split("; ")


def test_a_lettered_paragraph_and_an_item_in_lower_case_are_named_by_their_words() -> None:
    text = f"# A\n\nC. Notices. {_WORDS}\n\n1.2. Term. {_WORDS}\n\n- size: {_WORDS}\n"
    mark, _ = make_gap_mark(make_library(text), Span(doc="", start=5, end=len(text)))
    assert mark.startswith("[… C. Notices; 1.2. Term; size; ")


def test_rows_and_lines_of_code_that_are_left_out_are_counted() -> None:
    rows = "| Heron | It eats fish. |\n" * 30
    text = f"# A\n\n| Bird | Food |\n| --- | --- |\n{rows}\n```\n{'feed(heron, fish)' * 4}\nstop()\n```\n"
    mark, _ = make_gap_mark(make_library(text), Span(doc="", start=5, end=len(text)))
    assert mark.startswith("[… 30 rows; 2 lines of code; ")


def test_a_small_gap_is_not_described() -> None:
    assert make_gap_mark(make_library("# A\n\nHerons eat fish.\n"), Span(doc="", start=5, end=20)) == ("[…]", ())


@given(st.text(alphabet="a B(1).;:\n-|#` ", max_size=600))
def test_whatever_is_left_out_the_words_are_its_own(text: str) -> None:
    library = make_library(text)
    length = len(library.root.text)
    mark, words = make_gap_mark(library, Span(doc="", start=0, end=length))
    assert "\n" not in mark
    assert all(0 <= span.start < span.end <= length for span in words)
