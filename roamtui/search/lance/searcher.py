"""`LanceSearcher`: finds sections of one library in a LanceDB database, ranked by LanceDB."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING

from roamtui.document.library import Library
from roamtui.errors import RoamtuiError, UnknownSectionError, UsageError
from roamtui.search.base import EmbedKind, Hit, IndexLostError, Progress, SearchParts
from roamtui.search.lance.database import Database
from roamtui.search.lance.passages import Found, Passages
from roamtui.search.options import RetrievalOptions, SearchMode
from roamtui.search.snippets import make_snippet, read_own_text
from roamtui.search.terms import query_terms
from roamtui.search.vector_index import normalise_rows
from roamtui.search.vector_store import VectorStore

if TYPE_CHECKING:  # numpy is an extra
    import numpy as np
    from numpy.typing import NDArray

_QUERY_LENGTH_MAX = 2_000
_LIST_NAMES = {SearchMode.KEYWORD: "text", SearchMode.VECTOR: "vector", SearchMode.HYBRID: "hybrid"}


class LanceSearcher:
    """Finds sections by words, by vectors or by LanceDB's hybrid query. May be asked from any thread.

    Args:
        library: What is searched; the first search brings the database up to date with it.
        options: Name the database, the mode and the size of chunks.
        parts: What the mode works with; vectors need an embedder.
    """

    def __init__(self, library: Library, options: RetrievalOptions, parts: SearchParts) -> None:
        self._library = library
        self._options = options
        self._parts = parts
        self._lock = threading.Lock()
        self._passages: Passages | None = None

    def refresh(self, library: Library) -> None:
        """Search `library` from now on; only what changed is written."""
        self._library = library

    def prepare(self, tell: Progress | None = None) -> Passages:
        """Return what is searched, brought up to date now rather than by the first search.

        Args:
            tell: Is told how many sections are written, and of how many.
        """
        with self._lock:
            if self._passages is None or self._passages.library is not self._library:
                self._passages = self._open(tell)
            return self._passages

    def search(
        self,
        query: str,
        *,
        limit: int = 10,
        within: str | None = None,
        earlier: Sequence[str] = (),  # noqa: ARG002 - LanceDB knows no conversation
    ) -> tuple[Hit, ...]:
        """Return up to `limit` hits, the best first. See `Searcher`.

        Raises:
            UnknownSectionError: `within` names no section.
            RoamtuiError: The database failed, or the embedder, and words alone are not wanted.
        """
        passages = self.prepare()
        library = passages.library
        if within is not None and within not in library:
            raise UnknownSectionError(within)
        query = query[:_QUERY_LENGTH_MAX]
        terms = query_terms(query)
        if limit < 1 or not terms:
            return ()
        vector = self._embed(query) if passages.has_vectors else None
        mode = self._options.mode if vector is not None else SearchMode.KEYWORD
        found = passages.find(
            "" if mode is SearchMode.VECTOR else " ".join(terms),
            vector,
            limit=limit,
            within=within if within != library.root_id else None,
        )
        best = found[0].score if found and mode is SearchMode.KEYWORD else 1.0
        return tuple(
            Hit(
                section_id=section.section_id,
                score=section.score / best,
                snippet=make_snippet(read_own_text(library, section.section_id), terms),
                why=f"{_LIST_NAMES[mode]} rank {rank}",
                rival=_find_rival(found, section) if mode is not SearchMode.KEYWORD else None,
            )
            for rank, section in enumerate(found, start=1)
        )

    def _open(self, tell: Progress | None) -> Passages:
        options, parts = self._options, self._parts
        assert options.index is not None
        database = Database(options.index)
        chunking = (options.chunk_size, options.chunk_overlap)
        if options.needs_vectors:
            assert parts.embedder is not None
            store = VectorStore(parts.cache)
            try:
                vectors = (parts.embedder, store)
                return Passages(database, self._library, chunking, vectors, tell=tell, progress=parts.progress)
            except (IndexLostError, UsageError):
                raise
            except RoamtuiError as error:
                parts.do_without_vectors(error, options.mode)
            finally:
                store.close()
                if store.problem:
                    parts.say(store.problem)
        return Passages(database, self._library, chunking, tell=tell)

    def _embed(self, query: str) -> NDArray[np.float32] | None:
        """Return a query as a vector, None where words are searched for alone."""
        embedder = self._parts.embedder
        assert embedder is not None
        try:
            made = embedder.embed([query], kind=EmbedKind.QUERY)
        except RoamtuiError as error:
            self._parts.do_without_vectors(error, self._options.mode)
            return None
        row: NDArray[np.float32] = normalise_rows(made)[0]
        return row


def _find_rival(found: Sequence[Found], section: Found) -> float:
    """Return the best score by words of another section as a share of that of one; infinite where it has none."""
    other = max((one.text_score for one in found if one is not section), default=0.0)
    return other / section.text_score if section.text_score else float("inf")
