"""Models on this machine: found by folder, package or name, loaded late. The real one is used where it is installed."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from roamtui.errors import ModelError, UsageError
from roamtui.models.search_help import (
    BackgroundModels,
    LitellmEmbedder,
    LocalEmbedder,
    find_model_folder,
    make_embedder,
)
from roamtui.search.base import EmbedKind

_STAND_IN = """
import numpy

class SentenceTransformer:
    def __init__(self, name):
        if "broken" in name:
            raise OSError("no such model\\x1b[31m")

    def encode_query(self, texts, **options):
        return numpy.ones((len(texts), 3))

    def encode_document(self, texts, **options):
        return numpy.zeros((len(texts), 3))
"""
_LOGGING = "def set_verbosity_error(): pass\ndef disable_progress_bar(): pass\n"
_NAMES = ("sentence_transformers", "transformers", "transformers.utils", "transformers.utils.logging", "tiny_model")


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return a folder of packages: a stand-in for sentence-transformers, and one that carries a model."""
    folder = tmp_path / "packages"
    for name, text in (
        ("sentence_transformers/__init__.py", _STAND_IN),
        ("transformers/__init__.py", ""),
        ("transformers/utils/__init__.py", ""),
        ("transformers/utils/logging.py", _LOGGING),
        ("tiny_model/__init__.py", ""),
        ("tiny_model/model/modules.json", "[]"),
    ):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    kept = {name: sys.modules.pop(name) for name in _NAMES if name in sys.modules}
    monkeypatch.syspath_prepend(folder)
    importlib.invalidate_caches()
    yield folder
    for name in _NAMES:
        sys.modules.pop(name, None)
    sys.modules.update(kept)


def test_queries_and_documents_are_encoded_as_such(packages: Path) -> None:
    embedder = LocalEmbedder("tiny-model")
    assert "sentence_transformers" not in sys.modules
    assert embedder.embed(["a", "b"], kind=EmbedKind.QUERY).tolist() == [[1.0] * 3] * 2
    assert embedder.embed(["a"], kind=EmbedKind.DOCUMENT).dtype == np.float32
    assert str(packages / "tiny_model" / "model") in embedder.name


def test_what_fails_to_load_is_told_in_a_sentence(packages: Path) -> None:
    assert packages.is_dir()
    with pytest.raises(ModelError) as caught:
        LocalEmbedder("broken/name").embed(["a"], kind=EmbedKind.QUERY)
    assert "no such model" in str(caught.value)
    assert "\x1b" not in str(caught.value)


def test_a_folder_without_a_model_is_refused(packages: Path) -> None:
    assert find_model_folder("someone/some-name") is None
    with pytest.raises(UsageError, match="holds no sentence-transformers model"):
        LocalEmbedder(str(packages))


def test_names_lead_to_their_embedders(packages: Path) -> None:
    background = BackgroundModels()
    folder = packages / "tiny_model" / "model"
    assert isinstance(make_embedder("local:tiny-model", background), LocalEmbedder)
    assert isinstance(make_embedder(str(folder), background), LocalEmbedder)
    assert isinstance(make_embedder("ollama/snowflake-arctic-embed2", background), LitellmEmbedder)
    for name in ("", "word", "two words/x", "a/\x1b"):
        with pytest.raises(UsageError, match="is no name of an embedder"):
            make_embedder(name, background)
    with pytest.raises(UsageError, match="embedder_api_base"):
        make_embedder("openai/x", background, api_base="nonsense")


def test_without_the_package_it_is_told_how_to_install_it() -> None:
    assert importlib.util.find_spec("sentence_transformers") is None
    with pytest.raises(UsageError, match=r"pip install .roamtui\[embeddings\]"):
        LocalEmbedder("tiny-model")
