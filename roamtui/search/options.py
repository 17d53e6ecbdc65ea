"""The settings of search: the table `[retrieval]` in `config.toml`."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

import msgspec
from msgspec import Meta


class SearchMode(StrEnum):
    """How to find sections."""

    OFF = "off"
    """No search: the model uses only the outline."""
    KEYWORD = "keyword"
    VECTOR = "vector"
    HYBRID = "hybrid"


class RetrievalOptions(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The search settings. Each field is a key of the table `[retrieval]`."""

    mode: SearchMode = SearchMode.KEYWORD
    embedder: str | None = None
    embedder_api_base: str | None = None
    """URL of the embedder's server."""
    index: str | None = None
    """A LanceDB database instead of the local index: a folder, s3://… or db://…"""
    limit: Annotated[int, Meta(ge=1)] | None = None
    """Maximum number of results."""
    neighbour_count: Annotated[int, Meta(ge=0)] = 0
    """Maximum number of parents, children and siblings that are added to the results."""
    chunk_size: Annotated[int, Meta(ge=50, le=8_000)] = 600
    """Maximum number of characters of a chunk."""
    rerank: Literal["off", "on"] = "off"
    """Whether a model reorders the results, by one request."""

    @property
    def needs_vectors(self) -> bool:
        """Whether sections must be embedded."""
        return self.mode in (SearchMode.VECTOR, SearchMode.HYBRID)
