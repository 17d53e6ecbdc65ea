"""Units and sentences of Markdown are exact spans."""

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamtui.markdown.units import read_units, split_sentences
from tests.case_files import read_rows

_MARKUP = "text|# Head|---|===|- item|1. one|  more|    deep|> quote|> - x|```|~~~|<!-- c|-->|<div>|[r]: u"
_PIECES = st.sampled_from(
    [*_MARKUP.split("|"), "![i](u)", ":::", "", "*", "\tx", "``` `", "  ", "| a | b |", "|---|---|"]
)


@pytest.mark.parametrize(("text", "expected"), read_rows("markdown/units", "units"))
def test_units(text: str, expected: list[list[str]]) -> None:
    assert [[unit.kind.value, text[unit.start : unit.end]] for unit in read_units(text).units] == expected


@given(st.lists(_PIECES, max_size=12).map("\n".join))
def test_units_follow_each_other_and_hold_words(text: str) -> None:
    units = read_units(text).units
    assert all(before.end <= after.start for before, after in pairwise(units))
    assert all(any(map(str.isalnum, text[unit.start : unit.end])) for unit in units)


_CONTAINERS = (
    *("::: tip {}\n{}\n:::", ":::{{note}} {} {{.x}}\n{}\n:::", '::: {{.tip title="{}"}}\n{}\n:::'),
    *('!!! note "{}"\n    {}', '??? tip "{}"\n    {}', '=== "{}"\n    {}', "> [!tip] {}\n> {}"),
    *(
        '<Card title="{}">\n{}\n</Card>',
        '<Tab href="/x" title="{}">\n{}\n</Tab>',
        '<Card title="{}" href="/x">{}</Card>',
    ),
    '- a\n\n  <Card title="{}">\n  {}\n  </Card>',
)
_TITLES = ("Fees are due in May.", "Pay (**now**), it is the end: tip")


@pytest.mark.parametrize(("title", "inner"), [_TITLES, _TITLES[::-1]])
@pytest.mark.parametrize("container", _CONTAINERS)
def test_the_bounds_of_a_title_and_of_its_sentences_hold_their_words(container: str, title: str, inner: str) -> None:
    text = container.format(title, inner)
    for unit in read_units(text).units:
        words = re.findall(r"\w+", unit.words)
        assert [word for word in re.findall(r"\w+", text[unit.start : unit.end]) if word in words] == words
    sentences = [text[sentence.start : sentence.end] for sentence in split_sentences(text)]
    assert any(title in sentence for sentence in sentences), sentences


_TEXT = st.text(alphabet="ab AB.!?;()`\n*_|#>-'\"。1 ", max_size=80)


@pytest.mark.parametrize(("text", "expected"), read_rows("markdown/units", "sentences"))
def test_a_text_is_divided_into_sentences(text: str, expected: list[str]) -> None:
    assert [text[sentence.start : sentence.end] for sentence in split_sentences(text)] == expected


@given(_TEXT)
def test_sentences_are_slices_in_order(text: str) -> None:
    sentences = split_sentences(text)
    assert all(sentence.start < sentence.end <= len(text) for sentence in sentences)
    assert all(before.end <= after.start for before, after in pairwise(sentences))
    assert all(text[s.start : s.end] == text[s.start : s.end].strip() for s in sentences)
