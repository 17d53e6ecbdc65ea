"""What a person may set about search: the keys of the settings' table `[retrieval]`, six of them flags."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from roamtui.errors import UsageError
from roamtui.option_fields import option

_CHUNK_SIZE_MIN = 50
_CHUNK_SIZE_MAX = 8_000


class SearchMode(StrEnum):
    """How sections are found."""

    OFF = "off"
    """Not at all: the outline alone shows the way."""
    KEYWORD = "keyword"
    VECTOR = "vector"
    HYBRID = "hybrid"


class Rerank(StrEnum):
    """Whether a model orders what was found."""

    OFF = "off"
    SCORES = "scores"
    """It gives each section 0 to 10, all in one call."""
    CHOOSE = "choose"
    """It names the best ones, the best first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RetrievalOptions:
    """How sections are found. Each field is a key of the settings' table `[retrieval]`, six are flags too."""

    mode: SearchMode = option(SearchMode.KEYWORD, "how to search", name="--mode")
    embedder: str | None = option(
        None,
        "ollama/MODEL, openai/MODEL or another of litellm's; local:NAME or a folder for one on this machine",
        name="--embedder",
    )
    embedder_api_base: str | None = option(None, "address of the embedder's server")
    index: str | None = option(
        None,
        "a LanceDB database in place of the index on this machine: a folder, s3://… or db://…",
        name="--index",
    )
    limit: int | None = option(None, "sections at most, whoever searches", low=1, kind=int, name="--limit")
    max_tokens: int | None = option(None, "tokens of all sections found, at most", low=1, kind=int)
    score_threshold: float = option(0.0, "leave out what has less than this share of the best score", high=1)
    keyword_weight: float = option(1.0, "of the list by words")
    vector_weight: float = option(0.4, "of the list by vectors")
    trust_words: bool = option(True, "let vectors count less, and move what is first less, the clearer words find")
    follow_up_weight: float = option(
        2.0, "of the list by vectors where the conversation says what a follow-up is about"
    )
    heading_boost: float = option(3.0, "of a word in a section's title, where one in its text is 1")
    path_boost: float = option(1.0, "of a word in the titles above and the file's path")
    vector_top: int = option(100, "sections by vectors at most", low=1)
    candidates: int = option(100, "sections by words at most", low=1)
    fusion_k: int = option(60, "constant of reciprocal rank fusion", low=1)
    parent_weight: float = option(0.75, "of a section's score that its parent gets", high=1)
    child_weight: float = option(0.7, "of a section's score that its children get", high=1)
    sibling_weight: float = option(0.6, "of a section's score that those beside it get", high=1)
    neighbour_depth: int = option(1, "steps from a section to its neighbours", high=5)
    neighbour_count: int = option(0, "neighbours that may join in")
    siblings_per_node: int = option(2, "sections beside one, and below one, that are its neighbours", low=1)
    chunk_size: int = option(600, "characters of a chunk", low=_CHUNK_SIZE_MIN, high=_CHUNK_SIZE_MAX)
    chunk_overlap: int = option(0, "characters that a chunk repeats of the one before")
    rerank: Rerank = option(Rerank.OFF, "let the model order what was found; it costs a request", name="--rerank")
    rerank_count: int = option(20, "sections that the model orders", low=2, high=100)
    rewrite: bool = option(
        False,
        "let the model put a follow-up as a question of its own; it costs a request",
        name="--rewrite",
    )

    @property
    def needs_vectors(self) -> bool:
        """Whether sections have to be embedded."""
        return self.mode in (SearchMode.VECTOR, SearchMode.HYBRID)

    def check(self) -> None:
        """Refuse options that do not go together.

        Raises:
            UsageError: The message names them.
        """
        if 2 * self.chunk_overlap > self.chunk_size:
            raise UsageError(
                f"chunk_overlap {self.chunk_overlap} is more than half of chunk_size {self.chunk_size}. Lower it."
            )
        if not (self.keyword_weight or self.vector_weight):
            raise UsageError("keyword_weight and vector_weight are both 0. Raise one of them.")
