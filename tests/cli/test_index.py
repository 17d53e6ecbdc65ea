"""`roamtui index` stores the index of a source on disk or in a database; searches use it or continue without it."""

import importlib.util
from pathlib import Path

import pytest

from roamtui.paths import cache_path
from tests.cli.conftest import RunCommand, write_settings
from tests.fakes.model_servers import FakeEmbeddingServer

needs_lance = pytest.mark.skipif(importlib.util.find_spec("lancedb") is None, reason="LanceDB is not installed")


def _list_indexes() -> list[Path]:
    return sorted((cache_path() / "indexes").glob("*.sqlite3"))


def test_an_index_is_kept_used_and_deleted(run: RunCommand, tmp_path: Path) -> None:
    folder = tmp_path / "manuals"
    folder.mkdir()
    (folder / "a.md").write_text("# Apples\n\nRed and round.\n", "utf-8")
    (folder / "b.md").write_text("# Dates\n\nBrown and sweet.\n", "utf-8")
    made = run("index", folder)
    assert made.code == 0
    [path] = _list_indexes()
    assert made.out.startswith(f"4 sections, 2 of them new or changed, in {path} (")

    (folder / "b.md").write_text("# Dates\n\nBrown and dry.\n", "utf-8")
    assert ", 1 of them new or changed, " in run("index", folder).out
    hits = run("search", folder, "dry", "--json").json["hits"]
    assert [hit["path"][-1] for hit in hits] == ["Dates"]

    assert run("index", folder, "--delete").out == f"Deleted {path}\n"
    assert _list_indexes() == []
    assert run("index", folder, "--delete").out == "There is no index of this source.\n"


def test_with_a_damaged_index_the_answer_is_the_same(run: RunCommand, garden: Path) -> None:
    run("index", garden)
    before = run("search", garden, "late spade").out
    [path] = _list_indexes()
    path.write_bytes(b"no database at all")
    result = run("search", garden, "late spade")
    assert (result.code, result.out) == (0, before)


@needs_lance
@pytest.mark.slow
@pytest.mark.usefixtures("forked_models")
def test_sections_are_embedded_into_a_database_searched_and_deleted(
    run: RunCommand, garden: Path, tmp_path: Path
) -> None:
    arguments = garden, "--index", tmp_path / "database", "--mode", "hybrid", "--embedder", "ollama/arctic"
    with FakeEmbeddingServer() as server:
        write_settings(f'[retrieval]\nembedder_api_base = "{server.origin}"\n')
        result = run("index", *arguments)
        assert result.code == 0
        assert len(server.texts) == 5
        assert run("index", *arguments).out.startswith("5 sections, 0 of them")
        assert len(server.texts) == 5
        hits = run("search", garden, "late spade", *arguments[1:], "--json").json["hits"]
    assert hits[0]["path"][-1] == "Tools"
    assert run("index", garden, "--index", tmp_path / "database", "--delete").out.endswith("database\n")
    assert run("index", garden, "--index", tmp_path / "database", "--delete").out.startswith("There is no index")
