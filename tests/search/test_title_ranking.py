"""Titles alone find what is named."""

from __future__ import annotations

from roamtui.search.title_ranking import TitleIndex
from tests.search.libraries import id_of, make_library

HANDBOOK = make_library("# Handbook\n\n## Late fees\n\n## Fees\n\n## Fees for late invoices\n\n## Watering the roses\n")


def _rank(query: str, **limits: object) -> list[str]:
    found = TitleIndex(HANDBOOK).rank(query, **{"limit": 10, **limits})  # type: ignore[arg-type]
    return [HANDBOOK.title_of(section_id) for section_id in found]


def test_the_title_that_says_it_all_and_nothing_else_comes_first() -> None:
    assert _rank("What is a late fee?") == ["Late fees", "Fees for late invoices", "Fees"]
    assert _rank("rose") == ["Watering the roses"]


def test_a_title_with_little_in_common_is_not_found() -> None:
    assert _rank("how many roses grow beside the old wall behind my house") == []
    assert _rank("") == []


def test_limits_hold() -> None:
    assert _rank("late fee", limit=1) == ["Late fees"]
    assert _rank("late fee", within=frozenset({id_of(HANDBOOK, "Fees")})) == ["Fees"]
