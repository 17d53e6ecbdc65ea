"""Sections found by titles and phrases: which ones, in which order, and where."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamtui.document.library import Library
from roamtui.document.parse import parse_document
from roamtui.tui import finder
from roamtui.tui.finder import find_text


def make_library(text: str) -> Library:
    return Library(source="a.md", root=parse_document(text))


async def test_matches_go_through_all_documents_in_reading_order() -> None:
    library = make_library("# A\n\nRye.\n\n## B\n")
    host = [*library.walk()][-1]
    library = library.graft_all({host: parse_document("# C\n\nRye, rye.\n", key="c")})
    matches = await find_text(library, "rye")
    assert [(match.doc, match.start, match.end) for match in matches] == [("", 5, 8), ("c", 5, 8), ("c", 10, 13)]


@given(st.lists(st.sampled_from(["# A", "## B", "rye", "wheat rye", "", "x"]), max_size=30))
async def test_exactly_the_sections_whose_own_text_contains_the_word_are_found(lines: list[str]) -> None:
    library = make_library("\n".join(lines) + "\n")
    matches = await find_text(library, "rye")
    expected = [section_id for section_id in library.walk() if "rye" in library.own_text(section_id)]
    assert [*dict.fromkeys(library.section_at("", match.start) for match in matches)] == expected
    assert len(matches) == library.root.text.count("rye")


@pytest.mark.parametrize("window", [1, 3, 1_000])
@pytest.mark.parametrize(
    ("text", "words", "found"),
    [
        ("One two.\nONE\tTwo, one\r\ntwo", "one two", [0, 9]),
        ("aaaaa", "AA", [0, 2]),
        ("İİ word", "word", [3]),
        ("any", " ", []),
    ],
)
async def test_case_line_ends_and_window_sizes_do_not_matter(
    text: str, words: str, found: list[int], window: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(finder, "_WINDOW_LENGTH", window)
    matches = await find_text(make_library(text), words)
    assert [match.start for match in matches] == found
