"""The settings of search: keys of the table `[retrieval]` in `config.toml`, some with a flag."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from roamtui.errors import UsageError
from roamtui.option_fields import option


class SearchMode(StrEnum):
    """How to find sections."""

    OFF = "off"
    """No search: the model uses only the outline."""
    KEYWORD = "keyword"
    VECTOR = "vector"
    HYBRID = "hybrid"


class Rerank(StrEnum):
    """Whether and how a model reranks the results."""

    OFF = "off"
    SCORES = "scores"
    """The model rates every section from 0 to 10, in one call."""
    CHOOSE = "choose"
    """The model names the best sections, best first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrievalOptions:
    """The search settings. Each field is a key of the table `[retrieval]`. Fields with a `name` are also flags."""

    mode: SearchMode = option(SearchMode.KEYWORD, "how to search", name="--mode")
    embedder: str | None = option(
        None,
        "ollama/MODEL, openai/MODEL or another of litellm's; local:NAME or a folder for one on this machine",
        name="--embedder",
    )
    embedder_api_base: str | None = option(None, "URL of the embedder's server")
    index: str | None = option(
        None, "a LanceDB database instead of the local index: a folder, s3://… or db://…", name="--index"
    )
    limit: int | None = option(None, "maximum number of results", low=1, kind=int, name="--limit")
    max_tokens: int | None = option(None, "maximum tokens over all results", low=1, kind=int)
    score_threshold: float = option(0.0, "drop results below this share of the best score", high=1)
    keyword_weight: float = option(1.0, "weight of keyword results")
    vector_weight: float = option(0.4, "weight of vector results")
    trust_words: bool = option(True, "trust clear keyword results: vectors count less and do not replace the first one")
    follow_up_weight: float = option(2.0, "weight of vector results for a follow-up to a known topic")
    heading_boost: float = option(3.0, "weight of a word in a title; 1 is a word in the text")
    path_boost: float = option(1.0, "weight of a word in the titles above or the file's path")
    vector_top: int = option(100, "maximum number of vector results", low=1)
    candidates: int = option(100, "maximum number of keyword results", low=1)
    fusion_k: int = option(60, "constant k of reciprocal rank fusion", low=1)
    parent_weight: float = option(0.75, "share of a section's score that its parent gets", high=1)
    child_weight: float = option(0.7, "share of a section's score that its children get", high=1)
    sibling_weight: float = option(0.6, "share of a section's score that its siblings get", high=1)
    neighbour_depth: int = option(1, "steps from a section to its neighbours", high=5)
    neighbour_count: int = option(0, "maximum number of neighbours added to the results")
    siblings_per_node: int = option(2, "maximum number of siblings, and of children, per section", low=1)
    chunk_size: int = option(600, "maximum characters of a chunk", low=50, high=8_000)
    chunk_overlap: int = option(0, "characters repeated from the previous chunk")
    rerank: Rerank = option(Rerank.OFF, "rerank results with the model (one request)", name="--rerank")
    rerank_count: int = option(20, "number of results that the model reranks", low=2, high=100)

    @property
    def needs_vectors(self) -> bool:
        """Whether sections must be embedded."""
        return self.mode in (SearchMode.VECTOR, SearchMode.HYBRID)

    @property
    def chunking(self) -> tuple[int, int]:
        """Maximum length of a chunk, and number of characters that it repeats from the previous one."""
        return self.chunk_size, self.chunk_overlap

    def check(self) -> None:
        """Reject options that contradict each other.

        Raises:
            UsageError: The message names the options.
        """
        if 2 * self.chunk_overlap > self.chunk_size:
            raise UsageError(
                f"chunk_overlap {self.chunk_overlap} is more than half of chunk_size {self.chunk_size}. Lower it."
            )
        if not (self.keyword_weight or self.vector_weight):
            raise UsageError("keyword_weight and vector_weight are both 0. Raise one of them.")
