"""Which embedder is offered, and who would receive the text."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from roamtui.errors import ModelError, UsageError
from roamtui.models.embedders import EmbedderOffer, find_embedder
from roamtui.models.litellm_model import WorkerProcess
from roamtui.models.search_models import BackgroundLoop
from tests.fakes.model_servers import FakeEmbeddingServer

NOWHERE = {"OLLAMA_API_BASE": "http://127.0.0.1:9"}
"""A port at which nothing listens."""


@pytest.fixture(scope="module")
def shared_background(forking_command: tuple[str, ...]) -> Iterator[BackgroundLoop]:
    """Return one process for all questions about providers."""
    background = BackgroundLoop()
    background.worker = WorkerProcess(command=forking_command)
    yield background
    background.close()


@pytest.fixture(autouse=True)
def without_model2vec(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "model2vec", None)


def find(
    background: BackgroundLoop, environ: Mapping[str, str], configured: str | None = None, api_base: str | None = None
) -> EmbedderOffer:
    return find_embedder(configured, api_base, environ, background)


@pytest.mark.parametrize(
    ("models", "found"),
    [
        (("bge-m3:567m", "llama3.2:latest", "nomic-embed-text:latest"), "ollama/nomic-embed-text"),
        (("bge-m3:567m", "mxbai-embed-large:335m"), "ollama/mxbai-embed-large:335m"),
        (("someone/own-embedder:latest", "all-minilm:latest"), "ollama/all-minilm"),
        (("llama3.2:latest", "someone/own-embedder:q4"), "ollama/someone/own-embedder:q4"),
    ],
)
def test_the_best_known_embedding_model_in_ollama_comes_first(models: tuple[str, ...], found: str) -> None:
    with FakeEmbeddingServer(models=models) as ollama:
        background = BackgroundLoop()
        offer = find(background, {"OLLAMA_API_BASE": ollama.origin, "OPENAI_API_KEY": "k"})
        assert (offer.name, offer.receiver, offer.input_usd) == (found, "", 0.0)
        assert background.worker.pid is None
        assert (ollama.listed, ollama.requests) == (1, [])


def test_without_an_embedding_model_in_ollama_it_is_told_which_to_pull() -> None:
    models = ("llama3.2:latest", "odd embed:1", "qwen3-embedding:480b-cloud")
    with FakeEmbeddingServer(models=models) as ollama, pytest.raises(UsageError) as caught:
        find(BackgroundLoop(), {"OLLAMA_API_BASE": ollama.origin})
    assert 'has no embedding model: run "ollama pull nomic-embed-text", or set a key' in str(caught.value)


def test_without_anything_it_is_told_what_to_install() -> None:
    with pytest.raises(
        UsageError,
        match=r"No embedder found: install model2vec .*, install Ollama .* or set a key such as OPENAI_API_KEY",
    ):
        find(BackgroundLoop(), NOWHERE)


def test_a_static_model_is_offered_before_a_provider(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "model2vec")
    pytest.importorskip("model2vec")
    offer = find(BackgroundLoop(), {**NOWHERE, "OPENAI_API_KEY": "k"})
    assert (offer.name, offer.receiver, offer.input_usd) == ("local:minishlab/potion-base-8M", "", 0.0)
    assert "downloaded once from huggingface.co" in offer.reason


@pytest.mark.usefixtures("forked_models")
@pytest.mark.parametrize(
    ("key", "name", "receiver"),
    [
        ("OPENAI_API_KEY", "openai/text-embedding-3-small", "OpenAI"),
        ("MISTRAL_API_KEY", "mistral/mistral-embed", "Mistral"),
        ("VOYAGE_API_KEY", "voyage/voyage-3.5", "Voyage AI"),
        ("COHERE_API_KEY", "cohere/embed-v4.0", "Cohere"),
        ("GOOGLE_API_KEY", "gemini/gemini-embedding-001", "Gemini"),
    ],
)
def test_a_provider_with_a_key_is_offered_with_its_price(key: str, name: str, receiver: str) -> None:
    offer = find(BackgroundLoop({**NOWHERE, key: "k"}), {**NOWHERE, key: "k"})
    assert (offer.name, offer.receiver, offer.reason) == (name, receiver, f"{key} is set")
    assert offer.input_usd is not None
    assert 0 < offer.input_usd < 1e-6


def test_the_configured_embedder_comes_first_and_its_server_is_named(
    tmp_path: Path, shared_background: BackgroundLoop
) -> None:
    with FakeEmbeddingServer(models=("nomic-embed-text",)) as ollama:
        environ = {"OLLAMA_API_BASE": ollama.origin}
        local = find(shared_background, environ, str(tmp_path))
        assert (local.name, local.receiver) == (str(tmp_path), "")
        near = find(shared_background, environ, "openai/x", "http://127.0.0.1:8000/v1")
        assert (near.name, near.receiver, near.input_usd) == ("openai/x", "", 0.0)
        far = find(shared_background, environ, "openai/text-embedding-3-small", "https://example.org/v1")
        assert (far.receiver, far.input_usd) == ("example.org", None)
        other = find(shared_background, {"OLLAMA_API_BASE": "http://gpu-box:11434"}, "ollama/bge-m3")
        assert (other.receiver, other.input_usd) == ("Ollama at gpu-box:11434", 0.0)
        assert ollama.listed == 0


def test_a_configured_embedder_that_cannot_be_used_is_told(shared_background: BackgroundLoop) -> None:
    with pytest.raises(UsageError, match="VOYAGE_API_KEY is not set, which the embedder"):
        find(shared_background, NOWHERE, "voyage/voyage-3.5")
    with pytest.raises(ModelError, match="names no provider"):
        find(shared_background, NOWHERE, "nowhere/x")
    with pytest.raises(UsageError, match="embedder_api_base"):
        find(shared_background, NOWHERE, "openai/x", "nonsense")
