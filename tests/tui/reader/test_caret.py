"""Selecting words by keyboard."""

from __future__ import annotations

import pytest

from roamtui.tui.reader.caret import Caret, make_caret
from roamtui.tui.reader.highlights import list_selected_lines
from tests.tui.reader.sections import make_lines

TEXT = """# Ovens

One two three
four five.

- Six seven

| Oven | Loaves |
|---|---|
| Stone | 40 |

面包 end.
"""


def read(caret: Caret) -> str:
    selection = caret.selection
    assert selection.start is not None
    assert selection.end is not None
    lines = list_selected_lines(caret._lines, selection.start, selection.end)
    return " ".join(part.text.strip() for part in lines if part.text.strip())


def make(y: int = 0) -> Caret:
    caret = make_caret(make_lines(TEXT, width=16), y)
    assert caret is not None
    return caret


def move(caret: Caret, keys: str) -> str:
    for key in keys:
        match key:
            case "h" | "l":
                caret.move_words(1 if key == "l" else -1)
            case "j" | "k":
                caret.move_lines(1 if key == "j" else -1)
            case "{" | "}":
                caret.move_paragraphs(1 if key == "}" else -1)
            case _:
                caret.toggle_start()
    return read(caret)


@pytest.mark.parametrize(
    ("keys", "selected"),
    [
        ("", "Ovens"),
        ("h", "Ovens"),
        ("l", "One"),
        ("ll", "two"),
        ("j", "One"),
        ("jljk", "two"),
        ("jllj", "five."),
        ("}", "One"),
        ("}}", "Six"),
        ("}}{", "One"),
        ("}l{", "One"),
        ("}}}", "Oven"),
        ("}}}}", "Stone"),
        ("}}}l", "Loaves"),
        ("}}}}}l", "包"),
        ("}}}}}}}", "面"),
        ("lVl", "One two"),
        ("lVj", "One two three four"),
        ("lV}", "One two three four five."),
        ("lV}}", "One two three four five. • Six seven"),
        ("lllVhh", "One two three"),
        ("llllV{", "One two three four"),
        ("lVlV", "two"),
        ("lVk", "Ovens ━━━━━ One"),
    ],
)
def test_words_lines_and_paragraphs_are_selected(keys: str, selected: str) -> None:
    assert move(make(), keys) == selected


def test_the_view_follows_the_caret_with_some_lines_around_it() -> None:
    caret = make_caret(make_lines("a\n\n" * 60), 40)
    assert caret is not None
    assert caret.fit_view(36, 48) is None
    assert caret.fit_view(41, 53) == 37
    assert caret.fit_view(20, 32) == 32
    assert caret.fit_view(20, 21) == 40


def test_a_text_without_words_has_no_caret() -> None:
    assert make_caret(make_lines(""), 0) is None
    assert make_caret(make_lines("---\n\n---\n"), 0) is None


def test_a_selection_stays_while_lines_above_are_laid_out() -> None:
    lines = make_lines("# Book\n\n" + "A paragraph of a few words.\n\n" * 3_000, width=30)
    caret = make_caret(lines, len(lines) // 2)
    assert caret is not None
    caret.toggle_start()
    assert move(caret, "l") == "A paragraph"
    for chunk in range(len(lines.chunks)):
        lines.get_chunk_lines(chunk)
    assert read(caret) == "A paragraph"
