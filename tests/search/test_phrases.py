"""Find a phrase: each match once, in reading order, whatever the case, the line ends and the marks between."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamtui.document.parse import parse_document
from roamtui.search import phrases
from roamtui.search.phrases import find_phrase, match_ranges
from tests.search.libraries import make_library


async def test_matches_go_through_all_documents_in_reading_order() -> None:
    library = make_library("# A\n\nRye.\n\n## B\n")
    host = [*library.walk()][-1]
    library = library.graft_all({host: parse_document("# C\n\nRye, rye.\n", key="c")})
    matches = await find_phrase(library, "rye")
    assert [(match.doc, match.start, match.end) for match in matches] == [("", 5, 8), ("c", 5, 8), ("c", 10, 13)]


@given(st.lists(st.sampled_from(["# A", "## B", "rye", "wheat rye", "", "x"]), max_size=30))
async def test_exactly_the_sections_whose_own_text_contains_the_word_are_found(lines: list[str]) -> None:
    library = make_library("\n".join(lines) + "\n")
    matches = await find_phrase(library, "rye")
    expected = [
        section_id for section_id in library.walk() if "rye" in library.text_at(library.node(section_id).own_span)
    ]
    assert [*dict.fromkeys(library.find_node_at("", match.start) for match in matches)] == expected
    assert len(matches) == library.root.text.count("rye")


@pytest.mark.parametrize("window", [1, 3, 1_000])
@pytest.mark.parametrize(
    ("text", "words", "found"),
    [
        ("One two.\nONE\tTwo, one\r\ntwo", "one two", [0, 9, 18]),
        ("- one\n  two\n\n> > one\n> > two", "one two", [2, 17]),
        ("aaaaa", "AA", [0, 2]),
        ("İİ word", "word", [3]),
        ("in İstanbul", "İstanbul", [3]),
        ("any", " ", []),
        ("A **rye loaf**, `warm`", "loaf, warm", [8]),
        ("**rye** _rye_", "rye**", [2, 9]),
        ("2 * 3", "*", [2]),
    ],
)
async def test_case_line_ends_and_window_sizes_do_not_matter(
    text: str, words: str, found: list[int], window: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(phrases, "_WINDOW_LENGTH", window)
    matches = await find_phrase(make_library(text), words)
    assert [match.start for match in matches] == found


def test_a_blank_word_matches_nothing() -> None:
    assert match_ranges("Rye bread.", [" ", "", "rye"]) == [(0, 3)]
