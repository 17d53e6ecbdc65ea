"""`FusedSearcher`: lists by words, vectors and titles into one, with neighbours, rewritten and reranked by a model."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

from roamtui.errors import RoamtuiError
from roamtui.search.base import Hit, SearchMode
from roamtui.search.clarity import find_rival, measure_doubt, put_clear_first
from roamtui.search.fusion import RankedList, describe_ranks, fuse_lists
from roamtui.search.neighbours import Neighbour, NeighbourRules, find_neighbours, find_openings
from roamtui.search.options import Rerank
from roamtui.search.snippets import make_snippet
from roamtui.search.terms import query_terms
from roamtui.search.title_ranking import TitleIndex
from roamtui.search.vector_index import VectorIndex, open_vectors
from roamtui.search.vector_store import VectorStore

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from pathlib import Path

    from roamtui.document.library import Library
    from roamtui.search.base import Embedder, Reranker, Rewriter
    from roamtui.search.keyword import KeywordSearcher
    from roamtui.search.options import RetrievalOptions
    from roamtui.search.vector_index import Progress, VectorRanker

_QUERY_LENGTH_MAX = 2_000
"""Characters of a query that are embedded; embedders take no more than some hundred words to heart."""
_JUDGED_LENGTH = 800
"""Characters of a section that a model is shown to judge it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchParts:
    """What a search works with beside the library; whoever makes it may leave out what its mode does not need."""

    embedder: Embedder | None = None
    reranker: Reranker | None = None
    rewriter: Rewriter | None = None
    cache: Path | None = None
    """Folder for vectors, None to keep none."""
    progress: Progress | None = None
    """Is told while sections are embedded."""
    tell: Callable[[str], None] | None = None
    """Is told in a sentence what is done without, or done again."""
    vectors_uri: str | None = None
    """A LanceDB database that holds the vectors of the library, in place of memory."""
    needs_vectors: bool = False
    """Whether a hybrid search fails with its embedder, rather than go on by words alone."""


@dataclass(frozen=True, slots=True)
class _State:
    """What is made at the first search of a library."""

    titles: TitleIndex | None
    vectors: VectorRanker | None


