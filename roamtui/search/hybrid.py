"""`HybridSearcher`: lists by words, by vectors as one, by reciprocal rank, with neighbours of what was found."""

from __future__ import annotations

import math
import threading
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from roamtui.document.library import Library
from roamtui.document.node import NodeKind
from roamtui.errors import RoamtuiError
from roamtui.search.base import Hit, SearchServices
from roamtui.search.keyword import KeywordSearcher
from roamtui.search.options import RetrievalOptions, SearchMode
from roamtui.search.sentences import make_snippet
from roamtui.search.terms import query_terms
from roamtui.search.vectors import VectorIndex, VectorStore

_QUERY_LENGTH_MAX = 2_000
"""Characters of a query that are embedded; embedders take no more than some hundred words to heart."""
_DOUBT_RANK = 10
"""Rank whose score says how clear a search by words is."""
_DOUBT_MIN = 0.01
"""However clear words are, what vectors alone find comes after it all."""
_CLEAR_SHARE = 0.9
"""Of the best score by words, above which the second best makes it doubtful."""
_UNREAD = frozenset({NodeKind.FILE, NodeKind.FOLDER, NodeKind.LINK})
"""What has no text of its own to be found."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedList:
    """Sections in the order in which one way of searching found them."""

    name: str
    weight: float
    """How much it counts; a list of weight 0 counts for nothing and is not told of."""
    section_ids: tuple[str, ...]
    """The best first, each once."""


class HybridSearcher:
    """Finds sections of one library by words and by vectors at once. May be asked from any thread."""

    def __init__(
        self, library: Library, keyword: KeywordSearcher, options: RetrievalOptions, parts: SearchServices
    ) -> None:
        self._library = library
        self._keyword = keyword
        self._options = options
        self._parts = parts
        self._lock = threading.Lock()
        self._is_embedded = False
        self._vectors: VectorIndex | None = None

    def refresh(self, library: Library) -> None:
        """Search `library` from now on; only text that was never embedded will be."""
        with self._lock:
            if library is not self._library:
                self._library = library
                self._is_embedded = False
        self._keyword.refresh(library)

    def search(
        self, query: str, *, limit: int = 10, within: str | None = None, earlier: Sequence[str] = ()
    ) -> tuple[Hit, ...]:
        """Return up to `limit` hits, the best first; none for no words. See `Searcher`."""
        library, vectors = self._prepare()
        inside = frozenset(library.walk(within)) if within not in (None, library.root_id) else None
        if not query.strip():
            return ()
        options = self._options
        ranking = self._keyword.rank(query, limit=max(limit, options.candidates), within=within, earlier=earlier)
        topic = library.title_of(ranking.topics[0]) if ranking.topics else ""
        lists = [
            RankedList(
                name="text",
                weight=0.0 if options.mode is SearchMode.VECTOR else options.keyword_weight,
                section_ids=tuple(hit.section_id for hit in ranking.hits),
            )
        ]
        if vectors is not None:
            asked = f"{topic}: {query}" if topic else query
            weight = self._weigh_vectors(estimate_keyword_doubt(ranking.hits), is_follow_up=bool(topic))
            lists.append(
                RankedList(name="vector", weight=weight, section_ids=self._rank_by_vectors(vectors, asked, inside))
            )
        scores = fuse_by_reciprocal_rank(lists, options.fusion_k)
        joined = collect_neighbours(library, scores, options, inside)
        whole = scores | {section_id: neighbour.score for section_id, neighbour in joined.items()}
        order = sorted(whole, key=lambda section_id: -whole[section_id])
        descending = [whole[section_id] for section_id in order]
        if options.mode is SearchMode.HYBRID and options.trust_words and not topic:
            first = ranking.hits[0].section_id if ranking.hits else ""
            if first in order and compute_runner_up_share(ranking.hits, first) <= _CLEAR_SHARE:
                order = [first, *(section_id for section_id in order if section_id != first)]
        terms = ranking.terms or query_terms(query)
        return tuple(
            Hit(
                section_id=section_id,
                score=score,
                snippet=make_snippet(library.own_text(section_id), terms),
                why=_describe(lists, section_id, joined.get(section_id)),
                runner_up=compute_runner_up_share(ranking.hits, section_id),
            )
            for section_id, score in zip(order[:limit], descending, strict=False)
        )

    def _prepare(self) -> tuple[Library, VectorIndex | None]:
        with self._lock:
            if not self._is_embedded:
                self._vectors = self._embed() if self._options.mode is not SearchMode.KEYWORD else None
                self._is_embedded = True
            return self._library, self._vectors

    def _embed(self) -> VectorIndex | None:
        """Return the library as vectors, None where the embedder failed and words can do without."""
        options, embedder = self._options, self._parts.embedder
        assert embedder is not None
        store = VectorStore(self._parts.cache)
        try:
            chunking = (options.chunk_size, options.chunk_overlap)
            return VectorIndex(self._library, embedder, store, chunking, self._parts.progress)
        except RoamtuiError as error:
            self._parts.fall_back_to_keywords(error, self._options.mode)
            return None
        finally:
            store.close()
            for note in store.notes:
                self._parts.warn_once(note)

    def _rank_by_vectors(self, vectors: VectorIndex, query: str, inside: Collection[str] | None) -> tuple[str, ...]:
        try:
            found = vectors.rank(query[:_QUERY_LENGTH_MAX], limit=self._options.vector_top, within=inside)
        except RoamtuiError as error:
            self._parts.fall_back_to_keywords(error, self._options.mode)
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


def fuse_by_reciprocal_rank(lists: Iterable[RankedList], k: int) -> dict[str, float]:
    """Return the sum of weighted reciprocal ranks of each section, the highest first, ties as the lists have them."""
    scores: dict[str, float] = defaultdict(float)
    for ranked in lists:
        if ranked.weight > 0:
            for rank, section_id in enumerate(ranked.section_ids, start=1):
                scores[section_id] += ranked.weight / (k + rank)
    return dict(sorted(scores.items(), key=lambda item: -item[1]))


def estimate_keyword_doubt(hits: Sequence[Hit]) -> float:
    """Return how little the words of a query tell sections apart, from near 0 to 1, where they find none.

    It is the squared score of the tenth section, or of the last of fewer, as a share of the best one's.
    """
    if not hits:
        return 1.0
    share = hits[:_DOUBT_RANK][-1].score / hits[0].score
    return max(_DOUBT_MIN, share**2)


def compute_runner_up_share(hits: Sequence[Hit], section_id: str) -> float:
    """Return the best score of another section as a share of that of one; infinite where it has none."""
    own = next((hit.score for hit in hits if hit.section_id == section_id), 0.0)
    other = next((hit.score for hit in hits if hit.section_id != section_id), 0.0)
    return other / own if own else math.inf


def _describe(lists: Sequence[RankedList], section_id: str, neighbour: Neighbour | None) -> str:
    """Return how a section was found, such as ``text rank 1 · vector rank 3``."""
    parts = [
        f"{ranked.name} rank {ranked.section_ids.index(section_id) + 1}"
        for ranked in lists
        if ranked.weight > 0 and section_id in ranked.section_ids
    ]
    if neighbour is not None:
        parts.append(f"{neighbour.relation} of {neighbour.origin}")
    return " · ".join(parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbour:
    """A section that came by another one."""

    score: float
    relation: str
    """What it is to the other one, in words: ``parent``, ``child``, ``sibling``."""
    origin: str
    """Id of the section beside which it stands."""


def collect_neighbours(
    library: Library, scores: Mapping[str, float], options: RetrievalOptions, within: Collection[str] | None = None
) -> dict[str, Neighbour]:
    """Return the neighbours of what was found that were not found themselves, with their scores, the best first.

    Each step takes a share of the score before it; of several ways to a neighbour the best one counts.
    """
    joined: dict[str, Neighbour] = {}
    edge = dict(scores)
    for _ in range(options.neighbour_depth if options.neighbour_count else 0):
        reached: dict[str, Neighbour] = {}
        for origin, score in edge.items():
            for section_id, relation, share in _list_relations(library, origin, options):
                neighbour = Neighbour(score=score * share, relation=relation, origin=origin)
                known = reached.get(section_id) or joined.get(section_id)
                is_better = known is None or neighbour.score > known.score
                if share > 0 and is_better and section_id not in scores and (within is None or section_id in within):
                    reached[section_id] = neighbour
        joined |= reached
        edge = {section_id: neighbour.score for section_id, neighbour in reached.items()}
    best = sorted(joined.items(), key=lambda item: -item[1].score)
    return dict(best[: options.neighbour_count])


def _list_relations(library: Library, section_id: str, options: RetrievalOptions) -> Iterator[tuple[str, str, float]]:
    parent = library.parent(section_id)
    if parent is not None:
        yield from _filter_loaded(library, [parent], "parent", options.parent_weight)
    yield from _filter_loaded(
        library, library.children(section_id)[: options.siblings_per_node], "child", options.child_weight
    )
    beside = library.children(library.root_id if parent is None else parent)
    place = beside.index(section_id)
    nearest = sorted(range(len(beside)), key=lambda other: (abs(other - place), -other))
    siblings = [beside[other] for other in nearest[1 : options.siblings_per_node + 1]]
    yield from _filter_loaded(library, siblings, "sibling", options.sibling_weight)


def _filter_loaded(
    library: Library, ids: Collection[str], relation: str, share: float
) -> Iterator[tuple[str, str, float]]:
    for section_id in ids:
        document, row = library.locate(section_id)
        if document.columns.kinds[row] not in _UNREAD:
            yield section_id, relation, share
