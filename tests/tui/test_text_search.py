"""Matches of words in a whole library: their positions, number and sections, and the steps between them."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamtui.document.library import Library
from roamtui.document.parse import parse_document
from roamtui.tui import text_search
from roamtui.tui.text_search import TextMatches, TextPosition, find_all, find_text, fold_case, run_sliced

TEXT = """Rye before all.

# Bread

Rye and wheat. RYE again.

## Sour

Wheat alone, with
rye on the next line.

## Sweet

Sugar.
"""
START = TextPosition("", 0)


def make_library(text: str = TEXT) -> Library:
    return Library(source="a.md", root=parse_document(text))


def find(library: Library, query: str) -> TextMatches:
    return asyncio.run(run_sliced(find_text(library, query)))


def test_matches_are_counted_and_their_sections_listed() -> None:
    library = make_library()
    matches = find(library, "rye")
    assert (matches.count, matches.words) == (4, ("rye",))
    assert [*map(library.title_of, matches.list_sections(9))] == ["", "Bread", "Sour"]
    assert len([*matches.list_sections(2)]) == 2
    assert find(library, "with rye").count == 1, "over the end of a line"
    assert find(library, " ").count == 0


def test_steps_go_through_all_documents_and_wrap_around() -> None:
    library = make_library("# A\n\nRye.\n\n## B\n")
    host = [*library.walk()][-1]
    library = library.graft_all({host: parse_document("# C\n\nRye, rye.\n", key="c")})
    matches = find(library, "rye")
    position, walked = START, []
    for _ in range(4):
        step = matches.get_adjacent(position, 1)
        assert step is not None
        position = step
        walked.append((position, matches.get_number(position)))
    first, second, third = TextPosition("", 5), TextPosition("c", 5), TextPosition("c", 10)
    assert walked == [(first, 1), (second, 2), (third, 3), (first, 1)]
    assert matches.get_adjacent(first, -1) == third
    assert matches.get_adjacent(TextPosition("c", 10), -1) == second
    assert matches.get_adjacent(TextPosition("elsewhere", 0), 1) == first
    assert TextMatches().get_adjacent(first, 1) is None


@given(st.lists(st.sampled_from(["# A", "## B", "rye", "wheat rye", "", "x"]), max_size=30))
def test_exactly_the_sections_whose_own_text_contains_the_word_are_found(lines: list[str]) -> None:
    library = make_library("\n".join(lines) + "\n")
    matches = find(library, "rye")
    expected = [section_id for section_id in library.walk() if "rye" in library.own_text(section_id)]
    assert [*matches.list_sections(99)] == expected
    assert matches.count == library.root.text.count("rye")


@pytest.mark.parametrize("window", [1, 3, 1_000])
@pytest.mark.parametrize(
    ("text", "words", "found"),
    [
        ("One two.\nONE\tTwo, one\r\ntwo", "one two", [0, 9]),
        ("aaaaa", "AA", [0, 2]),
        ("İİ word", "word", [3]),
        ("x İstanbul", "İstan", [2]),
    ],
)
def test_case_line_ends_and_window_sizes_do_not_matter(
    text: str, words: str, found: list[int], window: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text_search, "_WINDOW_LENGTH", window)
    assert list(asyncio.run(run_sliced(find_all(text, words)))) == found


@given(st.text())
def test_folding_keeps_the_length(text: str) -> None:
    assert len(fold_case(text)) == len(text)
