"""An index in LanceDB's cloud, as far as its own client shows it: every request that it makes is answered here."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("lancedb", reason="LanceDB is not installed")

from roamtui.errors import RoamtuiError
from roamtui.search.lance.database import Database, load_summaries, save_summaries
from roamtui.search.lance.searcher import drop_tables
from roamtui.search.options import SearchMode
from tests.fakes.lance_cloud import FakeLanceCloud
from tests.search.backends.conftest import Backend
from tests.search.libraries import id_of, make_folder

LIBRARY = make_folder({"a.md": "# Apples\n\nRed and round.\n", "b.md": "# Cherries\n\nRed and small, late.\n"})


@pytest.fixture
def cloud(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeLanceCloud]:
    with FakeLanceCloud() as cloud:
        for name, value in cloud.variables.items():
            monkeypatch.setenv(name, value)
        yield cloud


@pytest.fixture
def remote(cloud: FakeLanceCloud, tmp_path: Path) -> Backend:
    backend = Backend("sqlite", tmp_path)
    backend.options = replace(backend.options, index=cloud.uri)
    return backend


def test_an_index_is_written_searched_changed_and_deleted(remote: Backend, cloud: FakeLanceCloud) -> None:
    assert remote.count_written(LIBRARY) == 2
    assert remote.count_written(LIBRARY) == 0
    hits = remote.open(LIBRARY).search("red and small cherries")
    assert LIBRARY.title_of(hits[0].section_id) == "Cherries"
    hits = remote.open(LIBRARY, SearchMode.HYBRID).search("roundness of apples")
    assert LIBRARY.title_of(hits[0].section_id) == "Apples"
    assert hits[0].why == "hybrid rank 1"
    changed = make_folder({"a.md": "# Apples\n\nGreen.\n", "b.md": "# Cherries\n\nRed and small, late.\n"})
    assert remote.count_written(changed) == 1
    assert len(remote.open(changed).search("round")) == 0
    inside = id_of(LIBRARY, "a.md")
    assert [LIBRARY.title_of(hit.section_id) for hit in remote.open(LIBRARY).search("red", within=inside)] == ["Apples"]
    database = Database(cloud.uri)
    save_summaries(database, {"digest": "About apples."})
    assert load_summaries(Database(cloud.uri)) == {"digest": "About apples."}
    assert drop_tables(database) == 3
    assert not cloud.database.list_tables().tables


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("LANCEDB_API_KEY", "another", "access was refused. Look at LANCEDB_API_KEY."),
        ("LANCEDB_API_KEY", None, "no key was found. Set LANCEDB_API_KEY."),
        (
            "LANCEDB_HOST_OVERRIDE",
            "http://127.0.0.1:9",
            "its host cannot be reached. Look at LANCEDB_HOST_OVERRIDE, LANCEDB_REGION and at the network.",
        ),
    ],
)
def test_what_is_wrong_is_told_in_a_sentence(
    remote: Backend, monkeypatch: pytest.MonkeyPatch, name: str, value: str | None, reason: str
) -> None:
    if value is None:
        monkeypatch.delenv(name)
    else:
        monkeypatch.setenv(name, value)
    with pytest.raises(RoamtuiError) as caught:
        remote.count_written(LIBRARY)
    assert str(caught.value) == f"The index db://shelf cannot be used: {reason}"
