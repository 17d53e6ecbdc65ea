"""Page footers and running heads are no text."""

from __future__ import annotations

import pytest

from roamtui.document.furniture import blank_footers

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
def test_a_bare_number_is_a_footer_if_the_next_one_is_a_page_away(numbers: str) -> None:
    one, two, other = (numbers.format(number, number + 1) for number in (6, 7, 9))
    assert _blank(f"A\n\n{one}\n\n{_PAGE}\n\n{two}\n\nB") == f"A {_PAGE}B"
    assert " ".join(one.split()) in _blank(f"A\n\n{one}\n\n{_PAGE}\n\n{other}\n\nB")
    assert " ".join(one.split()) in _blank(f"A\n\n{one}\n\nB\n\n{two}\n\nC")


def test_footers_in_a_part_are_recognised_by_the_pages_around_it() -> None:
    text = f"A\n\n6\n\n{_PAGE}\n\nB\n\n7\n\nC"
    assert blank_footers(text, text.index("B"), len(text)).split() == ["B", "C"]


@pytest.mark.parametrize("footer", ["-ii-", "Case 18-102-MFW  Doc 632  Filed 04/18/18  Page 12 of 59"])
def test_roman_numbers_and_page_numbers_at_the_end_of_a_line_are_footers(footer: str) -> None:
    assert _blank(f"It costs\n\n{footer}\n\n2 euros.\n") == "It costs 2 euros."


@pytest.mark.parametrize("head", ["Confidential Execution Version", "Supply Agreement (Copy, March 27, 2019)"])
def test_a_line_that_comes_again_at_each_page_is_a_running_head(head: str) -> None:
    pages = "".join(f"{_PAGE}\n\nPage {number} of 9\n\n{head}\n\n" for number in range(1, 5))
    assert head not in _blank(f"{pages}B")
    assert _blank(f"{pages}B").count("say nothing of note") == 160
    twice = f"{_PAGE}\n\nPage 1 of 9\n\n{head}\n\n" * 2
    assert head in _blank(f"{twice}B")
    elsewhere = f"{_PAGE}\n\n{head}\n\n" * 4
    assert head in _blank(f"{pages.replace(head, 'Other')}{elsewhere}B")
