"""A real static model: `make embeddings` distils it, names its folder, and runs this."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from roamtui.models.search_models import LocalEmbedder

_MODEL = os.environ["ROAMTUI_STATIC_MODEL"]


def test_it_knows_what_words_mean() -> None:
    embedder = LocalEmbedder(_MODEL)
    query, wages, roses = np.asarray(
        embedder.embed(["How do I pay my employees?", "Wages are due monthly.", "Roses need water."])
    )
    assert query @ wages > query @ roses


@pytest.fixture(scope="module")
def results(data_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """Return what each mode finds on a real question set; the vectors are made once and kept."""
    home = str(tmp_path_factory.mktemp("home"))
    folder = data_dir / "sets" / "anthropic-docs"
    return {mode: _evaluate(folder, mode, home) for mode in ("keyword", "vector", "hybrid")}


def _evaluate(folder: Path, mode: str, home: str) -> dict[str, Any]:
    places = dict.fromkeys(("HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"), home)
    options = ["--scope", "all", "--mode", mode, "--embedder", f"local:{_MODEL}", "--json"]
    run = subprocess.run(
        [sys.executable, "-m", "roamtui", "eval", folder / "questions.jsonl", "--docs", folder / "docs", *options],
        env={**os.environ, **places},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    found: dict[str, Any] = json.loads(run.stdout)
    return found


@pytest.mark.timeout(900)
def test_vectors_find_what_is_asked(results: dict[str, dict[str, Any]]) -> None:
    assert results["vector"]["mode"] == "vector"
    assert results["vector"]["hit_at_1"] > 0.6
    assert results["vector"]["hit_at_10"] > 0.8


@pytest.mark.timeout(900)
def test_hybrid_loses_at_most_one_question_that_words_alone_find(results: dict[str, dict[str, Any]]) -> None:
    for measure in ("hit_at_5", "hit_at_10"):
        assert results["hybrid"][measure] >= results["keyword"][measure] - 1 / 42 - 1e-9
