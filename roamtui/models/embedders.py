"""Find an embedder that is available: in a running Ollama, by model2vec, or from a provider whose key is set."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from roamtui.document.library import Library
from roamtui.document.plain import sanitise_line
from roamtui.errors import UsageError
from roamtui.models.options import ModelOptions
from roamtui.models.registry import OLLAMA_LISTING, check_server_url, get_ollama_url, is_loopback, probe_server
from roamtui.models.search_models import INSTALL_ADVICE, LOCAL, BackgroundLoop, has_model2vec, is_local_embedder
from roamtui.models.secrets import get_key_variable
from roamtui.models.worker_protocol import Job, ResolvedModel
from roamtui.search.base import Searcher
from roamtui.search.vectors import EmbeddingEstimate

_OLLAMA_MODELS = (
    "nomic-embed-text",
    "mxbai-embed-large",
    "bge-m3",
    "snowflake-arctic-embed",
    "embeddinggemma",
    "qwen3-embedding",
    "granite-embedding",
    "paraphrase-multilingual",
    "all-minilm",
)
"""Prefixes of the names of embedding models in Ollama, best first."""
_PROVIDER_MODELS = (
    "openai/text-embedding-3-small",
    "mistral/mistral-embed",
    "voyage/voyage-3.5",
    "cohere/embed-v4.0",
    "gemini/gemini-embedding-001",
)
_STATIC_MODEL = f"{LOCAL}minishlab/potion-base-8M"
_STATIC_REASON = "30 MB, downloaded once from huggingface.co when you press enter"
_PULL = f'run "ollama pull {_OLLAMA_MODELS[0]}"'


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbedderOffer:
    """An embedder that can be used here, and who would receive the text."""

    name: str
    """Value for `--embedder`."""
    reason: str
    """Why it is offered, such as ``OPENAI_API_KEY is set``."""
    receiver: str = ""
    """The provider or server that receives the text; empty if the text stays on this machine."""
    input_usd: float | None = None
    """Price per token: 0 if it is free, and None if it is unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SemanticSearchOffer:
    """An offer to add semantic search ("search by meaning") for a document. Nothing has been sent yet."""

    embedder: EmbedderOffer
    estimate: EmbeddingEstimate
    """The text that would be embedded immediately."""
    make_searcher: Callable[[Library, Callable[[str], None]], Searcher | None]
    """Makes the searcher. The second argument receives a warning, in any thread, when it falls back to keywords."""


def find_embedder(
    configured: str | None, api_base: str | None, environ: Mapping[str, str], background: BackgroundLoop
) -> EmbedderOffer:
    """Find the person's embedder: the configured one, one in Ollama, model2vec, or one of a provider with a key.

    Only Ollama is asked, for the names of its models. May take a second, and a few more to start litellm.

    Args:
        configured: Name of the embedder in the settings, or None.
        api_base: URL of the configured embedder's server, or None for its default.
        environ: Environment with the keys.
        background: Looks up a provider's price.

    Raises:
        UsageError: No embedder was found. The message says what to install or set.
        ModelError: litellm does not know the configured embedder.
    """
    ollama_url = get_ollama_url(environ)
    if configured is not None:
        if is_local_embedder(configured):
            return EmbedderOffer(name=configured, reason="your configured embedder", input_usd=0.0)
        check_server_url(api_base, "embedder_api_base")
        if configured.startswith("ollama/"):
            return _offer_ollama(configured, api_base or ollama_url, "your configured embedder")
        return _offer_provider(configured, api_base, "your configured embedder", background)
    status = probe_server(ollama_url, listing=OLLAMA_LISTING)
    pulled = sorted((rank, name) for name in status.models if (rank := _rank_ollama_model(name)) is not None)
    if pulled:
        name = pulled[0][1].removesuffix(":latest")
        return _offer_ollama(f"ollama/{name}", ollama_url, f"found in Ollama at {status.url}")
    if has_model2vec():
        return EmbedderOffer(name=_STATIC_MODEL, reason=_STATIC_REASON, input_usd=0.0)
    for name in _PROVIDER_MODELS:
        if (key := get_key_variable(name.partition("/")[0], environ)) is not None:
            return _offer_provider(name, None, f"{key} is set", background)
    if status.models:
        problem = f"Ollama at {status.url} has no embedding model: {_PULL}"
    else:
        problem = f"No embedder found: {INSTALL_ADVICE}, install Ollama and {_PULL}"
    raise UsageError(f"{problem}, or set a key such as OPENAI_API_KEY.")


def _rank_ollama_model(name: str) -> int | None:
    """Return the rank of an embedding model, 0 for the best, or None for another kind of model."""
    if not name.isprintable() or " " in name or name.endswith("cloud"):  # the last kind runs on another machine
        return None
    base = name.rpartition("/")[2]
    ranks = (rank for rank, known in enumerate(_OLLAMA_MODELS) if base.startswith(known))
    return next(ranks, len(_OLLAMA_MODELS) if "embed" in base else None)


def _offer_ollama(name: str, url: str, reason: str) -> EmbedderOffer:
    server = ResolvedModel(model=name, provider="ollama_chat", api_base=url)
    receiver = "" if is_loopback(url) else f"Ollama at {sanitise_line(server.address or '')}"
    return EmbedderOffer(name=name, reason=reason, receiver=receiver, input_usd=0.0)


def _offer_provider(name: str, api_base: str | None, reason: str, background: BackgroundLoop) -> EmbedderOffer:
    job = Job(operation="describe", model=name, api_base=api_base, options=ModelOptions(retries=0))
    found = background.run(background.worker.run_to_result(job, ResolvedModel))
    if not found.is_usable:
        raise UsageError(f"{' or '.join(found.missing_keys)} is not set, which the embedder {name} needs; export it.")
    if found.api_base is not None and is_loopback(found.api_base):
        return EmbedderOffer(name=name, reason=reason, input_usd=0.0)
    price = found.input_usd if found.api_base is None else None  # litellm knows the prices of providers only
    return EmbedderOffer(name=name, reason=reason, receiver=sanitise_line(found.title), input_usd=price)
