"""Titles found by a few letters: which ones, in which order, and how many."""

from __future__ import annotations

import pytest

from roamtui.tui import finder
from roamtui.tui.finder import TitleResults, TitleSearch, match_characters
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
        ("prlv", ["Parental leave"]),
        ("vacaiton policy", ["Vacation policy"]),
        ("zz", []),
        ("zzzzzz", []),
    ],
)
async def test_words_rank_above_letters_and_letters_above_similar_titles(
    pattern: str, found: list[str], slice_length: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(finder, "TITLES_PER_SLICE", slice_length)
    matches, titles = await _find(pattern)
    assert titles == found
    assert matches.count == len(found)
    assert matches.is_close is (pattern not in ("prlv", "vacaiton policy"))


async def test_the_limit_applies_to_the_list_but_not_to_the_count() -> None:
    matches, titles = await _find("a", 2)
    assert (titles, matches.count) == (["Leave", "Sick leave"], 6)


@pytest.mark.parametrize(
    ("title", "pattern", "matched"),
    [
        ("Parental leave", "leave", "leave"),
        ("Parental leave", "leave PAR", "Parleave"),
        ("Parental leave", "plv", "Plv"),
        ("Straße", "strasse", "Straße"),
        ("İstanbul", "stan", "stan"),
        ("Parental leave", "zz", ""),
    ],
)
def test_the_matching_characters_are_returned(title: str, pattern: str, matched: str) -> None:
    assert "".join(title[index] for index in sorted(match_characters(title, pattern))) == matched
