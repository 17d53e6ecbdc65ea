"""Search modes from the command line and the settings, with the real litellm against a server on loopback."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path

import pytest

from roamtui.locations import cache_path, config_path
from tests.cli.conftest import RunCommand
from tests.fakes.model_servers import FakeEmbeddingServer


@pytest.fixture
def server() -> Iterator[FakeEmbeddingServer]:
    with FakeEmbeddingServer() as started:
        yield started


def _name_embedder(server: FakeEmbeddingServer, mode: str = "hybrid") -> list[str]:
    config_path().parent.mkdir(parents=True, exist_ok=True)
    config_path().write_text(f'[retrieval]\nembedder_api_base = "{server.origin}"\n', "utf-8")
    return ["--mode", mode, "--embedder", "ollama/arctic"]


@pytest.mark.slow
def test_hybrid_search_embeds_and_says_how_each_hit_came(
    run: RunCommand, garden: Path, server: FakeEmbeddingServer
) -> None:
    result = run("search", garden, "wateringcan", *_name_embedder(server), "--json")
    assert result.code == 0
    assert result.json["mode"] == "hybrid"
    assert result.json["hits"][0]["path"][-1] == "Watering"
    assert result.json["hits"][0]["why"] == "vector rank 1"
    assert "embedded 5 of 5 chunks" in result.err
    assert (cache_path() / "vectors.sqlite3").is_file()
    assert server.texts[5:] == ["wateringcan"]


def test_a_local_embedder_that_is_not_installed_says_what_to_install(run: RunCommand, garden: Path) -> None:
    if importlib.util.find_spec("sentence_transformers") is not None:
        pytest.skip("sentence-transformers is installed here.")
    result = run("search", garden, "x", "--mode", "hybrid", "--embedder", "local:all-MiniLM-L6-v2")
    assert (result.code, result.out) == (2, "")
    assert 'pip install "roamtui[embeddings]"' in result.err


def test_the_app_in_a_browser_searches_as_it_was_told(
    run: RunCommand, garden: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    served: list[list[str]] = []
    monkeypatch.setattr("roamtui.tui.serving.serve_app", lambda words, **_: served.append(words))
    assert run("serve", garden, "--mode", "keyword", "--limit", "3", "--no-rewrite", "--api-base", "http://x").code == 0
    assert served == [["--api-base=http://x", "--mode=keyword", "--limit=3", "--no-rewrite", "--", str(garden)]]
