"""Chunks of sections, and their stored vectors."""

from collections.abc import Sequence
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from numpy.typing import NDArray
from typing_extensions import override

from roamtui.document.library import Library
from roamtui.errors import RoamtuiError
from roamtui.search.section_store import SectionStore
from roamtui.search.vectors import VectorIndex, VectorStore, split_text
from tests.fakes.hashed_embedder import HashedEmbedder
from tests.search.libraries import id_of, make_folder, make_library

_TEXTS = st.text(alphabet=st.sampled_from("ab. \n\t!é"), max_size=400)


@given(_TEXTS, st.integers(5, 80))
def test_pieces_have_everything_but_white_space(text: str, size: int) -> None:
    pieces = [text[start:end] for start, end in split_text(text, size)]
    assert "".join("".join(pieces).split()) == "".join(text.split())
    assert all(0 < len(piece) <= size for piece in pieces)


def test_a_chunk_starts_with_its_titles_and_a_chapter_of_only_a_title_or_an_empty_file_has_none() -> None:
    text = "# Garden\n\nHello.\n\nBeds\n----\n\nOf roses.\n\n## Trees\n\n### Empty\n"
    library = make_folder({"guide/intro.md": text, "empty.md": "", "blank.txt": " \n\n"})
    chunks = dict(_open(library, SectionStore()).iter_missing())
    assert [*chunks.values()] == [
        "guide/intro > Garden\nHello.",
        "guide/intro > Garden > Beds\nOf roses.",
        "guide/intro > Garden > Trees > Empty",
    ]


def _open(library: Library, store: VectorStore, embedder: HashedEmbedder | None = None) -> VectorIndex:
    return VectorIndex(library, 200, store, embedder or HashedEmbedder())


def test_only_what_is_not_stored_is_missing(tmp_path: Path) -> None:
    library = make_library("".join(f"# Title {number}\n\nText {number}.\n\n" for number in range(20)))
    first = _open(library, SectionStore(tmp_path / "index"))
    first.embed(dict(islice(first.iter_missing([id_of(library, "Title 7")]), 5)))
    first.save()
    embedder = HashedEmbedder()
    second = _open(library, SectionStore(tmp_path / "index"), embedder)
    assert (second.missing, second.count_compared(), len(second)) == (15, 5, 20)
    assert next(second.iter_missing())[1].startswith("Title 4")
    similar = second.rank(second.embed_query("Title 7 Text 7"), limit=3, also=[id_of(library, "Title 9")])
    titles = [library.node(section_id).title for section_id in similar]
    assert titles[0] == "Title 7"
    assert len(titles) == 3
    assert "Title 9" not in titles
    assert embedder.asked == ["Title 7 Text 7"]


def _embed_all(library: Library, store: VectorStore) -> None:
    index = _open(library, store)
    index.embed(dict(index.iter_missing()))
    index.save()


def test_vectors_of_text_that_is_gone_are_deleted() -> None:
    store = SectionStore()
    for number in range(5):
        _embed_all(make_library(f"# Title\n\nText {number}.\n\n# Other\n\nText.\n"), store)
    assert len(store.load("hashed")) == 2
    _open(make_library("# Other\n\nText.\n"), store)
    assert len(store.load("hashed")) == 1


def test_vectors_of_files_that_are_not_read_yet_stay() -> None:
    store = SectionStore()
    library = make_folder({"a.md": "# A\n\nText.\n", "b.md": "# B\n\nText.\n"})
    _embed_all(library, store)
    stored = store.load("hashed")
    _embed_all(replace(library, grafts=dict(islice(library.grafts.items(), 1))), store)
    assert store.load("hashed").items() >= stored.items()


def test_vectors_that_another_version_or_program_stored_do_no_harm() -> None:
    library = make_library("# A\n\n" + "Some text. " * 60)
    store = SectionStore()
    first = _open(library, store)
    first.embed(dict(first.iter_missing()))
    first.save()
    stored = store.load("hashed")
    digest, _, count = next(iter(stored)).split("-")
    vector = stored[f"{digest}-0-{count}"]
    more = int(count) + 1
    for key in ("0-999999", "5-2", f"0-{int(count) - 1}", f"{more - 1}-{more}", ""):
        other = SectionStore()
        other.save("hashed", {f"{digest}-{key}": vector, digest: vector, "x-0-1": vector})
        index = _open(library, other)
        assert index.rank(index.embed_query("text"), limit=1) == {}
        while batch := dict(islice(index.iter_missing(), 2)):
            index.embed(batch)
        assert index.count_compared() == 1


class _BrokenEmbedder(HashedEmbedder):
    """Gives infinite and undefined numbers for some texts, as a damaged model does."""

    @override
    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        rows = super().embed(texts)
        rows[[row for row, text in enumerate(texts) if "bad" in text]] = np.nan
        rows[[row for row, text in enumerate(texts) if "worse" in text]] = np.inf
        return rows


def test_a_text_without_usable_numbers_is_never_near(recwarn: pytest.WarningsRecorder) -> None:
    library = make_library("# Good\n\nText.\n\n# Bad\n\nbad text.\n\n# Worse\n\nworse text.\n")
    index = _open(library, SectionStore(), _BrokenEmbedder())
    index.embed(dict(index.iter_missing()))
    assert index.missing == 0
    similar = index.rank(index.embed_query("text"), limit=9)
    assert library.node(next(iter(similar))).title == "Good"
    assert [each.cosine for each in similar.values()][1:] == [0.0, 0.0]
    with pytest.raises(RoamtuiError, match=r"^hashed finds no meaning in the query\.$"):
        index.embed_query("bad")
    assert not recwarn.list


@pytest.mark.parametrize("added", ["", "# Other\n\nNew text.\n"])
def test_an_embedder_in_whose_place_another_model_has_come_is_told(added: str) -> None:
    store = SectionStore()
    text = "# Title\n\nText.\n"
    first = _open(make_library(text), store)
    first.embed(dict(first.iter_missing()))
    first.save()
    other = _open(make_library(text + added), store, HashedEmbedder(dimensions=64))
    with pytest.raises(RoamtuiError, match="hashed gives vectors of another length"):
        other.embed_query("title")
    if added:
        with pytest.raises(RoamtuiError, match="hashed gives vectors of another length"):
            other.embed(dict(other.iter_missing()))


def test_the_nearest_piece_is_in_the_text_below_the_heading(tmp_path: Path) -> None:
    library = make_library("# Club\n\n## Refunds\n\nRefunds\n\n## Fees\n\nTea costs.\n")
    index = _open(library, SectionStore(tmp_path / "index"))
    index.embed(dict(index.iter_missing()))
    piece = next(iter(index.rank(index.embed_query("Refunds"), limit=1).values())).piece
    assert piece is not None
    assert library.root.text[: piece.start].endswith("## Refunds\n\n")
