"""LanceDB in a folder, in object storage, and in its cloud, as far as a fake server can show it."""

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
from tests.fakes.lance_cloud import FakeLanceCloud
from tests.fakes.object_store import FakeObjectStore
from tests.search.backends.conftest import Backend
from tests.search.libraries import id_of, make_folder

LIBRARY = make_folder({"a.md": "# Apples\n\nRed and round.\n", "b.md": "# Cherries\n\nRed and small.\n"})
BUCKET = "s3://shelves/docs/first"


@pytest.fixture
def lance(tmp_path: Path) -> Backend:
    return Backend("lance", tmp_path)


def test_the_index_of_other_documents_is_not_replaced(lance: Backend) -> None:
    lance.count_written(LIBRARY)
    with pytest.raises(UsageError, match=r"holds the index of other documents, such as a\.md"):
        lance.count_written(make_folder({"z.md": "# Other\n"}))
    assert lance.count_written(LIBRARY) == 0


def test_a_document_that_was_written_twice_is_found_once(lance: Backend) -> None:
    lance.count_written(LIBRARY)
    database = LanceDatabase(str(lance.options.index))
    table = database.get_table("passages")
    assert table is not None
    table.add(table.search().to_arrow())
    assert lance.count_written(LIBRARY) == 0
    assert len(lance.open(LIBRARY).search("red")) == 2
    assert len(lance.open(LIBRARY).search("red", limit=1)) == 1
    smaller = make_folder({"a.md": "# Apples\n\nRed and round.\n"})
    assert len(lance.open(smaller).search("red")) == 1


def test_tables_of_others_and_of_an_older_version_are_left_alone(lance: Backend) -> None:
    lance.open(LIBRARY, SearchMode.HYBRID).search("red")
    database = LanceDatabase(str(lance.options.index))
    for name in ("theirs", "sections", "documents"):
        database.create_table(name, database.arrow.schema([("x", database.arrow.int64())]))
    assert database.drop_index() == 2
    assert database.list_tables() == ["documents", "sections", "theirs"]
    assert database.drop_index() == 0


@pytest.mark.parametrize("uri", ["db://somewhere", "nosuchscheme://x/y"])
def test_an_unusable_database_is_one_sentence(uri: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LANCEDB_API_KEY", raising=False)
    with pytest.raises(RoamtuiError, match=f"^The index {uri} cannot be used: .*\\.$"):
        LanceTable(uri, LIBRARY, 600)


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


@pytest.fixture
def in_cloud(cloud: FakeLanceCloud, tmp_path: Path) -> Backend:
    backend = Backend("sqlite", tmp_path)
    backend.options = msgspec.structs.replace(backend.options, index=cloud.uri)
    return backend


def test_an_index_is_written_searched_changed_and_deleted(in_cloud: Backend, cloud: FakeLanceCloud) -> None:
    assert in_cloud.count_written(LIBRARY) == 2
    assert in_cloud.count_written(LIBRARY) == 0
    hits = in_cloud.open(LIBRARY).search("red and small cherries")
    assert LIBRARY.title_of(hits[0].section_id) == "Cherries"
    hits = in_cloud.open(LIBRARY, SearchMode.HYBRID).search("roundness of apples")
    assert LIBRARY.title_of(hits[0].section_id) == "Apples"
    assert hits[0].why.endswith("vector rank 1")
    changed = make_folder({"a.md": "# Apples\n\nGreen.\n", "b.md": "# Cherries\n\nRed and small.\n"})
    assert in_cloud.count_written(changed) == 1
    assert len(in_cloud.open(changed).search("round")) == 0
    inside = id_of(LIBRARY, "a.md")
    assert [LIBRARY.title_of(hit.section_id) for hit in in_cloud.open(LIBRARY).search("red", within=inside)] == [
        "Apples"
    ]
    database = LanceDatabase(cloud.uri)
    database.save_summaries({"digest": "About apples."})
    assert LanceDatabase(cloud.uri).load_summaries() == {"digest": "About apples."}
    assert database.drop_index() == 3
    assert not cloud.database.list_tables().tables


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeObjectStore]:
    with FakeObjectStore("shelves") as store:
        for name, value in store.variables.items():
            monkeypatch.setenv(name, value)
        yield store


def test_an_index_is_written_to_a_bucket_and_searched_there(store: FakeObjectStore, tmp_path: Path) -> None:
    backend = Backend("sqlite", tmp_path)
    backend.options = msgspec.structs.replace(backend.options, index=BUCKET)
    assert backend.count_written(LIBRARY) == 2
    assert all(key.startswith("shelves/docs/first/") for key in store.objects)
    assert store.keys_seen == {"key-of-tests"}
    for query, mode, title in (("round", SearchMode.KEYWORD, "Apples"), ("smallish", SearchMode.HYBRID, "Cherries")):
        assert LIBRARY.title_of(backend.open(LIBRARY, mode).search(query)[0].section_id) == title
