"""Chunks are small, hold everything, stay in their sections and carry the titles above."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamtui.search.chunks import cut_text, make_chunks
from tests.search.libraries import make_folder, make_library

_TEXTS = st.text(alphabet=st.sampled_from("ab. \n\t!é"), max_size=400)


@given(_TEXTS, st.integers(5, 80), st.data())
def test_pieces_hold_all_but_white_space(text: str, size: int, data: st.DataObject) -> None:
    overlap = data.draw(st.integers(0, size // 2))
    spans = cut_text(text, size=size, overlap=overlap)
    held = {place for start, end in spans for place in range(start, end)}
    assert all(place in held or character.isspace() for place, character in enumerate(text))
    assert all(0 < end - start <= size for start, end in spans)
    assert [start for start, _ in spans] == sorted({start for start, _ in spans})


@given(_TEXTS, st.integers(5, 80))
def test_without_overlap_nothing_is_held_twice(text: str, size: int) -> None:
    spans = cut_text(text, size=size, overlap=0)
    assert all(end <= start for (_, end), (start, _) in pairwise(spans))


def test_pieces_end_where_paragraphs_sentences_and_words_do() -> None:
    text = "One two three.\n\nFour five six. Seven eight nine ten eleven twelve"
    assert [text[start:end] for start, end in cut_text(text, size=24, overlap=0)] == [
        "One two three.",
        "Four five six.",
        "Seven eight nine ten",
        "eleven twelve",
    ]


@pytest.mark.parametrize(("size", "overlap"), [(200, 0), (500, 10), (800, 200)])
def test_sizes_of_published_systems_can_be_chosen(size: int, overlap: int) -> None:
    library = make_library("# A\n\n" + "Some words to be cut. " * 200)
    chunks = list(make_chunks(library, library.walk(), size=size, overlap=overlap))
    assert len(chunks) >= 4_300 // size
    assert all(len(chunk.text) <= size + len("A\n") for chunk in chunks)


def test_a_chunk_carries_its_titles_and_no_other_text_of_its_section() -> None:
    library = make_folder({"guide/intro.md": "# Garden\n\nHello.\n\nBeds\n----\n\nOf roses.\n\n### Empty\n"})
    assert [chunk.text for chunk in make_chunks(library, library.walk(), size=100, overlap=0)] == [
        "guide/intro > Garden\nHello.",
        "guide/intro > Garden > Beds\nOf roses.",
        "guide/intro > Garden > Beds > Empty",
    ]


def test_very_long_titles_leave_room_for_the_text() -> None:
    library = make_library(f"# {'long ' * 200}\n\n## Near\n\nText.\n")
    near = [chunk.text for chunk in make_chunks(library, library.walk(), size=50, overlap=0)][-1]
    assert near.endswith("Near\nText.")
    assert len(near) < 250
