"""`roamtui index` stores the index of a source on disk or in a database; searches use it or continue without it."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path

import pytest

from roamtui.paths import cache_path
from tests.cli.conftest import RunCommand, write_settings
from tests.fakes.model_servers import FakeEmbeddingServer, FakeOpenAIServer, FakeReply

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


FILES = {name: f"# {name.title()}\n\nAll of {name}.\n" for name in ("apples", "bees", "cherries")}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeOpenAIServer]:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789")
    with FakeOpenAIServer() as fake:
        yield fake


@pytest.fixture
def shelf(tmp_path: Path) -> Path:
    folder = tmp_path / "shelf"
    folder.mkdir()
    for name, text in FILES.items():
        (folder / f"{name}.md").write_text(text, "utf-8")
    return folder


@pytest.mark.slow
@pytest.mark.usefixtures("forked_models")
def test_summaries_are_written_after_what_they_cost_was_said(
    run: RunCommand, shelf: Path, server: FakeOpenAIServer
) -> None:
    server.reset(*(FakeReply(text=f"Zymurgy volume {number}.") for number in range(3)))
    command = ["index", shelf, "--summaries", "--model", "openai/gpt-4.1-mini", "--api-base", server.url, "--yes"]
    written = run(*command)
    assert written.code == 0
    assert written.err.startswith("Summaries to write by openai/gpt-4.1-mini: 3, about ")
    assert ", about $0.00.\n" in written.err
    assert "3 of 3 summaries\n" in written.err
    assert len(server.bodies) == 3
    assert "tools" not in server.bodies[0]
    assert "exist already." in run(*command).err
    assert len(server.bodies) == 3
    assert len(run("search", shelf, "zymurgy", "--json").json["hits"]) == 3
    assert "Zymurgy volume" in run("outline", shelf).out
