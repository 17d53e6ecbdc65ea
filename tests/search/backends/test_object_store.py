"""An index in object storage, by the variables that people set for it; failures of it in a sentence."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from roamtui.errors import RoamtuiError
from roamtui.search.options import SearchMode
from tests.fakes.object_store import FakeObjectStore
from tests.search.backends.conftest import Backend
from tests.search.libraries import make_folder

pytestmark = pytest.mark.skipif(importlib.util.find_spec("lancedb") is None, reason="LanceDB is not installed")
LIBRARY = make_folder({"a.md": "# Apples\n\nRed and round.\n", "b.md": "# Cherries\n\nRed and small.\n"})
URI = "s3://shelves/docs/first"


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeObjectStore]:
    with FakeObjectStore("shelves") as store:
        for name, value in store.variables.items():
            monkeypatch.setenv(name, value)
        yield store


@pytest.fixture
def remote(store: FakeObjectStore, tmp_path: Path) -> Backend:  # noqa: ARG001 - it stands while the test runs
    backend = Backend("sqlite", tmp_path)
    backend.options = replace(backend.options, index=URI)
    return backend


def _find(backend: Backend, query: str, mode: SearchMode = SearchMode.KEYWORD) -> list[str]:
    return [LIBRARY.title_of(hit.section_id) for hit in backend.open(LIBRARY, mode).search(query)]


def test_an_index_is_written_to_a_bucket_and_searched_there(store: FakeObjectStore, remote: Backend) -> None:
    assert remote.count_written(LIBRARY) == 2
    assert store.objects
    assert all(key.startswith("shelves/docs/first/") for key in store.objects)
    assert store.keys_seen == {"key-of-tests"}
    assert remote.count_written(LIBRARY) == 0
    assert _find(remote, "round") == ["Apples"]
    assert _find(remote, "smallish", SearchMode.HYBRID)[0] == "Cherries"


@pytest.mark.parametrize(
    ("uri", "variables", "reason"),
    [
        ("s3://nosuchbucket/docs", {}, "there is no such bucket"),
        (URI, {"AWS_ALLOW_HTTP": "false"}, "an AWS_ENDPOINT that begins with http:// needs AWS_ALLOW_HTTP=true"),
    ],
)
def test_what_is_wrong_is_told_in_a_sentence(
    remote: Backend, monkeypatch: pytest.MonkeyPatch, uri: str, variables: dict[str, str], reason: str
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    remote.options = replace(remote.options, index=uri)
    with pytest.raises(RoamtuiError) as caught:
        remote.count_written(LIBRARY)
    assert str(caught.value) == f"The index {uri} cannot be used: {reason}."
