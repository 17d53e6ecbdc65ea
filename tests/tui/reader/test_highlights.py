import pytest

from roamtui.text import Span
from roamtui.tui.reader.lazy_lines import Highlights, compute_selection_span, list_selected_lines
from tests.case_files import read_rows
from tests.tui.reader.sections import make_lines


def _list_marked(text: str, highlights: Highlights, *, width: int = 40) -> list[str]:
    lines = make_lines(text, width=width)
    lines.highlight(highlights)
    found = [line for y in range(99) if (line := lines.get_line(y))]
    marked = ["".join(one.line.text[mark.start : mark.end] for mark in lines.iter_highlights(one)) for one in found]
    return list(filter(None, marked))


def _mark(text: str, start: int, end: int) -> list[str]:
    return _list_marked(text, Highlights(quote=Span(doc="", start=start, end=end)))


@pytest.mark.parametrize(("text", "quote", "marked"), read_rows("tui/reader/highlights", "quotes"))
def test_a_quote_is_marked_though_its_marks_are_gone(text: str, quote: str, marked: list[str]) -> None:
    start = text.index(quote)
    assert _mark(text, start, start + len(quote)) == marked


@pytest.mark.parametrize(
    ("text", "selected", "whole"),
    [
        ("A deposit of 1,200 euros.\n", "200 eur", "1,200 euros"),
        ("A rate of 0.5 % a month.\n", "rate of 0", "rate of 0.5"),
        ("It is -5 degrees.\n", "5 degrees", "-5 degrees"),
        ("It costs $5 now.\n", "5 no", "$5 now"),
    ],
)
def test_selected_words_and_numbers_are_whole(text: str, selected: str, whole: str) -> None:
    lines = make_lines(text, width=60)
    start = text.index(selected)
    found = list_selected_lines(lines, (start, 0), (start + len(selected), 0))
    span = compute_selection_span(found, lines.document)
    assert span is not None
    assert text[span.start : span.end] == whole


@pytest.mark.parametrize(("text", "words", "found"), read_rows("tui/reader/highlights", "words"))
def test_words_are_found_in_what_is_shown(text: str, words: list[str], found: list[str]) -> None:
    assert _list_marked(text, Highlights(words=tuple(words))) == found
