from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamtui.tui.tree import title_filter
from roamtui.tui.tree.display_tree import DisplayTree
from roamtui.tui.tree.title_filter import TitleSearch, find_matched_ranges
from tests.tui.tree.outlines import make_library

_TITLES = ("Vacation policy", "Sick leave", "Parental leave", "Straße und Platz", "C++", "Policies of vacations")


def _find(pattern: str) -> list[str]:
    tree = DisplayTree(make_library("".join(f"# {title}\n" for title in _TITLES)))
    return [tree.title_of(key) for key in TitleSearch(tree).find(pattern)]


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("", []),
        ("LEAVE", ["Sick leave", "Parental leave"]),
        ("leave par", ["Parental leave"]),
        ("STRASSE", ["Straße und Platz"]),
        ("c++", ["C++"]),
        ("prlv", ["Parental leave"]),
        ("vacaiton policy", ["Vacation policy"]),
        ("zz", []),
        ("zzzzzz", []),
    ],
)
def test_words_win_over_letters_and_letters_over_likeness(pattern: str, found: list[str]) -> None:
    assert _find(pattern) == found


_PATTERNS = ("", "l", "le", "le p", "le par", "leav", "prlv", "prlvx", "prl", "vaca", "vacai", "vacaiton", "c", "ave")


@given(st.lists(st.sampled_from(_PATTERNS)))
def test_what_was_typed_before_changes_nothing_of_what_is_found(patterns: list[str]) -> None:
    tree = DisplayTree(make_library("".join(f"# {title}\n" for title in _TITLES)))
    search = TitleSearch(tree)
    for pattern in patterns:
        assert search.find(pattern) == TitleSearch(tree).find(pattern)


@pytest.mark.parametrize("steps", range(4))
def test_a_search_that_was_left_half_way_changes_nothing_of_the_next(
    steps: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(title_filter, "SLICE", 2)
    tree = DisplayTree(make_library("".join(f"# {title}\n" for title in _TITLES)))
    search = TitleSearch(tree)
    for _ in zip(range(steps), search.find_in_steps("l"), strict=False):
        pass
    assert [tree.title_of(key) for key in search.find("leave")] == ["Sick leave", "Parental leave"]


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
    assert find_matched_ranges(title, pattern) == ranges
