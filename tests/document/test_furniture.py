"""Page footers are no text."""

from __future__ import annotations

import pytest

from roamtui.document.furniture import blank_footers

_PAGE = "Some words of a page that say nothing of note at all. " * 40


def _blank(text: str) -> str:
    read = blank_footers(text, 0, len(text))
    assert len(read) == len(text)
    return " ".join(read.split())


@pytest.mark.parametrize("footer", ["Page 3 of 20", "- 17 -", "-ii-", "Source: HERON & SONS, INC., 10-Q, 5/13/2019"])
def test_a_footer_in_a_paragraph_of_its_own_is_blank(footer: str) -> None:
    assert _blank(f"It costs\n\n{footer}\n\n2 euros.\n") == "It costs 2 euros."
    assert _blank(f"It costs\r\n\r\n{footer}\r\n\r\n2 euros.\r\n") == "It costs 2 euros."
    assert footer in _blank(f"It costs\n{footer}\n2 euros.\n")


def test_a_bare_number_is_a_footer_if_the_next_one_is_a_page_away() -> None:
    assert _blank(f"A\n\n6\n\n{_PAGE}\n\n7\n\nB") == f"A {_PAGE}B"
    assert _blank(f"A\n\n6\n\n{_PAGE}\n\n9\n\nB") == f"A 6 {_PAGE}9 B"
    assert _blank("A\n\n6\n\nB\n\n7\n\nC") == "A 6 B 7 C"


def test_footers_in_a_part_are_recognised_by_the_pages_around_it() -> None:
    text = f"A\n\n6\n\n{_PAGE}\n\nB\n\n7\n\nC"
    assert blank_footers(text, text.index("B"), len(text)).split() == ["B", "C"]
