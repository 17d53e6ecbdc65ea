"""`make_searcher`, and `HybridSearcher`: keywords and vectors, fused by reciprocal rank."""

import threading
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from roamtui.document.document import NodeKind
from roamtui.document.library import Library
from roamtui.errors import RoamtuiError
from roamtui.search.base import Hit, Progress, Ranking, RetrievalOptions, Searcher, SearchMode, SearchServices
from roamtui.search.index import IndexLocation
from roamtui.search.keyword import CANDIDATES, KeywordSearcher, add_snippets
from roamtui.search.lance import LanceStore
from roamtui.search.meaning import SECONDS_MAX, MeaningOrder
from roamtui.search.vectors import VectorIndex

_CLARITY_RANK = 10
"""The score at this rank, or the last, as a share of the best shows how clear a search is."""
_VECTOR_WEIGHT = 0.4
"""Weight of vector results beside keyword results of weight 1."""
_FOLLOW_UP_WEIGHT = 2.0
"""Weight of vector results for a follow-up to a known topic, whose words say too little to be trusted."""
_FUSION_K = 60
_NEIGHBOUR_WEIGHT = 0.7
"""Share of a section's score that its neighbours get."""
_CHILDREN_MAX = 2
"""Maximum number of children that a section brings."""
_TEXTLESS_KINDS = frozenset({NodeKind.FILE, NodeKind.FOLDER, NodeKind.LINK})
"""Kinds of nodes without a text of their own."""
_RERANKED_COUNT = 20
_RERANKED_LENGTH = 800
"""Number of characters of each section that the reranking model reads."""


def make_searcher(
    library: Library,
    options: RetrievalOptions,
    services: SearchServices | None = None,
    location: IndexLocation | None = None,
) -> Searcher | None:
    """Return a new searcher for `library`, or None if search is off."""
    if options.mode is SearchMode.OFF:
        return None
    services = services or SearchServices()
    if options.mode is SearchMode.KEYWORD:
        services = replace(services, embedder=None, meaning=None)
    if location is not None and services.embedder is not None:
        location = replace(location, stores_small=True)
    words = KeywordSearcher(library, location=location)
    if services.embedder is None and services.meaning is None:
        options = replace(options, mode=SearchMode.KEYWORD)
    has_extras = options.neighbour_count or options.rerank == "on" or options.limit
    if options.mode is SearchMode.KEYWORD and not has_extras:
        return words
    return HybridSearcher(library, words, options, services)


class RankedList(NamedTuple):
    """What a search method found."""

    method: str
    weight: float
    section_ids: Sequence[str]
    """Best first."""


