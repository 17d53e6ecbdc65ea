"""What is LanceDB's own: other documents are not replaced, vectors move, failures are told in a sentence."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from roamtui.errors import RoamtuiError, UsageError
from roamtui.search.base import SearchParts
from roamtui.search.lance.database import Database, check_extra
from roamtui.search.lance.searcher import LanceSearcher, drop_tables
from roamtui.search.options import RetrievalOptions, SearchMode
from tests.search.backends.conftest import Backend
from tests.search.libraries import make_folder

pytestmark = pytest.mark.skipif(importlib.util.find_spec("lancedb") is None, reason="LanceDB is not installed")
LIBRARY = make_folder({"a.md": "# Apples\n\nRed and round.\n", "b.md": "# Cherries\n\nRed and small.\n"})


@pytest.fixture
def lance(tmp_path: Path) -> Backend:
    return Backend("lance", tmp_path)


def test_the_index_of_other_documents_is_not_replaced(lance: Backend) -> None:
    lance.count_written(LIBRARY)
    with pytest.raises(UsageError, match=r"holds the index of other documents, such as a\.md"):
        lance.count_written(make_folder({"z.md": "# Other\n"}))
    assert lance.count_written(LIBRARY) == 0


def test_a_database_need_not_be_a_folder() -> None:
    options = RetrievalOptions(index="memory://")
    searcher = LanceSearcher(LIBRARY, options, SearchParts())
    assert [LIBRARY.title_of(hit.section_id) for hit in searcher.search("round")] == ["Apples"]
    assert Database("memory://").measure() is None


def test_a_table_that_another_program_is_just_making_is_not_there_yet(tmp_path: Path) -> None:
    (tmp_path / "database" / "passages.lance").mkdir(parents=True)
    assert Database(str(tmp_path / "database")).find_table("passages") is None


def test_a_part_that_was_written_twice_is_found_once(lance: Backend) -> None:
    lance.count_written(LIBRARY)
    database = Database(str(lance.options.index))
    table = database.find_table("passages")
    assert table is not None
    table.add(table.search().to_arrow())
    assert lance.count_written(LIBRARY) == 0
    assert len(lance.open(LIBRARY).search("red")) == 2
    assert len(lance.open(LIBRARY).search("red", limit=1)) == 1
    smaller = make_folder({"a.md": "# Apples\n\nRed and round.\n"})
    assert len(lance.open(smaller).search("red")) == 1


def test_tables_of_others_and_of_an_older_version_are_left_alone(lance: Backend) -> None:
    lance.open(LIBRARY, SearchMode.HYBRID).search("red")
    database = Database(str(lance.options.index))
    for name in ("theirs", "sections", "documents"):
        database.open_table(name, [("x", database.arrow.int64())])
    assert lance.count_written(LIBRARY) == 2
    assert drop_tables(database) == 2
    assert database.list_tables() == ["documents", "sections", "theirs"]
    assert drop_tables(database) == 0


@pytest.mark.parametrize("uri", ["db://somewhere", "nosuchscheme://x/y"])
def test_a_database_that_cannot_be_used_is_told_in_a_sentence(uri: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LANCEDB_API_KEY", raising=False)
    with pytest.raises(RoamtuiError, match=f"^The index {uri} cannot be used: .*\\.$"):
        LanceSearcher(LIBRARY, RetrievalOptions(index=uri), SearchParts()).search("red")


def test_without_lancedb_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(UsageError, match=r'pip install "roamtui\[lancedb\]"'):
        check_extra()


def test_an_index_far_behind_is_tidied(lance: Backend, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("roamtui.search.lance.database._UNINDEXED_MIN", 0)
    lance.count_written(LIBRARY)
    lance.count_written(make_folder({"a.md": "# Apples\n\nRed.\n", "c.md": "# Dates\n\nBrown.\n"}))
    table = Database(str(lance.options.index)).find_table("passages")
    assert table is not None
    assert [index.num_unindexed_rows for index in table.list_indices()] == [0]


def test_many_passages_get_an_index_that_finds_them(lance: Backend, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("roamtui.search.lance.searcher._INDEXED_MIN", 300)
    text = "".join(f"# Title {number}\n\n{chr(97 + number % 26) * 9} stands at {number}.\n\n" for number in range(400))
    library = make_folder({"a.md": text})
    searcher = lance.open(library, SearchMode.VECTOR)
    assert library.title_of(searcher.search("Title 250 stands at 250")[0].section_id) == "Title 250"
    database = Database(str(lance.options.index))
    name = next(name for name in database.list_tables() if name.startswith("passages_"))
    assert [index.columns for index in database.find_table(name).list_indices()] == [["text"], ["vector"]]  # type: ignore[union-attr]


def test_passages_of_a_text_that_is_gone_are_taken_out(lance: Backend) -> None:
    lance.open(LIBRARY, SearchMode.VECTOR).search("red")
    lance.open(make_folder({"a.md": "# Apples\n\nRed and round.\n"}), SearchMode.VECTOR).search("red")
    database = Database(str(lance.options.index))
    name = next(name for name in database.list_tables() if name.startswith("passages_"))
    assert database.find_table(name).count_rows() == 1  # type: ignore[union-attr]
