"""Texts into vectors by a provider: the job, what comes back, and both as frames."""

from __future__ import annotations

import base64
from array import array
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from roamtui.document.plain import plain_line, shorten
from roamtui.models.options import ModelOptions
from roamtui.models.worker.jobs import Fault
from roamtui.models.worker.targets import Target

_FLOAT = "f"
_CHAT_PROVIDER = "ollama_chat"
"""As a target of a chat names Ollama; embeddings are of its other name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbedJob:
    """One batch of texts for one embedder of one provider."""

    model: str
    api_base: str | None
    options: ModelOptions
    texts: tuple[str, ...]


def encode_vectors(vectors: Sequence[Sequence[float]]) -> list[str]:
    """Return vectors as texts a fifth as long as their numbers would be."""
    return [base64.b64encode(array(_FLOAT, vector).tobytes()).decode("ascii") for vector in vectors]


def decode_vectors(data: Sequence[str]) -> list[array[float]]:
    """Return the vectors that `encode_vectors` made `data` from."""
    return [array(_FLOAT, base64.b64decode(vector)) for vector in data]


def explain_unknown_embedder(model: str) -> Fault:
    """Return why an embedder's name leads nowhere."""
    return Fault(
        reason=f'"{shorten(plain_line(model), 80)}" names no provider that is known',
        advice="write provider/model, such as ollama/snowflake-arctic-embed2, or local:FOLDER",
    )


async def compute_vectors(litellm: Any, job: EmbedJob, target: Target) -> list[list[float]]:  # noqa: ANN401
    """Return a vector for each text, in order.

    Raises:
        Exception: Whatever litellm raises, or a reply that is no vectors.
    """
    arguments: dict[str, Any] = {
        "model": name_for_embedding(target).model,
        "input": list(job.texts),
        "timeout": job.options.wait_for_first_token(is_local=target.is_local),
        "max_retries": 0,
    }
    if not target.is_ollama:
        arguments["encoding_format"] = "float"
    if target.api_base:
        arguments["api_base"] = target.api_base
    if target.missing_keys:
        arguments["api_key"] = "none"  # clients of providers refuse to start without any
    reply = await litellm.aembedding(**arguments)
    entries = sorted(reply.data, key=lambda entry: int(entry["index"]))
    vectors = [list(map(float, entry["embedding"])) for entry in entries]
    if len(vectors) != len(job.texts) or len({len(vector) for vector in vectors}) > 1:
        raise ValueError(f"{len(vectors)} vectors of unequal length for {len(job.texts)} texts")
    return vectors


def name_for_embedding(target: Target) -> Target:
    """Return a target under the name by which litellm embeds."""
    if not target.is_ollama:
        return target
    return replace(target, model=f"ollama/{target.model.removeprefix(f'{_CHAT_PROVIDER}/')}")
