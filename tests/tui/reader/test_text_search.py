from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from roamtui.tui.reader.text_search import TextSearch, fold_case


def _find(text: str, pattern: str) -> list[int]:
    return list(TextSearch(text).find(pattern))


def test_places_are_found_whatever_the_case_and_the_line_ends() -> None:
    assert _find("One two.\nONE\tTwo, one\r\ntwo", "one two") == [0, 9]
    assert _find("aaaa", "AA") == [0, 2]
    assert _find("text", "  ") == []


def test_letters_that_grow_when_small_move_nothing() -> None:
    assert _find("İİ word", "word") == [3]
    assert _find("x İstanbul", "İstan") == [2]


@given(st.text())
def test_folding_keeps_the_length(text: str) -> None:
    assert len(fold_case(text)) == len(text)
