"""The settings of search, its hits, and the protocols for its services."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple, Protocol, TypeAlias

from msgspec import Meta, Struct, field

from roamtui.errors import RoamtuiError

if TYPE_CHECKING:  # numpy is an extra, and the settings need no library
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from roamtui.convert.converted import ProgressCallback
    from roamtui.document.library import Library
    from roamtui.search.lexicon import Language
    from roamtui.search.terms import TermMatcher
    from roamtui.text import Span

VectorArray: TypeAlias = "NDArray[np.float32]"
"""One vector, or one vector in each row."""
VectorRows: TypeAlias = "ArrayLike"
"""Numbers in rows of the same length."""
Comparison = Callable[[Sequence[str], Sequence[str]], Sequence[float]]
"""Returns how near each text is to some queries in meaning: the mean of the cosines; none if nothing can
compare them."""
NEAR_SIMILARITY_MIN = 0.39
"""Minimum cosine of a section that is near a query in meaning. Of 32 answerable questions in everyday words,
one shares no word with the document and is below it. Queries of invented words have at most 0.18."""


RELATED_HEADING = "Related · closest first"
"""Stands above results that lack the words that were searched for."""


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
    limit: Annotated[int, Meta(ge=1, le=10_000)] | None = None
    """Maximum number of results."""
    neighbour_count: Annotated[int, Meta(ge=0, le=10_000)] = 0
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
    """How the search found the section, such as ``text rank 1 · meaning rank 3``."""
    snippet: str = ""
    """The best sentence of the section's own text, on one line, safe to display; empty unless asked for."""
    is_related: bool = False
    """Whether it has no word of the query, but is near it in meaning or beside a hit; set with `snippet`."""
    is_asked_for: bool = False
    """Whether the query names it by number or as a statement, or the person opened it. It comes first."""
    is_statement: bool = False
    """Whether it is asked for as a financial statement."""
    similarity: float | None = None
    """Cosine of the query and the nearest piece of the section that was compared by meaning."""
    piece: Span | None = None
    """The piece of its text that is nearest to the query in meaning, if that is known."""


class Ranking(Struct, frozen=True, kw_only=True):
    """The result of a keyword search."""

    library: Library
    hits: tuple[Hit, ...]
    """Best first, without snippets."""
    matcher: TermMatcher
    """Finds the terms of the query, and likely corrections of its mistyped words."""
    topics: tuple[str, ...] = ()
    """Sections that the conversation is about, strongest first."""


class Embedder(Protocol):
    """Turns texts into vectors. Thread-safe."""

    @property
    def name(self) -> str:
        """Name under which vectors are stored. Embedders with the same name must compute the same vectors."""

    @property
    def embeds_unasked(self) -> bool:
        """Whether it may embed without being asked, because it runs in this program and costs nothing."""

    @property
    def languages(self) -> Collection[Language] | None:
        """The languages that it can compare, or None for all."""

    def estimate_cost(self, tokens: int) -> float | None:
        """Return the cost of embedding a number of tokens, in dollars, or None if it is unknown."""

    def embed(self, texts: Sequence[str]) -> VectorRows:
        """Return a row for each text, all of one length.

        If the embedder fails, it raises a `RoamtuiError` whose message is for the person.
        """


Reranker = Callable[[str, Sequence[str]], tuple[int, ...]]
"""Orders texts by how well they answer a query. Thread-safe.

It returns the indexes of the texts, or of the best ones, best first, each once. Without a usable answer, it
raises a `RoamtuiError` whose message is for the person.
"""


class EmbeddingPlan(Struct, frozen=True, kw_only=True):
    """How much text an embedder has yet to read."""

    embedder: str
    sections: int
    tokens: int
    cost_usd: float | None


class VectorCoverage(NamedTuple):
    """How many of a library's sections that have a text of their own can be compared by meaning."""

    compared: int = 0
    total: int = 0
    """0 if only words are searched."""

    @property
    def is_complete(self) -> bool:
        """Whether nothing is left to compare."""
        return self.compared == self.total

    @property
    def share(self) -> str:
        """For example "240 of 900 sections with text"."""
        return f"{self.compared:,} of {self.total:,} sections with text"

    def format(self) -> str:
        """Return for example "240 of 900 sections with text compared by meaning"."""
        return f"{self.share} compared by meaning"


class SearchServices(Struct, frozen=True, kw_only=True):
    """Models and callbacks for a search. Most search modes need only some of them."""

    embedder: Embedder | None = None
    reranker: Reranker | None = None
    on_progress: ProgressCallback | None = None
    """Called while sections are embedded."""
    on_warning: Callable[[str], None] | None = None
    """Receives a sentence when the search falls back to another method or rebuilds an index."""
    needs_all_vectors: bool = False
    """Whether all sections are embedded before the first search, which fails if the embedder fails."""
    given_warnings: set[str] = field(default_factory=set)

    def warn_once(self, sentence: str) -> None:
        """Give a warning, unless the same one was given before."""
        if self.on_warning is not None and sentence not in self.given_warnings:
            self.given_warnings.add(sentence)
            self.on_warning(sentence)


class IndexLostError(RoamtuiError):
    """An index cannot be used. The message says why."""
