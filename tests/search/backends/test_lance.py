"""Vectors in LanceDB: in a folder and in its cloud, as far as a fake server can show it."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

pytest.importorskip("lancedb", reason="LanceDB is not installed")

from roamtui.errors import RoamtuiError, UsageError
from roamtui.search.base import SearchMode
from roamtui.search.lance import LanceDatabase, LanceTable
from tests.fakes.hashed_embedder import HashedEmbedder
from tests.fakes.lance_cloud import FakeLanceCloud
from tests.search.backends.conftest import Backend
from tests.search.libraries import id_of, make_folder

LIBRARY = make_folder({"a.md": "# Apples\n\nRed and round.\n", "b.md": "# Cherries\n\nRed and small.\n"})


@pytest.fixture
def lance(tmp_path: Path) -> Backend:
    return Backend("lance", tmp_path)


def _find(backend: Backend, query: str, mode: SearchMode = SearchMode.VECTOR, within: str | None = None) -> list[str]:
    return [LIBRARY.title_of(hit.section_id) for hit in backend.open(LIBRARY, mode).search(query, within=within)]


def test_the_index_of_other_documents_is_not_replaced(lance: Backend) -> None:
    lance.count_written(LIBRARY)
    with pytest.raises(UsageError, match=r"holds the index of other documents, such as a\.md"):
        lance.count_written(make_folder({"z.md": "# Other\n"}))
    assert lance.count_written(LIBRARY) == 0


def test_a_document_that_was_written_twice_is_found_once(lance: Backend) -> None:
    lance.count_written(LIBRARY)
    database = LanceDatabase(str(lance.options.index))
    table = database.get_table(database.list_tables()[0])
    assert table is not None
    table.add(table.search().to_arrow())
    assert lance.count_written(LIBRARY) == 0
    assert sorted(_find(lance, "red")) == ["Apples", "Cherries"]


def test_tables_of_others_are_left_alone(lance: Backend) -> None:
    lance.count_written(LIBRARY)
    database = LanceDatabase(str(lance.options.index))
    database.connection.create_table("theirs", schema=database.arrow.schema([("x", database.arrow.int64())]))
    assert database.drop_index() == 1
    assert database.list_tables() == ["theirs"]
    assert database.drop_index() == 0


@pytest.mark.parametrize("uri", ["db://somewhere", "nosuchscheme://x/y"])
def test_an_unusable_database_is_one_sentence(uri: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LANCEDB_API_KEY", raising=False)
    with pytest.raises(RoamtuiError, match=f"^The index {uri} cannot be used: .*\\.$"):
        LanceTable(uri, LIBRARY, 600, HashedEmbedder())


def test_without_lancedb_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(UsageError, match=r'pip install "roamtui\[lancedb\]"'):
        LanceDatabase("memory://")


@pytest.fixture
def cloud(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeLanceCloud]:
    with FakeLanceCloud() as cloud:
        for name, value in cloud.variables.items():
            monkeypatch.setenv(name, value)
        yield cloud


def test_the_cloud_is_written_searched_changed_and_emptied(lance: Backend, cloud: FakeLanceCloud) -> None:
    lance.options = msgspec.structs.replace(lance.options, index=cloud.uri)
    assert lance.count_written(LIBRARY) == 2
    assert lance.count_written(LIBRARY) == 0
    assert _find(lance, "roundness of apples", SearchMode.HYBRID)[0] == "Apples"
    assert _find(lance, "red", within=id_of(LIBRARY, "a.md")) == ["Apples"]
    changed = make_folder({"a.md": "# Apples\n\nGreen.\n", "b.md": "# Cherries\n\nRed and small.\n"})
    assert lance.count_written(changed) == 1
    assert LanceDatabase(cloud.uri).drop_index() == 1
    assert not cloud.database.list_tables().tables
