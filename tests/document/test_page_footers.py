"""Page footers are read past, numbers that count something are not."""

from __future__ import annotations

import pytest

from roamtui.document.page_footers import blank_footers

_PAGE = "Some words of a page that say nothing of note at all. " * 40


def _blank(text: str) -> str:
    read = blank_footers(text, 0, len(text))
    assert len(read) == len(text)
    return " ".join(read.split())


@pytest.mark.parametrize("footer", ["Page 3 of 20", "- 17 -", "Source: HERON & SONS, INC., 10-Q, 5/13/2019"])
def test_a_footer_in_a_paragraph_of_its_own_is_blank(footer: str) -> None:
    assert _blank(f"It costs\n\n{footer}\n\n2 euros.\n") == "It costs 2 euros."
    assert footer in _blank(f"It costs\n{footer}\n2 euros.\n")


@pytest.mark.parametrize("numbers", ["{}", "{} -", "{0}   {1}"])
def test_a_bare_number_is_one_where_a_page_away_the_next_stands(numbers: str) -> None:
    one, two, other = (numbers.format(number, number + 1) for number in (6, 7, 9))
    assert _blank(f"A\n\n{one}\n\n{_PAGE}\n\n{two}\n\nB") == f"A {_PAGE}B"
    assert " ".join(one.split()) in _blank(f"A\n\n{one}\n\n{_PAGE}\n\n{other}\n\nB")
    assert " ".join(one.split()) in _blank(f"A\n\n{one}\n\nB\n\n{two}\n\nC")


def test_of_a_part_the_pages_around_it_tell() -> None:
    text = f"A\n\n6\n\n{_PAGE}\n\nB\n\n7\n\nC"
    assert blank_footers(text, text.index("B"), len(text)).split() == ["B", "C"]
