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


def test_a_small_gap_is_not_described() -> None:
    assert make_gap_mark(make_library("# A\n\nHerons eat fish.\n"), Span(doc="", start=5, end=20)) == ("[…]", ())


@given(st.text(alphabet="a B(1).;:\n-|#` ", max_size=600))
def test_whatever_is_left_out_the_words_are_its_own(text: str) -> None:
    library = make_library(text)
    length = len(library.root.text)
    mark, words = make_gap_mark(library, Span(doc="", start=0, end=length))
    assert "\n" not in mark
    assert all(0 <= span.start < span.end <= length for span in words)
