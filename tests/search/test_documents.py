"""Documents are ranked by the best of their sections."""

from __future__ import annotations

from roamtui.search.base import Hit
from roamtui.search.documents import find_file, list_files, rank_documents
from tests.search.libraries import id_of, make_folder, make_library

LIBRARY = make_folder(
    {
        "one.md": "# One\n\nText.\n\n## A\n\nText.\n\n## B\n\nText.\n\n## C\n\nText.\n\n## D\n\nText.\n",
        "two.md": "# Two\n\nText.\n\n## E\n\nText.\n",
        "three.md": "# Three\n\nText.\n",
    }
)


def make_hits(*titles: str) -> list[Hit]:
    return [
        Hit(section_id=id_of(LIBRARY, title), score=1 / rank, snippet="", why="")
        for rank, title in enumerate(titles, start=1)
    ]


def test_one_good_section_goes_before_many_fair_ones() -> None:
    documents = rank_documents(LIBRARY, make_hits("E", "A", "B", "C", "D", "Three"), limit=2)
    assert [LIBRARY.title_of(document.file_id) for document in documents] == ["two.md", "one.md"]
    assert [document.score for document in documents] == [1, 1 / 2]
    best = [LIBRARY.title_of(hit.section_id) for hit in documents[1].sections]
    assert best == ["A", "B", "C"]


def test_a_file_is_its_own_document_and_a_single_document_has_none() -> None:
    two = id_of(LIBRARY, "two.md")
    assert find_file(LIBRARY, two) == two
    assert list_files(LIBRARY)[1] == two
    single = make_library("# Only\n\nText.\n")
    assert list_files(single) == ()
    assert rank_documents(single, [Hit(section_id=id_of(single, "Only"), score=1, snippet="", why="")], limit=3) == ()
