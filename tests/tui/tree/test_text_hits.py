"""Words in a whole library: where they stand, how often, and in which sections."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from roamtui.document.library import Library
from roamtui.document.parse import parse_document
from roamtui.tui.tree.text_hits import LibrarySearch

TEXT = """Rye before all.

# Bread

Rye and wheat. RYE again.

## Sour

Wheat alone, with
rye on the next line.

## Sweet

Sugar.
"""


def make_search(text: str = TEXT) -> tuple[LibrarySearch, Library]:
    library = Library(source="a.md", root=parse_document(text))
    return LibrarySearch(library), library


def titles(library: Library, section_ids: tuple[str, ...]) -> list[str]:
    return [library.title_of(section_id) for section_id in section_ids]


def test_places_are_counted_and_sections_named_in_order() -> None:
    search, library = make_search()
    hits = search.find("rye")
    assert titles(library, hits.section_ids) == ["", "Bread", "Sour"]
    assert hits.count == 4
    assert hits.describe() == "3 sections · 4 matches"
    assert search.find("sugar").describe() == "1 section · 1 match"


def test_words_that_stand_apart_are_found_by_section() -> None:
    search, library = make_search()
    hits = search.find("wheat rye")
    assert titles(library, hits.section_ids) == ["Bread", "Sour"]
    assert hits.pattern == "wheat"
    assert hits.describe() == "2 sections · 2 matches"


@given(st.lists(st.sampled_from(["# A", "## B", "rye", "wheat rye", "", "x"]), max_size=30))
def test_a_section_is_found_exactly_where_its_own_text_has_the_word(lines: list[str]) -> None:
    search, library = make_search("\n".join(lines) + "\n")
    hits = search.find("rye")
    expected = [section_id for section_id in library.walk() if "rye" in library.own_text(section_id)]
    assert list(hits.section_ids) == expected
    assert hits.count == str(library.root.text).count("rye")
