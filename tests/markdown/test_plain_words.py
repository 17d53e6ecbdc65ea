"""A title is words: markup is not among them."""

import pytest

from roamtui.document.parse import parse_document
from roamtui.markdown.inline import extract_words
from tests.case_files import read_rows


@pytest.mark.parametrize(("text", "words"), read_rows("markdown/plain_words", "markup"))
def test_markup_is_removed(text: str, words: str) -> None:
    assert extract_words(text) == words


def test_sections_without_a_heading_have_words_as_titles() -> None:
    text = '---\ntitle: Pump\n---\n![](a.png)\n\n<table class="x"><tr><td>Some **bold** words</td></tr></table>\n'
    assert parse_document(text).columns.titles == ("", "Some bold words")
    assert parse_document("`*args` are passed on\n").columns.titles == ("*args are passed on",)
    assert parse_document("-5 °C\n", is_markdown=False).columns.titles == ("-5 °C",)
    assert parse_document("a_b_c | *x*\n", is_markdown=False).columns.titles == ("a_b_c | *x*",)
