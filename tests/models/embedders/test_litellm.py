"""Embedders of providers, through the real litellm in its process, against servers on loopback."""

from __future__ import annotations

import numpy as np
import pytest

from roamtui.errors import ModelError
from roamtui.models.options import ModelOptions
from roamtui.models.search_help import BackgroundModels, LitellmEmbedder
from roamtui.search.base import EmbedKind
from tests.fakes.embedding_server import FakeEmbeddingServer
from tests.fakes.hashed_embedder import hash_runs
from tests.models.conftest import OPENAI_KEY

OPTIONS = ModelOptions(retry_wait_seconds=0.01, retries=2, cancel_seconds=5.0)
TEXTS = ("late fees", "roses — weiß 雪", "")


def _make(background: BackgroundModels, name: str, api_base: str) -> LitellmEmbedder:
    return LitellmEmbedder(name, background, api_base=api_base, options=OPTIONS)


@pytest.mark.parametrize("name", ["openai/text-embedding-3-small", "ollama/snowflake-arctic-embed2"])
def test_each_text_has_its_vector(background: BackgroundModels, name: str) -> None:
    with FakeEmbeddingServer() as server:
        base = server.openai_url if name.startswith("openai/") else server.url
        embedder = _make(background, name, base)
        rows = embedder.embed(TEXTS, kind=EmbedKind.DOCUMENT)
    assert embedder.name == name
    assert rows.dtype == np.float32
    assert np.array_equal(rows, np.array([hash_runs(text) for text in TEXTS], dtype=np.float32))
    path, body = server.requests[0]
    assert path == ("/v1/embeddings" if name.startswith("openai/") else "/api/embed")
    assert body["model"] == name.partition("/")[2]
    assert server.texts == list(TEXTS)


def test_a_passing_fault_is_answered_by_asking_again(background: BackgroundModels) -> None:
    with FakeEmbeddingServer(503, 429) as server:
        rows = _make(background, "openai/x", server.openai_url).embed(["a"], kind=EmbedKind.QUERY)
    assert rows.shape == (1, 512)


def test_a_lasting_fault_is_one_sentence_about_the_embedder(background: BackgroundModels) -> None:
    with FakeEmbeddingServer(401) as server, pytest.raises(ModelError) as caught:
        _make(background, "openai/x", server.openai_url).embed(["a"], kind=EmbedKind.QUERY)
    assert "OPENAI_API_KEY" in str(caught.value)
    assert "--embedder" in str(caught.value)
    assert "--model" not in str(caught.value)
    assert OPENAI_KEY not in str(caught.value)


def test_a_reply_without_all_vectors_is_no_reply(background: BackgroundModels) -> None:
    with FakeEmbeddingServer(dropped=1) as server, pytest.raises(ModelError, match="2 vectors"):
        _make(background, "openai/x", server.openai_url).embed(TEXTS, kind=EmbedKind.DOCUMENT)


def test_a_missing_key_and_an_unknown_provider_are_told(background: BackgroundModels) -> None:
    with pytest.raises(ModelError, match="MISTRAL_API_KEY is not set"):
        LitellmEmbedder("mistral/mistral-embed", background).embed(["a"], kind=EmbedKind.QUERY)
    with pytest.raises(ModelError, match='"nowhere/x" names no provider'):
        LitellmEmbedder("nowhere/x", background).embed(["a"], kind=EmbedKind.QUERY)
