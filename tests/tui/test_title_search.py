"""Titles by a few letters: which are found, in which order, and how many."""

from __future__ import annotations

import pytest

from roamtui.tui import title_search
from roamtui.tui.steps import run_between_keys
from roamtui.tui.title_search import TitleMatches, TitleSearch, find_matched_ranges
from roamtui.tui.tree.display_tree import DisplayTree
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


async def _find(pattern: str, limit: int = 9) -> tuple[TitleMatches, list[str]]:
    tree = DisplayTree(make_library("".join(f"# {title}\n" for title in _TITLES)))
    matches = await run_between_keys(TitleSearch(tree).find(pattern, limit))
    return matches, [tree.title_of(key) for key in matches.keys]


@pytest.mark.parametrize("slice_length", [2, 100])
@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("", []),
        ("LEAVE", ["Leave", "Sick leave", "Parental leave"]),
        ("leave par", ["Parental leave"]),
        ("STRASSE", ["Straße und Platz"]),
        ("c++", ["C++"]),
        ("prlv", ["Parental leave"]),
        ("vacaiton policy", ["Vacation policy"]),
        ("zz", []),
        ("zzzzzz", []),
    ],
)
async def test_words_win_over_letters_and_letters_over_likeness_and_the_best_comes_first(
    pattern: str, found: list[str], slice_length: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(title_search, "SLICE", slice_length)
    matches, titles = await _find(pattern)
    assert titles == found
    assert matches.count == len(found)
    assert matches.is_close is (pattern not in ("prlv", "vacaiton policy"))


async def test_no_more_are_listed_than_wanted_and_all_are_counted() -> None:
    matches, titles = await _find("a", 2)
    assert (titles, matches.count) == (["Leave", "Sick leave"], 6)


@pytest.mark.parametrize(
    ("title", "pattern", "ranges"),
    [
        ("Parental leave", "leave", ((9, 14),)),
        ("Parental leave", "leave PAR", ((0, 3), (9, 14))),
        ("Parental leave", "plv", ((0, 1), (7, 8), (12, 13))),
        ("Straße", "strasse", ((0, 6),)),
        ("İstanbul", "stan", ((1, 5),)),
        ("Parental leave", "zz", ()),
    ],
)
def test_ranges_are_where_a_title_matches(title: str, pattern: str, ranges: tuple[tuple[int, int], ...]) -> None:
    assert tuple(find_matched_ranges(title, pattern)) == ranges
