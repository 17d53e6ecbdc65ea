"""Chunks of sections, their vectors, and the stored vectors."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamtui.errors import ModelError
from roamtui.search.vectors import VectorIndex, VectorStore, make_chunks, split_text
from tests.fakes.hashed_embedder import HashedEmbedder
from tests.search.libraries import make_folder, make_library

_TEXTS = st.text(alphabet=st.sampled_from("ab. \n\t!é"), max_size=400)


@given(_TEXTS, st.integers(5, 80))
def test_pieces_cover_everything_but_white_space(text: str, size: int) -> None:
    spans = split_text(text, size)
    held = {place for start, end in spans for place in range(start, end)}
    assert all(place in held or character.isspace() for place, character in enumerate(text))
    assert all(0 < end - start <= size for start, end in spans)
    assert all(end <= start for (_, end), (start, _) in pairwise(spans))
    assert [start for start, _ in spans] == sorted({start for start, _ in spans})


def test_a_chunk_starts_with_its_titles_instead_of_its_heading() -> None:
    library = make_folder({"guide/intro.md": "# Garden\n\nHello.\n\nBeds\n----\n\nOf roses.\n\n### Empty\n"})
    assert [chunk.text for chunk in make_chunks(library, library.walk(), size=100)] == [
        "guide/intro > Garden\nHello.",
        "guide/intro > Garden > Beds\nOf roses.",
        "guide/intro > Garden > Beds > Empty",
    ]


CHUNK_SIZE = 200
ONE, TWO = b"digest of one", b"digest of two"


@pytest.fixture
def warnings() -> list[str]:
    return []


@pytest.fixture
def store(tmp_path: Path, warnings: list[str]) -> VectorStore:
    return VectorStore(tmp_path, warnings.append)


def test_an_interrupted_run_is_resumed(store: VectorStore) -> None:
    library = make_library("\n".join(f"# Title {number}\n\nText {number}.\n" for number in range(150)))
    with pytest.raises(ModelError, match="away"):
        VectorIndex(library, CHUNK_SIZE, HashedEmbedder(fails_after=100), store)
    embedder = HashedEmbedder()
    progress: list[tuple[int, int]] = []
    index = VectorIndex(library, CHUNK_SIZE, embedder, store, lambda done, total: progress.append((done, total)))
    assert 0 < len(embedder.documents) < 100
    assert progress[-1] == (len(embedder.documents), len(embedder.documents))
    assert len(index) == 150


def test_saved_vectors_are_found_by_the_next_run(tmp_path: Path, warnings: list[str]) -> None:
    store = VectorStore(tmp_path / "cache", warnings.append)
    store.save({ONE: b"vector"}, "m")
    store.close()
    store = VectorStore(tmp_path / "cache", warnings.append)
    assert store.load([ONE, TWO], "m") == {ONE: b"vector"}
    assert store.load([ONE], "other") == {}
    assert warnings == []
    store.close()


@pytest.mark.parametrize("content", [b"no database at all " * 100, b""])
def test_without_a_usable_file_vectors_last_as_long_as_the_store(
    tmp_path: Path, warnings: list[str], content: bytes
) -> None:
    folder = tmp_path / "cache"
    if content:
        folder.mkdir()
        (folder / "vectors.sqlite3").write_bytes(content)
    else:
        folder.write_text("in the way", "utf-8")
    store = VectorStore(folder, warnings.append)
    assert len(warnings) == 1
    assert str(folder / "vectors.sqlite3") in warnings[0]
    store.save({ONE: b"x"}, "m")
    assert store.load([ONE], "m") == {ONE: b"x"}
    store.close()
