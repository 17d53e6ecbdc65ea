"""Vectors in LanceDB: in a folder and in its cloud, as far as a fake server can show it."""

import importlib.util
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

pytest.importorskip("lancedb", reason="LanceDB is not installed")

import lancedb

from roamtui.errors import RoamtuiError, UsageError
from roamtui.search.base import SearchMode
from roamtui.search.lance import LanceStore
from tests.fakes.lance_cloud import FakeLanceCloud
from tests.search.backends.conftest import Backend
from tests.search.libraries import id_of, make_folder

LIBRARY = make_folder({"a.md": "# Apples\n\nRed and round.\n", "b.md": "# Cherries\n\nRed and small.\n"})


@pytest.fixture
def lance(tmp_path: Path) -> Backend:
    return Backend("lance", tmp_path)


def _find(backend: Backend, query: str, mode: SearchMode = SearchMode.VECTOR, within: str | None = None) -> list[str]:
    return [LIBRARY.node(hit.section_id).title for hit in backend.open(LIBRARY, mode).search(query, within=within)]


def test_a_vector_that_was_written_twice_is_loaded_once(lance: Backend) -> None:
    store = LanceStore(str(lance.options.index))
    assert store.load("e5") == {}
    for vectors in ({"a": b"\x00\x3c\x00\x00"}, {"a": b"\x00\x3c\x00\x00", "b": b"\x00\x00\x00\x3c"}):
        store.save("e5", vectors)
    assert store.load("e5") == vectors
    assert store.load("ada") == {}


def test_tables_of_others_are_left_alone(lance: Backend) -> None:
    lance.count_written(LIBRARY)
    database = lancedb.connect(str(lance.options.index))
    database.create_table("theirs", [{"x": 1}])
    store = LanceStore(str(lance.options.index))
    assert store.delete()
    assert database.list_tables().tables == ["theirs"]
    assert not store.delete()


@pytest.mark.parametrize("uri", ["db://somewhere", "nosuchscheme://x/y"])
def test_an_unusable_database_is_one_sentence(uri: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LANCEDB_API_KEY", raising=False)
    with pytest.raises(RoamtuiError, match=f"^The index {uri} cannot be used: .*\\.$"):
        LanceStore(uri).load("e5")


def test_without_lancedb_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(UsageError, match=r'pip install "roamtui\[lancedb\]"'):
        LanceStore("memory://")


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
    assert LanceStore(cloud.uri).delete()
    assert not cloud.database.list_tables().tables
