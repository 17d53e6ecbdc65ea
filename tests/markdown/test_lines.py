from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from roamtui.markdown.lines import Run, fold_runs, wrap_runs

_TEXTS = st.lists(st.text(alphabet="ab ,日本語。é", max_size=25), min_size=1, max_size=4)


def _texts(lines: list[list[Run]]) -> list[str]:
    return ["".join(run.text for run in line) for line in lines]


@pytest.mark.parametrize(
    ("text", "width", "lines"),
    [
        ("", 10, [""]),
        ("   ", 2, [""]),
        ("one two three", 20, ["one two three"]),
        ("one two three", 8, ["one two", "three"]),
        ("one two three", 7, ["one two", "three"]),
        ("one  two", 4, ["one", "two"]),
        ("unbreakable words", 5, ["unbre", "akabl", "e", "words"]),
        ("a unbreakable b", 5, ["a", "unbre", "akabl", "e b"]),
        ("日本語の文書。これは", 8, ["日本語の", "文書。こ", "れは"]),
        ("日本語。です", 7, ["日本", "語。で", "す"]),
        ("see 日本語 now", 9, ["see 日本", "語 now"]),
        ("it is so [5 ✓].", 12, ["it is so", "[5 ✓]."]),
        ("it is so ([5,6 ✗])", 12, ["it is so", "([5,6 ✗])"]),
        ("costs 5\xa0% now", 8, ["costs", "5\xa0% now"]),
    ],
)
def test_text_is_broken_between_words_and_by_cells(text: str, width: int, lines: list[str]) -> None:
    assert _texts(wrap_runs([Run(text)], width)) == lines


@given(_TEXTS, st.integers(2, 12))
def test_lines_fit_and_lose_nothing_and_wrapped_ones_spaces_alone(texts: list[str], width: int) -> None:
    runs = [Run(text) for text in texts]
    wrapped, folded = _texts(wrap_runs(runs, width)), _texts(fold_runs(runs, width))
    assert all(cell_len(line) <= width for line in (*wrapped, *folded))
    assert "".join(wrapped).replace(" ", "") == "".join(texts).replace(" ", "")
    assert "".join(folded) == "".join(texts)
