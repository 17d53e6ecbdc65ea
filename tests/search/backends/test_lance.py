"""Vectors in LanceDB."""

from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

from roamtui.errors import RoamtuiError, UsageError
from roamtui.search.lance import LanceStore
from tests.search.backends.conftest import Backend
from tests.search.libraries import make_folder

pytestmark = pytest.mark.skipif(find_spec("lancedb") is None, reason="LanceDB is not installed")
LIBRARY = make_folder({"a.md": "# Apples\n\nRed and round.\n", "b.md": "# Cherries\n\nRed and small.\n"})


@pytest.fixture
def lance(tmp_path: Path) -> Backend:
    return Backend("lance", tmp_path)


def test_a_vector_that_was_written_twice_is_loaded_once(lance: Backend) -> None:
    store = LanceStore(str(lance.options.index))
    assert store.load("e5") == {}
    for vectors in ({"a": b"\x00\x3c\x00\x00"}, {"a": b"\x00\x3c\x00\x00", "b": b"\x00\x00\x00\x3c"}):
        store.save("e5", vectors)
    assert store.load("e5") == vectors
    assert store.load("ada") == {}


def test_tables_of_others_are_left_alone(lance: Backend) -> None:
    lance.count_written(LIBRARY)
    database = import_module("lancedb").connect(str(lance.options.index))
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
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(UsageError, match=r'pip install "roamtui\[lancedb\]"'):
        LanceStore("memory://")
