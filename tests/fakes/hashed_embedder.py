"""A real embedder without weights: texts that share runs of letters get similar vectors."""

import zlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from roamtui.errors import ModelError
from roamtui.search.lexicon import Language

DIMENSIONS = 512
_RUN_LENGTH = 4


class HashedEmbedder:
    """Counts hashed runs of four letters; records its inputs, and fails on demand."""

    def __init__(
        self,
        name: str = "hashed",
        *,
        fails_after: int | None = None,
        dimensions: int = DIMENSIONS,
        embeds_unasked: bool = True,
    ) -> None:
        self.name = name
        self.embeds_unasked = embeds_unasked
        self.languages = (Language.ENGLISH,) if embeds_unasked else None
        self._dimensions = dimensions
        self._fails_after = fails_after
        self.asked: list[str] = []
        """Every text so far, oldest first."""

    def estimate_cost(self, tokens: int) -> float | None:
        return tokens / 1_000_000

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if self._fails_after is not None and len(self.asked) >= self._fails_after:
            raise ModelError("The embedder is away; ask again.")
        self.asked += texts
        return np.array([hash_runs(text)[: self._dimensions] for text in texts], dtype=np.float32)


def hash_runs(text: str) -> list[float]:
    """Return how often each hashed run of letters occurs in a text."""
    vector = [0.0] * DIMENSIONS
    folded = " ".join(text.casefold().split())
    for start in range(max(1, len(folded) - _RUN_LENGTH + 1)):
        run = folded[start : start + _RUN_LENGTH].encode("utf-8", "surrogatepass")
        vector[zlib.crc32(run) % DIMENSIONS] += 1.0
    return vector
