"""The settings of search, its hits, and the protocols for searchers and their services."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Literal, Protocol, TypeAlias

from msgspec import Meta, Struct, field

from roamtui.errors import RoamtuiError, UsageError

if TYPE_CHECKING:  # numpy is an extra, and the settings need no library
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from roamtui.document.library import Library
    from roamtui.search.terms import TermMatcher

VectorArray: TypeAlias = "NDArray[np.float32]"
"""One vector, or one vector in each row."""
VectorRows: TypeAlias = "ArrayLike"
"""Numbers in rows of the same length."""
Progress = Callable[[int, int], None]
"""Receives the number of items that are done, and the total."""
_EMBEDDED_LENGTH_MAX = 2_000
"""Maximum embedded characters of a query. Embedders use only the first few hundred words."""


class SearchMode(StrEnum):
    """How to find sections."""

    OFF = "off"
    """No search: the model uses only the outline."""
    KEYWORD = "keyword"
    VECTOR = "vector"
    HYBRID = "hybrid"


class RetrievalOptions(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The search settings. Each field is a key of the table `[retrieval]`."""

    mode: SearchMode = SearchMode.HYBRID
    """Without an embedder, `hybrid` is `keyword`."""
    embedder: str = "auto"
    """``auto`` for a model that is installed on this machine, the folder of one, or ``provider/model``."""
    embedder_api_base: str | None = None
    """URL of the embedder's server."""
    index: str | None = None
    """A LanceDB database for vectors: a folder, s3://… or db://…"""
    limit: Annotated[int, Meta(ge=1)] | None = None
    """Maximum number of results."""
    neighbour_count: Annotated[int, Meta(ge=0)] = 0
    """Maximum number of parents, children and siblings that are added to the results."""
    chunk_size: Annotated[int, Meta(ge=50, le=8_000)] = 600
    """Maximum number of characters of a chunk."""
    rerank: Literal["off", "on"] = "off"
    """Whether a model reorders the results, by one request."""


class Hit(Struct, frozen=True, kw_only=True):
    """A section that a search found."""

    section_id: str
    score: float
    """Above 0; higher is better. In keyword search, it is a share of the best score of the same search."""
    why: str
    """How the search found the section, such as ``text rank 1 · vector rank 3``."""
    snippet: str = ""
    """The best sentence of the section's own text, on one line, safe to display; empty without text."""
    is_named: bool = False
    """Whether it is a financial statement that the query names. Such hits come first."""
    similarity: float | None = None
    """Cosine of the query and the nearest piece of the section that was compared by meaning."""


class Ranking(Struct, frozen=True, kw_only=True):
    """The result of a keyword search, without snippets."""

    library: Library
    hits: tuple[Hit, ...]
    """Best first, without snippets."""
    matcher: TermMatcher
    """Finds the terms of the query, and likely corrections of mistyped words."""
    topics: tuple[str, ...] = ()
    """Sections that the conversation is about, strongest first."""

    def add_topic(self, query: str) -> str:
        """Return a query as it is embedded: after the title of its strongest topic, and not too long."""
        titles = [self.library.node(topic_id).title for topic_id in self.topics[:1]]
        return ": ".join([*titles, query])[:_EMBEDDED_LENGTH_MAX]


class Searcher(Protocol):
    """Finds sections of one library."""

    def refresh(self, library: Library) -> None:
        """Search `library` from now on, for example after a page was loaded. It never waits for an index."""

    def prepare(self, on_progress: Progress | None = None) -> object:
        """Bring the index up to date before the first search, in a thread: it may take minutes.

        If `on_progress` raises an error, everything indexed so far is kept, and a later call continues.
        """

    def embed_ahead(self) -> bool:
        """Embed a little text ahead of searches, for a tenth of a second. Return whether some may be left."""

    def search(
        self, query: str, *, limit: int = 10, within: str | None = None, earlier: Sequence[str] = ()
    ) -> tuple[Hit, ...]:
        """Return up to `limit` hits, best first.

        Args:
            query: Any text.
            limit: Maximum number of hits.
            within: Id of the section to search with its subsections, or None for the whole library.
            earlier: Earlier messages of the person and the model, oldest first. The search favours their
                topics if the query is a follow-up.

        Raises:
            UnknownSectionError: There is no section `within`.
        """


class Embedder(Protocol):
    """Turns texts into vectors. It may be called from any thread, but only one call may run at a time."""

    @property
    def name(self) -> str:
        """Name under which vectors are stored. Embedders with the same name must compute the same vectors."""

    @property
    def is_multilingual(self) -> bool:
        """Whether it knows other languages than English."""

    def embed(self, texts: Sequence[str], *, is_query: bool = False) -> VectorRows:
        """Return a row for each text, all of one length. Some models want another prompt before a query.

        Raises:
            RoamtuiError: The embedder failed. The message is for the person.
        """


class Reranker(Protocol):
    """Orders texts by how well they answer a query. Thread-safe."""

    def rerank(self, query: str, texts: Sequence[str]) -> tuple[int, ...]:
        """Return the indexes of the texts, best first, each once.

        If some are missing, the caller adds them at the end, in their old order.

        Raises:
            RoamtuiError: There was no usable answer. The message is for the person.
        """


class SearchServices(Struct, frozen=True, kw_only=True):
    """Models and callbacks for a search. Most search modes need only some of them."""

    embedder: Embedder | None = None
    meaning: Embedder | None = None
    """Embedder on this machine that reorders the hits of keywords."""
    reranker: Reranker | None = None
    progress: Progress | None = None
    """Called while sections are embedded."""
    on_warning: Callable[[str], None] | None = None
    """Receives a sentence when the search falls back to another method or rebuilds an index."""
    fails_without_vectors: bool = False
    """Whether a hybrid search fails with its embedder, instead of using keywords. Then no deadline holds."""
    given_warnings: set[str] = field(default_factory=set)

    def warn_once(self, sentence: str) -> None:
        """Give a warning, unless the same one was given before."""
        if self.on_warning is not None and sentence not in self.given_warnings:
            self.given_warnings.add(sentence)
            self.on_warning(sentence)

    def warn_of_fallback(self, error: RoamtuiError, mode: SearchMode) -> None:
        """Warn that a search continues without vectors because of `error`.

        Raises:
            RoamtuiError: `error` itself, if keywords must not replace vectors, or the index cannot be used.
        """
        needs_vectors = mode is not SearchMode.HYBRID or self.fails_without_vectors
        if needs_vectors or isinstance(error, (IndexLostError, UsageError)):
            raise error
        self.warn_once(f"Searched by words only, because search by meaning failed: {error}")


class IndexLostError(RoamtuiError):
    """An index cannot be used. The message says why."""
