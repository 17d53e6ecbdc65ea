"""Titles found by words: which ones, in which order, and how many."""

from __future__ import annotations

import pytest

from roamtui.tui import finder
from roamtui.tui.finder import TitleResults, TitleSearch
from roamtui.tui.text_search import run_sliced
from tests.tui.tree.outlines import make_library

_TITLES = (
    "Vacation policy",
    "Sick leave",
    "Parental leave",
    "Straße und Platz",
    "C++",
    "Policies of vacations",
    "Leave",
)


async def _find(pattern: str, limit: int = 9) -> tuple[TitleResults, list[str]]:
    library = make_library("".join(f"# {title}\n" for title in _TITLES))
    matches = await run_sliced(TitleSearch(library).find(pattern, limit))
    return matches, [*map(library.title_of, matches.section_ids)]


@pytest.mark.parametrize("slice_length", [2, 100])
@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("", []),
        ("LEAVE", ["Leave", "Sick leave", "Parental leave"]),
        ("leave par", ["Parental leave"]),
        ("STRASSE", ["Straße und Platz"]),
        ("c++", ["C++"]),
        ("vacaiton policy", ["Vacation policy"]),
        ("zz", []),
        ("zzzzzz", []),
    ],
)
async def test_words_rank_above_similar_titles(
    pattern: str, found: list[str], slice_length: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(finder, "TITLES_PER_SLICE", slice_length)
    matches, titles = await _find(pattern)
    assert titles == found
    assert matches.count == len(found)
    assert matches.is_close is (pattern != "vacaiton policy")
