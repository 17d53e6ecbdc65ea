"""Search by meaning with the packaged model on real questions, which takes minutes: `make embeddings` runs this."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.timeout(900)


@pytest.fixture(scope="module")
def results(data_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """Return what each mode finds on a real question set."""
    folder = data_dir / "sets" / "anthropic-docs"
    modes = ("keyword", "vector", "hybrid")
    return {mode: _evaluate(folder, mode, tmp_path_factory.mktemp(mode)) for mode in modes}


def _evaluate(folder: Path, mode: str, home: Path) -> dict[str, Any]:
    places = dict.fromkeys(("HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"), str(home))
    options = ["--scope", "all", "--mode", mode, "--embedder", "auto", "--json"]
    run = subprocess.run(
        [sys.executable, "-m", "roamtui", "eval", folder / "questions.jsonl", "--docs", folder / "docs", *options],
        env={**os.environ, **places, "PYTHONPATH": ""},  # else the model is hidden
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    found: dict[str, Any] = json.loads(run.stdout)
    return found


def test_vectors_find_what_is_asked(results: dict[str, dict[str, Any]]) -> None:
    assert results["vector"]["mode"] == "vector"
    assert results["vector"]["hit_at_1"] > 0.6
    assert results["vector"]["hit_at_10"] > 0.8


def test_meaning_finds_at_least_what_words_alone_find(results: dict[str, dict[str, Any]]) -> None:
    for measure in ("hit_at_1", "hit_at_5", "hit_at_10"):
        assert results["hybrid"][measure] >= results["keyword"][measure] - 1e-9
