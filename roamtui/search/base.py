"""The hits of a search, and the protocols of searchers and of the services they use."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeAlias, runtime_checkable

from roamtui.document.library import Library
from roamtui.errors import RoamtuiError
from roamtui.search.options import SearchMode

if TYPE_CHECKING:  # numpy is an extra
    import numpy as np
    from numpy.typing import NDArray

VectorArray: TypeAlias = "NDArray[np.float32]"
"""One vector, or one for each row."""
StoredVectorArray: TypeAlias = "NDArray[np.float16]"
"""The same in half the space."""
Progress = Callable[[int, int], None]
"""Called with the number of items done and the total."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A section that was found."""

    section_id: str
    score: float
    """Above 0, higher is better; comparable within one search only. By words alone a share of the best one's."""
    why: str
    """How it was found, such as ``text rank 1 · vector rank 3``."""
    snippet: str = ""
    """The sentence of the section's own text that answers best, on one line and safe to display; empty for a bare
    heading."""
    runner_up: float | None = None
    """Best score by words of another section as a share of its own, above 1 where that one is better; None where
    `score` says so itself. Fused ranks are too flat to tell how clear a hit is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """What keyword search finds, before sentences are chosen."""

    library: Library
    """In which it was found."""
    hits: tuple[Hit, ...]
    """The best first, without snippets."""
    terms: tuple[str, ...]
    """What was looked for, with what mistyped words may have meant; by these a sentence is chosen."""
    topics: tuple[str, ...] = ()
    """Sections that the conversation is about, the most telling first."""


class Searcher(Protocol):
    """Something that finds sections of one library."""

    def refresh(self, library: Library) -> None:
        """Search `library` from now on, after a file or page was loaded. If it is the same, this does nothing."""
        ...

    def search(
        self, query: str, *, limit: int = 10, within: str | None = None, earlier: Sequence[str] = ()
    ) -> tuple[Hit, ...]:
        """Return up to `limit` hits, the best first.

        Args:
            query: Any text; it is never a syntax error.
            limit: The most hits to return.
            within: Id of the section to search, subsections included; None for the whole library.
            earlier: Earlier messages of both sides, oldest first; their topics help to understand a follow-up.

        Raises:
            UnknownSectionError: `within` names no section.
        """
        ...


@runtime_checkable
class Indexable(Protocol):
    """A searcher whose index can be made before it is asked."""

    def prepare(self, tell: Progress | None = None) -> object:
        """Bring the index up to date; called in a thread."""
        ...


class EmbedKind(StrEnum):
    """What a text is to an embedder: many models treat what is looked for and what is found differently."""

    DOCUMENT = "document"
    QUERY = "query"


class Embedder(Protocol):
    """Something that turns texts into vectors. May be asked from any thread, one call at a time."""

    @property
    def name(self) -> str:
        """What the vectors are known by: two embedders with the same name give the same vectors."""
        ...

    def embed(self, texts: Sequence[str], *, kind: EmbedKind) -> VectorArray:
        """Return one row for each text, all of the same length.

        Raises:
            RoamtuiError: It failed; the message is for the person.
        """
        ...


class Reranker(Protocol):
    """Something that orders texts by how well they answer. May be asked from any thread."""

    def rerank(self, query: str, texts: Sequence[str]) -> tuple[int, ...]:
        """Return places of texts, from 0, the best first, each once; what it leaves out comes after, as it was.

        Raises:
            RoamtuiError: It gave no usable answer; the message is for the person.
        """
        ...


class Rewriter(Protocol):
    """Something that puts a follow-up as a query of its own. May be asked from any thread."""

    def rewrite(self, query: str, earlier: Sequence[str]) -> str:
        """Return a query that can be understood without what was said before.

        Raises:
            RoamtuiError: It gave no usable answer; the message is for the person.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchServices:
    """What a search works with beside the library; whoever makes it may leave out what its mode does not need."""

    embedder: Embedder | None = None
    reranker: Reranker | None = None
    rewriter: Rewriter | None = None
    cache: Path | None = None
    """Folder for vectors, None to keep none."""
    progress: Progress | None = None
    """Is told while sections are embedded."""
    on_warning: Callable[[str], None] | None = None
    """Is told in a sentence what is done without, or done again."""
    needs_vectors: bool = False
    """Whether a hybrid search fails with its embedder, rather than go on by words alone."""
    reported: set[str] = field(default_factory=set)
    """Warnings that were already given."""

    def warn_once(self, sentence: str) -> None:
        """Pass a warning on, once."""
        if self.on_warning is not None and sentence not in self.reported:
            self.reported.add(sentence)
            self.on_warning(sentence)

    def fall_back_to_keywords(self, error: RoamtuiError, mode: SearchMode) -> None:
        """Warn that the search uses keywords only.

        Raises:
            RoamtuiError: The error itself, if the mode or the caller needs vectors.
        """
        if mode is not SearchMode.HYBRID or self.needs_vectors:
            raise error
        self.warn_once(f"Fell back to keyword search: {error}")


class IndexLostError(RoamtuiError):
    """An index is no longer usable; the message says why."""

    def __init__(self, reason: str, *, is_damaged: bool) -> None:
        super().__init__(reason)
        self.is_damaged = is_damaged
        """Whether rebuilding the index would help."""
