"""`roamtui index --mode hybrid`: sections are embedded beforehand."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from roamtui.locations import cache_path, config_path
from tests.fakes.embedding_server import FakeEmbeddingServer

if TYPE_CHECKING:
    from tests.cli.conftest import RunCommand


@pytest.mark.slow
def test_sections_are_embedded_with_the_index(run: RunCommand, garden: Path) -> None:
    with FakeEmbeddingServer() as server:
        config_path().parent.mkdir(parents=True)
        config_path().write_text(f'[retrieval]\nembedder_api_base = "{server.url}"\n', "utf-8")
        result = run("index", garden, "--mode", "hybrid", "--embedder", "ollama/arctic")
        assert result.code == 0
        assert "embedded 5 of 5 chunks" in result.err
        assert len(server.texts) == 5
    assert (cache_path() / "vectors.sqlite3").is_file()
