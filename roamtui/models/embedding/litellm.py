"""Embedders of all providers, through litellm in its process; nothing here imports litellm."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from roamtui.errors import ModelError
from roamtui.models.options import ModelOptions
from roamtui.models.worker.embedding import EmbedJob
from roamtui.models.worker.jobs import Fault

if TYPE_CHECKING:
    from array import array
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from roamtui.models.background import BackgroundModels
    from roamtui.search.base import EmbedKind


class LitellmEmbedder:
    """An embedder of any provider that litellm knows. Keys come from the environment alone.

    Args:
        name: Provider and model, such as ``ollama/snowflake-arctic-embed2`` or ``openai/text-embedding-3-small``.
        background: Where requests run.
        api_base: Address of the server, None for the provider's own.
        options: Patience and retries.
    """

    def __init__(
        self,
        name: str,
        background: BackgroundModels,
        *,
        api_base: str | None = None,
        options: ModelOptions | None = None,
    ) -> None:
        self._name = name
        self._background = background
        self._api_base = api_base
        self._options = options or ModelOptions()

    @property
    def name(self) -> str:
        """What its vectors are known by."""
        return self._name

    def embed(self, texts: Sequence[str], *, kind: EmbedKind) -> NDArray[np.float32]:  # noqa: ARG002 - litellm has none
        """Return one row for each text; a passing fault is answered by asking again.

        Raises:
            ModelError: The provider gave no vectors.
        """
        import numpy as np  # noqa: PLC0415 - an extra

        rows = self._background.run(self._embed(tuple(texts)))
        return np.array(rows, dtype=np.float32)

    async def _embed(self, texts: tuple[str, ...]) -> list[array[float]]:
        job = EmbedJob(model=self._name, api_base=self._api_base, options=self._options, texts=texts)
        retries = 0
        while True:
            found = await self._background.worker.embed(job)
            if not isinstance(found, Fault):
                return found
            wait = self._options.plan_retry(found.wait_seconds, retries) if found.is_passing else None
            if wait is None:
                raise ModelError(_name_flags(found.message), retryable=found.is_retryable)
            await asyncio.sleep(wait)
            retries += 1


def _name_flags(message: str) -> str:
    """Return a sentence about a model with the flags of an embedder."""
    return message.replace("--model", "--embedder").replace("--api-base", "embedder_api_base")
