"""Chunks of sections, and their stored vectors."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roamtui.errors import ModelError, RoamtuiError
from roamtui.search.section_store import SectionStore
from roamtui.search.vectors import VectorIndex, make_chunks, split_text
from tests.fakes.hashed_embedder import HashedEmbedder
from tests.search.libraries import make_folder, make_library

_TEXTS = st.text(alphabet=st.sampled_from("ab. \n\t!é"), max_size=400)


@given(_TEXTS, st.integers(5, 80))
def test_pieces_have_everything_but_white_space(text: str, size: int) -> None:
    pieces = list(split_text(text, size))
    assert "".join("".join(pieces).split()) == "".join(text.split())
    assert all(0 < len(piece) <= size for piece in pieces)


def test_a_chunk_starts_with_its_titles_instead_of_its_heading() -> None:
    library = make_folder({"guide/intro.md": "# Garden\n\nHello.\n\nBeds\n----\n\nOf roses.\n\n### Empty\n"})
    assert [text for _, text in make_chunks(library, 100)] == [
        "guide/intro > Garden\nHello.",
        "guide/intro > Garden > Beds\nOf roses.",
        "guide/intro > Garden > Beds > Empty",
    ]


def test_an_interrupted_run_is_resumed(tmp_path: Path) -> None:
    library = make_library("\n".join(f"# Title {number}\n\nText {number}.\n" for number in range(150)))
    with pytest.raises(ModelError, match="away"):
        VectorIndex(library, 200, SectionStore(tmp_path / "index"), HashedEmbedder(fails_after=100))
    embedder = HashedEmbedder()
    progress: list[tuple[int, int]] = []
    store = SectionStore(tmp_path / "index")
    index = VectorIndex(library, 200, store, embedder, lambda done, total: progress.append((done, total)))
    assert 0 < len(embedder.asked) < 100
    assert progress[-1] == (len(embedder.asked), len(embedder.asked))
    assert len(index.rank("title", limit=200)) == 150


@pytest.mark.parametrize("added", ["", "# Other\n\nNew text.\n"])
def test_an_embedder_in_whose_place_another_model_has_come_is_told(added: str) -> None:
    store = SectionStore()
    text = "# Title\n\nText.\n"
    VectorIndex(make_library(text), 200, store, HashedEmbedder())
    with pytest.raises(RoamtuiError, match="hashed gives vectors of another length"):
        VectorIndex(make_library(text + added), 200, store, HashedEmbedder(dimensions=64)).rank("title")
