"""`HybridSearcher`: combines keyword and vector rankings by reciprocal rank, and adds neighbours of the results."""

from __future__ import annotations

import math
import threading
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass

from roamtui.document.library import Library
from roamtui.document.node import NodeKind
from roamtui.errors import RoamtuiError
from roamtui.search.base import Hit, Progress, SearchServices
from roamtui.search.excerpts import make_snippet
from roamtui.search.keyword import CANDIDATES, KeywordSearcher
from roamtui.search.options import RetrievalOptions, SearchMode
from roamtui.search.terms import extract_query_terms
from roamtui.search.vectors import VectorIndex, VectorStore

_QUERY_LENGTH_MAX = 2_000
"""Maximum number of characters of a query that are embedded. Embedders use only the first few hundred words."""
_CLARITY_RANK = 10
"""The score at this rank (or the last score), as a share of the best one, shows how clear a keyword search is."""
_VECTOR_WEIGHT = 0.4
"""Weight of vector results beside keyword results of weight 1."""
_FOLLOW_UP_WEIGHT = 2.0
"""Weight of vector results for a follow-up to a known topic."""
_FUSION_K = 60
"""Constant of reciprocal rank fusion."""
_PARENT_WEIGHT, _CHILD_WEIGHT, _SIBLING_WEIGHT = 0.75, 0.7, 0.6
"""Shares of a section's score that its neighbours get."""
_SIBLINGS_MAX = 2
"""Maximum number of siblings, and of children, that a section brings."""
_VECTOR_FACTOR_MIN = 0.01
"""Minimum factor on the vector weight. It is above 0, so that sections that only vectors find stay in the results, even
if they come last."""
_CLEAR_SHARE = 0.9
"""The first keyword hit is clear if the second one scores at most this share of it."""
_TEXTLESS_KINDS = frozenset({NodeKind.FILE, NodeKind.FOLDER, NodeKind.LINK})
"""Kinds of nodes without a text of their own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedList:
    """The result of one search method."""

    name: str
    weight: float
    """Weight in the fusion. A list with weight 0 is ignored."""
    section_ids: tuple[str, ...]
    """Ids of the sections, best first, each once."""


class HybridSearcher:
    """Finds sections of one library by keywords and vectors together. Thread-safe."""

    def __init__(
        self, library: Library, keyword: KeywordSearcher, options: RetrievalOptions, services: SearchServices
    ) -> None:
        self._library = library
        self._keyword = keyword
        self._options = options
        self._services = services
        self._lock = threading.Lock()
        """Held while text is embedded, which may take minutes."""
        self._embedded_library: Library | None = None
        """The last library that was embedded or could not be embedded."""
        self._vectors: VectorIndex | None = None

    def refresh(self, library: Library) -> None:
        """Search `library` from now on. Only its new text is embedded."""
        self._library = library
        self._keyword.refresh(library)

    def prepare(self, on_progress: Progress | None = None) -> None:
        """Embed new text and update the keyword index now. See `Searcher`."""
        self._embed_library(on_progress, must_embed=True)
        self._keyword.prepare()

    def search(
        self, query: str, *, limit: int = 10, within: str | None = None, earlier: Sequence[str] = ()
    ) -> tuple[Hit, ...]:
        """Return up to `limit` hits, best first, or none for a blank query. See `Searcher`."""
        options = self._options
        is_hybrid = options.mode is SearchMode.HYBRID
        while True:
            library, vectors = self._embed_library()
            if not query.strip():
                return ()
            ranking = self._keyword.rank(query, limit=max(limit, CANDIDATES), within=within, earlier=earlier)
            if ranking.library is library:  # otherwise `refresh` was called meanwhile
                break
        inside = frozenset(library.walk(within)) if within not in (None, library.root_id) else None
        topic = library.title_of(ranking.topics[0]) if ranking.topics else ""
        keyword_ids = tuple(hit.section_id for hit in ranking.hits)
        keyword_weight = 0.0 if options.mode is SearchMode.VECTOR else 1.0
        lists = [RankedList(name="text", weight=keyword_weight, section_ids=keyword_ids)]
        if vectors is not None:
            vector_weight = 1.0
            if is_hybrid and topic:
                vector_weight = _FOLLOW_UP_WEIGHT  # a follow-up's words say too little to be trusted
            elif is_hybrid:
                vector_weight = _VECTOR_WEIGHT
                if ranking.hits:
                    # If the keyword scores fall steeply, the words distinguish the sections well.
                    share = ranking.hits[:_CLARITY_RANK][-1].score / ranking.hits[0].score
                    vector_weight *= max(_VECTOR_FACTOR_MIN, share**2)
            text = f"{topic}: {query}" if topic else query
            vector_ids: tuple[str, ...] = ()
            try:
                ranked = vectors.rank(text[:_QUERY_LENGTH_MAX], limit=CANDIDATES, within=inside)
                vector_ids = tuple(section_id for section_id, _ in ranked)
            except RoamtuiError as error:
                self._services.fall_back_to_keywords(error, options.mode)
            lists.append(RankedList(name="vector", weight=vector_weight, section_ids=vector_ids))
        fused = fuse_by_reciprocal_rank(lists)
        neighbours = collect_neighbours(library, fused, options.neighbour_count, inside)
        scores = fused | {section_id: neighbour.score for section_id, neighbour in neighbours.items()}
        order = sorted(scores, key=lambda section_id: -scores[section_id])
        descending = [scores[section_id] for section_id in order]
        if is_hybrid and not topic:
            first = ranking.hits[0].section_id if ranking.hits else ""
            if first in order and compute_runner_up_share(ranking.hits, first) <= _CLEAR_SHARE:
                order = [first, *(section_id for section_id in order if section_id != first)]
        named = [hit.section_id for hit in ranking.hits if hit.is_named]
        order = [*named, *(section_id for section_id in order if section_id not in named)]
        terms = ranking.terms or extract_query_terms(query)
        hits = []
        # The reordered hits get the scores in descending order, so that scores still fall from hit to hit.
        for section_id, score in zip(order[:limit], descending, strict=False):
            reasons = [
                f"{ranked_list.name} rank {ranked_list.section_ids.index(section_id) + 1}"
                for ranked_list in lists
                if ranked_list.weight > 0 and section_id in ranked_list.section_ids
            ]
            if (neighbour := neighbours.get(section_id)) is not None:
                reasons.append(f"{neighbour.relation} of {neighbour.origin}")
            hits.append(
                Hit(
                    section_id=section_id,
                    score=score,
                    snippet=make_snippet(library.clean_text(library.own_span(section_id)), terms),
                    why=" · ".join(reasons),
                    runner_up=compute_runner_up_share(ranking.hits, section_id),
                    is_named=section_id in named,
                )
            )
        return tuple(hits)

    def _embed_library(
        self, on_progress: Progress | None = None, *, must_embed: bool = False
    ) -> tuple[Library, VectorIndex | None]:
        """Return the library and its vectors, which are None if only keywords are searched.

        With `must_embed`, a failure of the embedder is raised again, and the next call tries again.
        """
        options, services = self._options, self._services
        with self._lock:
            library = self._library
            if self._embedded_library is library:
                return library, self._vectors
            vectors = None
            if options.needs_vectors:
                assert services.embedder is not None
                with closing(VectorStore(services.vector_folder, services.warn_once)) as store:
                    try:
                        vectors = VectorIndex(
                            library, services.embedder, store, options.chunk_size, on_progress or services.progress
                        )
                    except RoamtuiError as error:
                        if must_embed:
                            raise
                        services.fall_back_to_keywords(error, options.mode)
            self._embedded_library, self._vectors = library, vectors
            return library, vectors


def fuse_by_reciprocal_rank(lists: Iterable[RankedList]) -> dict[str, float]:
    """Return the sum of weighted reciprocal ranks of each section, highest first.

    Sections with the same sum stay in the order of the lists.
    """
    scores: dict[str, float] = defaultdict(float)
    for ranked in lists:
        if ranked.weight > 0:
            for rank, section_id in enumerate(ranked.section_ids, start=1):
                scores[section_id] += ranked.weight / (_FUSION_K + rank)
    return dict(sorted(scores.items(), key=lambda item: -item[1]))


def compute_runner_up_share(hits: Sequence[Hit], section_id: str) -> float:
    """Return the best score of the other sections, divided by the score of this one, or infinity if it has no score."""
    own = next((hit.score for hit in hits if hit.section_id == section_id), 0.0)
    other = next((hit.score for hit in hits if hit.section_id != section_id), 0.0)
    return other / own if own else math.inf


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbour:
    """A section that is added to the results because a section near it was found."""

    score: float
    relation: str
    """Its relation to the section that was found: ``parent``, ``child`` or ``sibling``."""
    origin: str
    """Id of the section that was found."""


def collect_neighbours(
    library: Library, scores: Mapping[str, float], count: int, within: Collection[str] | None = None
) -> dict[str, Neighbour]:
    """Return up to `count` parents, children and siblings of the found sections that were not found, best first.

    `scores` has the scores of the found sections. The score of a neighbour is the score of a found section times the
    weight of their relation. If a section is near several, the best score counts.
    """
    added: dict[str, Neighbour] = {}
    for origin, score in scores.items() if count else ():
        for section_id, relation, share in _iter_relations(library, origin):
            neighbour = Neighbour(score=score * share, relation=relation, origin=origin)
            is_better = section_id not in added or neighbour.score > added[section_id].score
            if is_better and section_id not in scores and (within is None or section_id in within):
                added[section_id] = neighbour
    return dict(sorted(added.items(), key=lambda item: -item[1].score)[:count])


def _iter_relations(library: Library, section_id: str) -> Iterator[tuple[str, str, float]]:
    """Yield the neighbours of a section that have text, each with its relation and weight."""
    parent = library.parent(section_id)
    siblings = library.children(library.root_id if parent is None else parent)
    position = siblings.index(section_id)
    nearest = sorted(range(len(siblings)), key=lambda index: (abs(index - position), -index))
    relations: tuple[tuple[Sequence[str], str, float], ...] = (
        ([parent] if parent is not None else [], "parent", _PARENT_WEIGHT),
        (library.children(section_id)[:_SIBLINGS_MAX], "child", _CHILD_WEIGHT),
        ([siblings[i] for i in nearest[1 : _SIBLINGS_MAX + 1]], "sibling", _SIBLING_WEIGHT),
    )
    for section_ids, relation, share in relations:
        for neighbour_id in section_ids:
            document, row = library.locate(neighbour_id)
            if document.columns.kinds[row] not in _TEXTLESS_KINDS:
                yield neighbour_id, relation, share