class HybridSearcher:
    """Finds sections of one library by words, by vectors, or by both. Thread-safe.

    It adds neighbours of what it found, has a model rerank the hits, and keeps to a limit, as the options
    say.
    """

    def __init__(
        self, library: Library, words: KeywordSearcher, options: RetrievalOptions, services: SearchServices
    ) -> None:
        self._library = library
        self._words = words
        self._options = options
        self._services = services
        self._lock = threading.Lock()
        """Held while text is indexed and embedded, which may take minutes, and while words are searched."""
        self._indexed_library: Library | None = None
        self._vectors: VectorIndex | None = None
        """None if only keywords are searched."""
        self._meaning: MeaningOrder | None = None
        if services.meaning is not None:
            seconds_max = None if services.fails_without_vectors else SECONDS_MAX
            self._meaning = MeaningOrder(services.meaning, options.chunk_size, seconds_max)

    def refresh(self, library: Library) -> None:
        """Search `library` from now on. Only its new text is embedded."""
        self._library = library

    def prepare(self, on_progress: Progress | None = None) -> None:
        """Bring all indexes up to date now. See `Searcher`."""
        with self._lock:
            self._update_indexes(on_progress)

    def embed_ahead(self) -> bool:
        """Embed a little of what searches by meaning will need. See `Searcher`."""
        if self._meaning is None:
            return False
        with self._lock:
            self._update_indexes()
        try:
            return self._meaning.embed_ahead(self._library, self._words.prepare().store)
        except RoamtuiError:  # the next search says so
            return False

    def search(
        self, query: str, *, limit: int = 10, within: str | None = None, earlier: Sequence[str] = ()
    ) -> tuple[Hit, ...]:
        """Return up to `limit` hits, best first, or none for a blank query. See `Searcher`."""
        options = self._options
        limit = min(limit, options.limit or limit)
        with self._lock:
            self._update_indexes()
            if not query.strip() or limit < 1:
                return ()
            ranking = self._words.rank(query, limit=max(limit, CANDIDATES), within=within, earlier=earlier)
            vectors = self._vectors
        ranking = self._order_by_meaning(query, ranking, within)
        lists = self._list_rankings(query, ranking, vectors, within)
        if options.rerank == "on" and self._services.reranker is not None:
            fused = self._fuse(ranking, lists, within, max(limit, _RERANKED_COUNT))
            hits = self._rerank(query, ranking.library, fused)
        elif vectors is None and not options.neighbour_count:
            hits = ranking.hits
        else:
            hits = self._fuse(ranking, lists, within, limit)
        return add_snippets(ranking, hits[:limit])

    def _order_by_meaning(self, query: str, ranking: Ranking, within: str | None) -> Ranking:
        """Return a ranking in the order of words and meaning, or as it is without a working model."""
        if self._meaning is None or not ranking.hits:
            return ranking
        try:
            hits = self._meaning.order(query, ranking, self._words.prepare().store, within)
            return replace(ranking, hits=hits)
        except RoamtuiError as error:
            self._services.warn_once(f"Searched by words only, because search by meaning failed: {error}")
            return ranking

    def _update_indexes(self, on_progress: Progress | None = None) -> None:
        options = self._options
        services = self._services
        library = self._library
        if self._indexed_library is library:
            return
        vectors: VectorIndex | None = None
        self._words.refresh(library)
        store = self._words.prepare(on_progress).store
        if services.embedder is not None:
            try:
                vector_store = LanceStore(options.index) if options.index is not None else store
                progress = on_progress or services.progress
                vectors = VectorIndex(library, options.chunk_size, vector_store, services.embedder, progress)
            except RoamtuiError as error:
                services.warn_of_fallback(error, options.mode)
        self._indexed_library = library
        self._vectors = vectors

    def _list_rankings(
        self, query: str, ranking: Ranking, vectors: VectorIndex | None, within: str | None
    ) -> list[RankedList]:
        mode = self._options.mode
        lists: list[RankedList] = []
        if mode is not SearchMode.VECTOR:
            lists.append(RankedList("text", 1.0, [hit.section_id for hit in ranking.hits]))
        if vectors is None:
            return lists
        try:
            vector_ids = [*vectors.rank(ranking.add_topic(query), limit=CANDIDATES, within=within)]
        except RoamtuiError as error:
            self._services.warn_of_fallback(error, mode)
            return lists
        weight = _FOLLOW_UP_WEIGHT
        if not ranking.topics:
            # If the keyword scores fall steeply, the words distinguish the sections well.
            share = ranking.hits[:_CLARITY_RANK][-1].score / ranking.hits[0].score if ranking.hits else 1.0
            weight = _VECTOR_WEIGHT * share**2
        return [*lists, RankedList("vector", weight, vector_ids)]

    def _fuse(
        self, ranking: Ranking, lists: Sequence[RankedList], within: str | None, limit: int
    ) -> tuple[Hit, ...]:
        """Return the hits of several rankings and their neighbours. Named statements come first."""
        library = ranking.library
        found = fuse_by_reciprocal_rank(lists)
        inside = frozenset(library.walk(within)) if within is not None else None
        found |= collect_neighbours(library, found, self._options.neighbour_count, inside)
        named = {hit.section_id for hit in ranking.hits if hit.is_named}
        descending = sorted((hit.score for hit in found.values()), reverse=True)
        ordered = sorted(found.values(), key=lambda hit: (hit.section_id not in named, -hit.score))
        return tuple(  # the scores still fall from hit to hit
            replace(hit, score=score, is_named=hit.section_id in named)
            for hit, score in zip(ordered[:limit], descending, strict=False)
        )

    def _rerank(self, query: str, library: Library, hits: tuple[Hit, ...]) -> tuple[Hit, ...]:
        """Return the hits in the order of the reranking model, or as they are if it fails."""
        assert self._services.reranker is not None
        texts = []
        for hit in hits[:_RERANKED_COUNT]:
            node = library.node(hit.section_id)
            text = library.text_at(node.own_span)[:_RERANKED_LENGTH]
            texts.append(f"{' > '.join(node.path)}\n{text}".strip())
        try:
            chosen = self._services.reranker.rerank(query, texts) if len(texts) > 1 else ()
        except RoamtuiError as error:
            reason = f"because ranking failed: {error}"
            self._services.warn_once(f"The search results stay in their usual order, {reason}")
            return hits
        reranked = []
        for rank, index in enumerate(dict.fromkeys((*chosen, *range(len(hits))))):
            why = f"{hits[index].why} · model rank {rank + 1}" if rank < len(chosen) else hits[index].why
            reranked.append(replace(hits[index], score=hits[rank].score, why=why))
        return tuple(reranked)


def fuse_by_reciprocal_rank(lists: Iterable[RankedList]) -> dict[str, Hit]:
    """Return the sections with the sums of their weighted reciprocal ranks, highest first.

    Sections with the same sum stay in the order of the lists.
    """
    scores: dict[str, float] = defaultdict(float)
    reasons: dict[str, list[str]] = defaultdict(list)
    for name, weight, section_ids in lists:
        for rank, section_id in enumerate(section_ids if weight > 0 else (), start=1):
            scores[section_id] += weight / (_FUSION_K + rank)
            reasons[section_id].append(f"{name} rank {rank}")
    return {
        section_id: Hit(section_id=section_id, score=score, why=" · ".join(reasons[section_id]))
        for section_id, score in sorted(scores.items(), key=lambda item: -item[1])
    }


def collect_neighbours(
    library: Library, found: Mapping[str, Hit], count: int, within: Collection[str] | None = None
) -> dict[str, Hit]:
    """Return up to `count` parents, children and siblings that were not found, best first."""
    added: dict[str, Hit] = {}
    for origin, hit in found.items():
        for neighbour_id, relation in _iter_relations(library, origin):
            if len(added) == count:
                return added
            if neighbour_id not in found and (within is None or neighbour_id in within):
                score = _NEIGHBOUR_WEIGHT * hit.score
                neighbour = Hit(section_id=neighbour_id, score=score, why=f"{relation} of {origin}")
                added.setdefault(neighbour_id, neighbour)
    return added


def _iter_relations(library: Library, section_id: str) -> Iterator[tuple[str, str]]:
    """Yield the neighbours of a section that have text, each with its relation."""
    parent = library.node(section_id).parent
    siblings = library.children(library.root_id if parent is None else parent)
    position = siblings.index(section_id)
    relations = (
        ((parent,) if parent is not None else (), "parent"),
        (library.children(section_id)[:_CHILDREN_MAX], "child"),
        (siblings[position + 1 : position + 2] + siblings[max(0, position - 1) : position], "sibling"),
    )
    for neighbour_ids, relation in relations:
        for neighbour_id in neighbour_ids:
            if library.node(neighbour_id).kind not in _TEXTLESS_KINDS:
                yield neighbour_id, relation
