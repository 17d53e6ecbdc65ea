from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamtui.markdown.lines import Line
from roamtui.tui.reader.highlights import (
    LineSpan,
    compute_selection_span,
    list_selected_lines,
    locate_span,
    locate_words,
)
from tests.tui.reader.sections import make_lines, read_lines


def _show_marked(lines: list[Line], marked: list[LineSpan]) -> list[str]:
    return [lines[mark.line].text[mark.start : mark.end] for mark in marked]


def _mark(text: str, quote: str, *, width: int = 40, occurrence: int = 0) -> list[str]:
    start = -1
    for _ in range(occurrence + 1):
        start = text.index(quote, start + 1)
    lines = read_lines(text, width=width)
    return _show_marked(lines, locate_span(lines, text, start, start + len(quote)))


@pytest.mark.parametrize(
    ("text", "quote", "marked"),
    [
        ("One two three.\n", "two", ["two"]),
        ("A **bold** and `code` word here.\n", "bold** and `code` word", ["bold and code word"]),
        ("See [the docs](https://x.invalid/a) now.\n", "the docs](https://x.invalid/a) now", ["the docs now"]),
        ("snake_case and *this*\n", "case and *this*", ["case and this"]),
        ("- one two\n- three four\n", "two\n- three", ["two", "three"]),
        ("| a | b c |\n|---|---|\n| no | e |\n", "b c |\n|---|---|\n| no", ["b c", "no"]),
        ("```\nx = 1\ny = 2\n```\n", "y = 2", ["y = 2"]),
        ("> said *he*\n", "said *he", ["said he"]),
        ("Fish &amp; chips\n", "Fish &amp; chips", ["Fish & chips"]),
        ("Words\n", "\n", []),
        ("One (two), three.\n", "(two), three.", ["two), three"]),
    ],
)
def test_a_quote_is_marked_though_its_marks_are_gone(text: str, quote: str, marked: list[str]) -> None:
    assert _mark(text, quote) == marked


@pytest.mark.parametrize(
    ("text", "selected", "whole"),
    [
        ("A deposit of 1,200 euros.\n", "200 eur", "1,200 euros"),
        ("A rate of 0.5 % a month.\n", "rate of 0", "rate of 0.5 %"),
        ("It is -5 degrees.\n", "5 degrees", "-5 degrees"),
        ("It costs $5 now.\n", "5 no", "5 now"),
    ],
)
def test_selected_words_and_numbers_are_whole(text: str, selected: str, whole: str) -> None:
    lines = make_lines(text, width=60)
    start = text.index(selected)
    found = list_selected_lines(lines, (start, 0), (start + len(selected), 0))
    span = compute_selection_span(found, lines.document)
    assert span is not None
    assert text[span.start : span.end] == whole


@given(st.data())
def test_any_words_of_a_paragraph_are_found(data: st.DataObject) -> None:
    words = [f"w{number}" for number in range(40)]
    marks = data.draw(st.lists(st.sampled_from(["{}", "**{}**", "*{}*", "`{}`", "[{}](u)"]), min_size=40, max_size=40))
    pieces = [mark.format(word) for mark, word in zip(marks, words, strict=True)]
    text = " ".join(pieces) + "\n"
    first = data.draw(st.integers(0, 39))
    last = data.draw(st.integers(first, 39))
    start = len(" ".join(pieces[:first])) + (first > 0)
    lines = read_lines(text)
    marked = locate_span(lines, text, start, start + len(" ".join(pieces[first : last + 1])))
    assert " ".join(_show_marked(lines, marked)).split() == words[first : last + 1]


@pytest.mark.parametrize(
    ("text", "words", "found"),
    [
        ("One TWO one\n", ("one",), [["One"], ["one"]]),
        ("One TWO one\n", ("two", "one"), [["One"], ["TWO"], ["one"]]),
        ("Ein WÜRDE-Wort\n", ("würde",), [["WÜRDE"]]),
        ("İstanbul\n", ("stan",), [["stan"]]),
        ("- item\n", ("•",), []),
        ("words\n", (), []),
        ("one two three four five six seven eight nine\n", ("eight nine",), [["eight", "nine"]]),
    ],
)
def test_words_are_found_in_what_is_shown(text: str, words: tuple[str, ...], found: list[list[str]]) -> None:
    lines = read_lines(text)
    assert [_show_marked(lines, marked) for marked in locate_words(lines, words)] == found
