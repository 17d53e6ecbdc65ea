"""A title is words: markup is not among them."""

import pytest

from roamtui.document.parse import parse_document
from roamtui.markdown.inline import extract_words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("plain words, 3 - 4", "plain words, 3 - 4"),
        ("![](sp800-63.png)\n\nDigital *identity*", "Digital identity"),
        ('<table class="wide">\n<tr><td>Cost</td><td>5</td></tr>\n', "Cost 5"),
        ('<table class="wide" style="a', ""),
        ("| a | **b** |\n|---|:-:|\n| c_d | `e` |", "a b c_d e"),
        ("- [one](a.md) and [two][t]\n> 2. three", "one and two three"),
        ("```py\ncode()\n```\n---\n:::tip\nmore", "code() more"),
        ("<!-- note -->Write <your-name> <b>here</b>", "Write <your-name> here"),
        ("Title\n===\n\n# Next ~~old~~", "Title Next old"),
        ("|a|b|\n|-|-|\n|c|un*d*o|", "a b c undo"),
    ],
)
def test_markup_is_removed(text: str, words: str) -> None:
    assert extract_words(text) == words


def test_sections_without_a_heading_have_words_as_titles() -> None:
    text = '---\ntitle: Pump\n---\n![](a.png)\n\n<table class="x"><tr><td>Some **bold** words</td></tr></table>\n'
    assert parse_document(text).columns.titles == ("", "Some bold words")
    assert parse_document("a_b_c | *x*\n", is_markdown=False).columns.titles == ("a_b_c | *x*",)