class FusedSearcher:
    """Finds sections of one library in several ways at once. May be asked from any thread.

    Args:
        library: What is searched; it is embedded at the first search.
        keyword: Searches the same library by words.
        options: What is weighed.
        parts: What it works with; vectors need an embedder.
    """

    def __init__(
        self, library: Library, keyword: KeywordSearcher, options: RetrievalOptions, parts: SearchParts
    ) -> None:
        self._library = library
        self._keyword = keyword
        self._options = options
        self._parts = parts
        self._lock = threading.Lock()
        self._state: _State | None = None
        self._told: set[str] = set()

    def refresh(self, library: Library) -> None:
        """Search `library` from now on; only text that was never embedded will be."""
        with self._lock:
            if library is not self._library:
                self._library = library
                self._state = None
        self._keyword.refresh(library)

    def search(
        self, query: str, *, limit: int = 10, within: str | None = None, earlier: Sequence[str] = ()
    ) -> tuple[Hit, ...]:
        """Return up to `limit` hits, the best first; none for no words, for which nobody is asked. See `Searcher`.

        Raises:
            UnknownSectionError: `within` names no section.
            RoamtuiError: The embedder failed, and words alone are not wanted.
        """
        library, state = self._prepare()
        inside = _list_inside(library, within)
        if not query.strip():
            return ()
        asked = self._rewrite(query, earlier)
        if asked is not None:
            query, earlier = asked, ()
        options = self._options
        ranking = self._keyword.rank(query, limit=max(limit, options.candidates), within=within, earlier=earlier)
        topic = library.title_of(ranking.topics[0]) if ranking.topics else ""
        lists = [
            RankedList(
                name="text",
                weight=0.0 if options.mode is SearchMode.VECTOR else options.keyword_weight,
                section_ids=tuple(section.section_id for section in ranking.sections),
            ),
            *self._rank_otherwise(state, query, topic, inside, measure_doubt(ranking.sections)),
        ]
        scores = fuse_lists(lists, options.fusion_k)
        joined = self._find_company(library, scores, inside)
        whole = scores | {section_id: neighbour.score for section_id, neighbour in joined.items()}
        order = sorted(whole, key=lambda section_id: -whole[section_id])
        descending = [whole[section_id] for section_id in order]
        if options.mode is SearchMode.HYBRID and options.trust_words and not topic:
            order = put_clear_first(order, ranking.sections)
        order, judged = self._rerank(library, query, order)
        terms = ranking.terms or query_terms(query)
        return tuple(
            Hit(
                section_id=section_id,
                score=score,
                snippet=make_snippet(_read_text(library, section_id), terms),
                why=_describe(lists, section_id, joined.get(section_id), judged),
                rival=find_rival(ranking.sections, section_id),
            )
            for section_id, score in zip(order[:limit], descending, strict=False)
        )

    def _prepare(self) -> tuple[Library, _State]:
        with self._lock:
            if self._state is None:
                titles = TitleIndex(self._library) if self._options.mode is SearchMode.HYBRID else None
                self._state = _State(titles, self._embed() if self._options.mode is not SearchMode.KEYWORD else None)
            return self._library, self._state

    def _embed(self) -> VectorRanker | None:
        """Return the library as vectors, None where the embedder failed and words can do without."""
        options, embedder = self._options, self._parts.embedder
        assert embedder is not None
        store = VectorStore(self._parts.cache)
        try:
            make = VectorIndex if self._parts.vectors_uri is None else open_vectors(self._parts.vectors_uri)
            chunking = (options.chunk_size, options.chunk_overlap)
            index = make(self._library, embedder, store, chunking, self._parts.progress)
        except RoamtuiError as error:
            self._do_without_vectors(error)
            return None
        finally:
            store.close()
            if store.problem:
                self._tell(store.problem)
        if index.replaced_model is not None:
            self._tell(f"Embedded again by {embedder.name}: the vectors that were kept are of {index.replaced_model}.")
        return index

    def _rank_otherwise(
        self, state: _State, query: str, topic: str, inside: Collection[str] | None, doubt: float
    ) -> list[RankedList]:
        options = self._options
        lists = []
        if state.vectors is not None:
            found = self._rank_by_vectors(state.vectors, f"{topic}: {query}" if topic else query, inside)
            weight = self._weigh_vectors(doubt, is_follow_up=bool(topic))
            lists.append(RankedList(name="vector", weight=weight, section_ids=found))
        if state.titles is not None and options.title_weight:
            found = state.titles.rank(query, limit=options.candidates, within=inside)
            lists.append(RankedList(name="title", weight=options.title_weight, section_ids=found))
        return lists

    def _rank_by_vectors(self, vectors: VectorRanker, query: str, inside: Collection[str] | None) -> tuple[str, ...]:
        try:
            found = vectors.rank(query[:_QUERY_LENGTH_MAX], limit=self._options.vector_top, within=inside)
        except RoamtuiError as error:
            self._do_without_vectors(error)
            return ()
        return tuple(section_id for section_id, _ in found)

    def _weigh_vectors(self, doubt: float, *, is_follow_up: bool) -> float:
        """Return what the list by vectors counts; a follow-up's words say little, so that they are not trusted."""
        options = self._options
        if options.mode is not SearchMode.HYBRID:
            return 1.0
        if is_follow_up:
            return options.follow_up_weight
        return options.vector_weight * (doubt if options.trust_words else 1.0)

    def _find_company(
        self, library: Library, scores: dict[str, float], inside: Collection[str] | None
    ) -> dict[str, Neighbour]:
        options = self._options
        rules = NeighbourRules(
            parent=options.parent_weight,
            child=options.child_weight,
            sibling=options.sibling_weight,
            depth=options.neighbour_depth,
            count=options.neighbour_count,
            siblings_per_node=options.siblings_per_node,
        )
        joined = find_neighbours(library, scores, rules, inside)
        return find_openings(library, scores, options.top_files, options.parent_weight, inside) | joined

    def _rewrite(self, query: str, earlier: Sequence[str]) -> str | None:
        rewriter = self._parts.rewriter
        if rewriter is None or not earlier:
            return None
        try:
            return rewriter.rewrite(query, earlier)
        except RoamtuiError as error:
            self._tell(f"The question was not rewritten: {error}")
            return None

    def _rerank(self, library: Library, query: str, order: list[str]) -> tuple[list[str], dict[str, int]]:
        """Return ids as the model orders them, and its places for the ones that it named."""
        reranker = self._parts.reranker
        count = self._options.rerank_count
        if reranker is None or self._options.rerank is Rerank.OFF or len(order) < 2:
            return order, {}
        texts = [_show(library, section_id) for section_id in order[:count]]
        try:
            named = [order[place] for place in reranker.rerank(query, texts)]
        except RoamtuiError as error:
            self._tell(f"The model did not rerank: {error}")
            return order, {}
        places = {section_id: place for place, section_id in enumerate(named, start=1)}
        return [*named, *(section_id for section_id in order if section_id not in places)], places

    def _do_without_vectors(self, error: RoamtuiError) -> None:
        """Go on by words alone.

        Raises:
            RoamtuiError: Words were not asked for.
        """
        if self._options.mode is not SearchMode.HYBRID or self._parts.needs_vectors:
            raise error
        self._tell(f"Searched by words alone: {error}")

    def _tell(self, sentence: str) -> None:
        """Tell each thing once."""
        if self._parts.tell is not None and sentence not in self._told:
            self._told.add(sentence)
            self._parts.tell(sentence)


def _list_inside(library: Library, within: str | None) -> frozenset[str] | None:
    if within is None or within == library.root_id:
        return None
    return frozenset(library.walk(within))


def _read_text(library: Library, section_id: str) -> str:
    document, row = library.locate(section_id)
    starts = document.columns.starts
    return document.text[starts[row] : starts[row + 1]]


def _show(library: Library, section_id: str) -> str:
    """Return what a model is shown of a section."""
    document, row = library.locate(section_id)
    path = " > ".join(filter(None, (document.key, *document.columns.path(row))))
    return f"{path}\n{_read_text(library, section_id)[:_JUDGED_LENGTH]}".strip()


def _describe(lists: Sequence[RankedList], section_id: str, neighbour: Neighbour | None, judged: dict[str, int]) -> str:
    parts = [describe_ranks(lists, section_id)]
    if neighbour is not None:
        parts.append(f"{neighbour.relation} of {neighbour.origin}")
    if section_id in judged:
        parts.append(f"model rank {judged[section_id]}")
    return " · ".join(filter(None, parts))
