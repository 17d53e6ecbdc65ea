"""`Searcher`: finds sections by words, by meaning, or by both in one order."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import islice
from math import isqrt
from time import monotonic

from msgspec.structs import replace

from roamtui.convert.converted import ProgressCallback
from roamtui.document.document import TEXTLESS
from roamtui.document.library import Library
from roamtui.errors import RoamtuiError, UsageError
from roamtui.outline.labels import PLAIN_PATH_STEP
from roamtui.search.base import (
    NEAR_SIMILARITY_MIN,
    EmbeddingPlan,
    Hit,
    IndexLostError,
    Ranking,
    Reranker,
    RetrievalOptions,
    SearchMode,
    SearchServices,
    VectorCoverage,
)
from roamtui.search.index import IndexLocation
from roamtui.search.keyword import CANDIDATES, KeywordRanker, add_snippets
from roamtui.search.lance import LanceStore
from roamtui.search.section_store import SectionStore
from roamtui.search.terms import detect_language, extract_phrases
from roamtui.search.vectors import NearSection, VectorIndex, normalise_rows
from roamtui.text import estimate_tokens

_CLARITY_RANK = 10
"""A search is unclear if the score at this rank, or at the last one, is a large share of the best score."""
_READ_LENGTH_MAX = 60_000
"""Number of characters of the first hit in which the terms of the query are looked for."""
_SIMILAR_SHARE_MIN = 0.3
"""Similarities up to this share of the best one count as 0. With a lower share, fewer everyday questions find
their section. With a higher share, fewer first requests hold the evidence."""
_SECONDS_MAX = 5.0
"""How long a search embeds missing chunks, once the model is loaded: 50 sections a second. It is better to
answer later than from a part of the document."""
_SMALL_BATCH = 4
"""While the app embeds, a search waits for at most this many chunks."""
_BATCH = 64
_SAVED_AT_ONCE = 256
"""Number of vectors that are saved together. Each save takes several requests to object storage."""
_SAMPLE_LENGTH = 20_000
"""Number of characters that tell the language of a library."""
_NEIGHBOUR_WEIGHT = 0.7
"""Share of a section's score that its neighbours get."""
_CHILDREN_MAX = 2
"""Maximum number of children that a section brings."""
_EMBEDDED_LENGTH_MAX = 2_000
"""Maximum embedded characters of a query. Embedders use only the first few hundred words."""
_RERANKED_COUNT = 20
_RERANKED_LENGTH = 800
"""Number of characters of each section that the reranking model reads."""


def make_searcher(
    library: Library,
    options: RetrievalOptions,
    services: SearchServices | None = None,
    location: IndexLocation | None = None,
) -> Searcher | None:
    """Return a new searcher for `library`, or None if search is off. See `Searcher`."""
    return None if options.mode is SearchMode.OFF else Searcher(library, options, services, location)


class Searcher:
    """Finds sections of one library by words, by meaning, or by both. Thread-safe.

    As the options say, it adds neighbours of the hits, lets a model rerank them, and limits their number.
    """

    def __init__(
        self,
        library: Library,
        options: RetrievalOptions | None = None,
        services: SearchServices | None = None,
        location: IndexLocation | None = None,
    ) -> None:
        """Search `library`. Its index is stored in `location` if the library is large or may have vectors.

        Raises:
            UsageError: Only vectors are to be searched, and there is no embedder.
        """
        options = options or RetrievalOptions()
        services = services or SearchServices()
        if options.mode is SearchMode.KEYWORD:
            services = replace(services, embedder=None)
        if options.mode is SearchMode.VECTOR and services.embedder is None:
            raise UsageError(
                "the mode vector needs an embedder. Name one with --embedder, or use another mode."
            )
        if location is not None and services.embedder is not None:
            location = replace(location, stores_small=True)
        self._library = library
        self._words = KeywordRanker(location)
        self._options = options
        self._services = services
        self.needs_all_vectors = options.mode is SearchMode.VECTOR or services.needs_all_vectors
        """Whether everything is embedded before a search, and words cannot replace vectors."""
        self._lock = threading.Lock()
        """Held while text is indexed and searched, and while a batch of chunks is embedded."""
        self._indexed_library: Library | None = None
        self._vectors: VectorIndex | None = None
        """None if only words are searched."""
        self._found_ids: tuple[str, ...] = ()
        """The latest results of the search by words, which are embedded first."""

    @property
    def mode(self) -> SearchMode:
        """How it searches: only by words if there is no embedder."""
        return self._options.mode if self._services.embedder is not None else SearchMode.KEYWORD

    @property
    def vector_coverage(self) -> VectorCoverage:
        """How much of the library can be compared by meaning so far."""
        vectors = self._vectors
        return VectorCoverage() if vectors is None else VectorCoverage(vectors.count_compared(), len(vectors))

    @property
    def knows_language(self) -> bool:
        """Whether the embedder can compare the text of the library, if there is one."""
        return self.knows_language_of(_sample_text(self._library))

    def prepare(self, on_progress: ProgressCallback | None = None) -> None:
        """Bring all indexes up to date before the first search, in a thread: it may take minutes.

        If `on_progress` raises an error, the vectors made so far are kept, and a later call makes the others.
        The words of all files are indexed together or, after an error, not at all.
        """
        with self._lock:
            self._update_indexes(on_progress)
        if not self.needs_all_vectors:
            return
        if (plan := self.plan_embedding()) is not None:
            words = f"{plan.embedder} has not read {plan.sections:,} sections."
            raise UsageError(f"{words} Run `roamtui index` with the same source and --embedder first.")
        self.embed_all(on_progress)

    def plan_embedding(self) -> EmbeddingPlan | None:
        """Return what a server would have to embed, or None if nothing is missing or no server is asked."""
        embedder = self._services.embedder
        if embedder is None or embedder.embeds_unasked:
            return None
        with self._lock:
            vectors = self._update_indexes()
            if vectors is None or not vectors.missing:
                return None
            tokens = sum(estimate_tokens(text) for _, text in vectors.iter_missing())
            sections = len(vectors) - vectors.count_compared()
        cost = embedder.estimate_cost(tokens)
        return EmbeddingPlan(embedder=embedder.name, sections=sections, tokens=tokens, cost_usd=cost)

    def embed_all(self, on_progress: ProgressCallback | None = None) -> None:
        """Embed all missing chunks, even by a server. An error of `on_progress` keeps the vectors so far."""
        on_progress = on_progress or self._services.on_progress or (lambda *_: None)
        has_begun = False
        vectors: VectorIndex | None = None
        try:
            while True:
                with self._lock:
                    vectors = self._update_indexes()
                    if vectors is None:
                        return
                    coverage = self.vector_coverage
                    if has_begun or not coverage.is_complete:
                        on_progress(coverage.compared, coverage.total)
                    if coverage.is_complete:
                        return
                    has_begun = True
                    self._embed(vectors, vectors.iter_missing(), _BATCH)
        except RoamtuiError as error:
            self._fall_back_or_raise(error)
        finally:
            if vectors is not None:
                self._save(vectors)

    def embed_ahead(self, first: Sequence[str] = ()) -> bool:
        """Embed a little text on this machine ahead of searches, for a few tenths of a second.

        Hits of the last search come first, then the sections `first`. Return whether some text may be left.
        """
        embedder = self._services.embedder
        if embedder is None or not embedder.embeds_unasked:
            return False
        with self._lock:
            try:
                vectors = self._update_indexes()
                if vectors is None:
                    return False
                self._embed(vectors, vectors.iter_missing((*self._found_ids, *first)), _SMALL_BATCH)
                if not vectors.missing:
                    self._save(vectors)
            except RoamtuiError:  # the next search reports it
                return False
            return vectors.missing > 0

    def compare(self, queries: Sequence[str], texts: Sequence[str]) -> Sequence[float]:
        """Return how near each text is to some queries in meaning: the mean cosines.

        There are none without a local embedder. It takes some hundredths of a second for each text.
        """
        embedder = self._services.embedder
        if embedder is None or not (embedder.embeds_unasked and texts):
            return ()
        if not all(map(self.knows_language_of, queries)):
            return ()
        try:
            vectors = normalise_rows(embedder.embed((*queries, *texts)))
        except RoamtuiError as error:
            self._fall_back_or_raise(error)
            return ()
        count = len(queries)
        cosines: list[float] = (vectors[count:] @ vectors[:count].mean(axis=0)).tolist()
        return cosines

    def search(
        self,
        library: Library,
        query: str,
        *,
        limit: int = 10,
        within: str | None = None,
        earlier: Sequence[str] = (),
        with_snippets: bool = False,
    ) -> tuple[Hit, ...]:
        """Return up to `limit` hits for any text, best first, below the section `within` or everywhere.

        `library` is the searcher's library or a newer version of it, which then takes its place.

        There are no hits for a blank query, or if no section shares a content word with the query or is near
        it in meaning. If the query seems to continue `earlier` messages, oldest first, their topics are
        favoured.

        Raises:
            UnknownSectionError: There is no section `within`.
            RoamtuiError: All vectors are required, and some are missing or could not be made.
        """
        options = self._options
        limit = min(limit, options.limit or limit)
        if self.needs_all_vectors:
            self._library = library
            self.prepare()
        with self._lock:
            self._library = library
            vectors = self._update_indexes()
            if not query.strip() or limit < 1:
                return ()
            within = None if within == library.root_id else within
            ranking = self._words.rank(library, query, max(limit, CANDIDATES), within, earlier)
            near = self._rank_by_meaning(query, ranking, vectors, within)
        similarities = {section_id: each.cosine for section_id, each in near.items()}
        has_subject = not ranking.topics and not ranking.matcher.is_vague
        is_near = bool(ranking.hits) or max(similarities.values(), default=0.0) >= NEAR_SIMILARITY_MIN
        if has_subject and not is_near:
            return ()
        reranker = self._services.reranker if options.rerank == "on" else None
        ordered_max = limit if reranker is None else max(limit, _RERANKED_COUNT)
        hits = self._order(ranking, similarities, within, ordered_max)
        if reranker is not None:
            hits = self._rerank(reranker, query, ranking.library, hits)
        hits = add_snippets(ranking, hits[:limit]) if with_snippets else tuple(hits[:limit])
        embedder = self._services.embedder
        if embedder is None or not embedder.embeds_unasked:
            return hits
        pieces = {section_id: each.piece for section_id, each in near.items()}
        return tuple(replace(hit, piece=pieces.get(hit.section_id)) for hit in hits)

    def _update_indexes(self, on_progress: ProgressCallback | None = None) -> VectorIndex | None:
        library = self._library
        if self._indexed_library is not library:
            store = self._words.update_index(library, on_progress).store
            self._vectors = self._open_vectors(library, store)
            self._indexed_library = library
        return self._vectors

    def _open_vectors(self, library: Library, store: SectionStore) -> VectorIndex | None:
        options = self._options
        embedder = self._services.embedder
        if embedder is None or not self.knows_language_of(_sample_text(library)):
            return None
        try:
            vector_store = store if options.index is None else LanceStore(options.index)
            return VectorIndex(library, options.chunk_size, vector_store, embedder)
        except RoamtuiError as error:
            if options.index is not None:
                raise
            self._fall_back_or_raise(error)
            return None

    def knows_language_of(self, text: str) -> bool:
        """Return whether the embedder can compare a text, or has to because only vectors are searched."""
        embedder = self._services.embedder
        languages = None if embedder is None else embedder.languages
        is_needed = self._options.mode is SearchMode.VECTOR
        return is_needed or languages is None or detect_language(text) in languages

    def _rank_by_meaning(
        self, query: str, ranking: Ranking, vectors: VectorIndex | None, within: str | None
    ) -> dict[str, NearSection]:
        """Return the nearness in meaning of the nearest sections, and of the results by words, by id."""
        embedder = self._services.embedder
        if vectors is None or embedder is None or not self.knows_language_of(query):
            return {}
        is_phrase = bool(extract_phrases(query)) and self._options.mode is not SearchMode.VECTOR
        self._found_ids = tuple(hit.section_id for hit in ranking.hits)
        near: dict[str, NearSection] = {}
        try:
            if embedder.embeds_unasked or vectors.has_any:
                topic = [ranking.library.node(topic_id).title for topic_id in ranking.topics[:1]]
                vector = vectors.embed_query(": ".join([*topic, query])[:_EMBEDDED_LENGTH_MAX])
                if embedder.embeds_unasked and vectors.missing:
                    self._embed_found(vectors)
                limit = 0 if is_phrase else CANDIDATES  # words in quotation marks must be in a hit
                near = vectors.rank(vector, limit=limit, within=within, also=self._found_ids)
        except RoamtuiError as error:
            self._fall_back_or_raise(error)
            return {}
        if vectors.missing and not embedder.embeds_unasked:  # a local embedder continues by itself
            self._services.warn_once(
                f"{self.vector_coverage.format()}. `roamtui index` with the same source compares all."
            )
        return near

    def _embed_found(self, vectors: VectorIndex) -> None:
        """Embed missing chunks for a few seconds, first those of the results by words."""
        end = monotonic() + _SECONDS_MAX
        chunks = vectors.iter_missing(self._found_ids)
        while self._embed(vectors, chunks, _SMALL_BATCH) and monotonic() < end:
            pass
        self._save(vectors)

    def _embed(self, vectors: VectorIndex, chunks: Iterator[tuple[int, str]], count: int) -> int:
        """Embed up to `count` of the chunks, and save each time that enough are unsaved. Return how many."""
        batch = dict(islice(chunks, count))
        unsaved = vectors.unsaved
        if batch:
            vectors.embed(batch)
        if vectors.unsaved // _SAVED_AT_ONCE > unsaved // _SAVED_AT_ONCE:
            self._save(vectors)
        return len(batch)

    def _save(self, vectors: VectorIndex) -> None:
        try:
            vectors.save()
        except IndexLostError as error:
            if self.needs_all_vectors:
                raise
            reason = f"their index cannot be written: {error}"
            self._services.warn_once(f"What was compared by meaning is not kept, because {reason}")

    def _fall_back_or_raise(self, error: RoamtuiError) -> None:
        """Warn that a search continues without vectors because of `error`, or raise it if it cannot."""
        if self.needs_all_vectors:
            raise error
        self._services.warn_once(f"Searched by words only, because search by meaning failed: {error}")

    def _order(
        self, ranking: Ranking, similarities: Mapping[str, float], within: str | None, limit: int
    ) -> tuple[Hit, ...]:
        """Return the hits by words and by meaning with their neighbours. Sections asked for come first."""
        library = ranking.library
        if self._options.mode is SearchMode.VECTOR:
            hits = mix_scores([hit for hit in ranking.hits if hit.is_asked_for], similarities, 1.0)
        else:
            hits = mix_scores(ranking.hits, similarities, compute_meaning_weight(ranking))
        found = {hit.section_id: hit for hit in hits}
        inside = frozenset(library.walk(within)) if within is not None else None
        found |= collect_neighbours(library, found, self._options.neighbour_count, inside)
        ranked = sorted(found.values(), key=lambda hit: (not hit.is_asked_for, -hit.score))
        return tuple(ranked[:limit])

    def _rerank(
        self, reranker: Reranker, query: str, library: Library, hits: tuple[Hit, ...]
    ) -> tuple[Hit, ...]:
        """Return the hits in the order of the reranking model, or as they are if it fails."""
        texts = []
        for hit in hits[:_RERANKED_COUNT]:
            node = library.node(hit.section_id)
            text = library.text_at(node.own_span)[:_RERANKED_LENGTH]
            texts.append(f"{PLAIN_PATH_STEP.join(node.path)}\n{text}".strip())
        try:
            chosen = reranker(query, texts) if len(texts) > 1 else ()
        except RoamtuiError as error:
            reason = f"because ranking failed: {error}"
            self._services.warn_once(f"The search results stay in their usual order, {reason}")
            return hits
        reranked = []
        for rank, index in enumerate(dict.fromkeys((*chosen, *range(len(hits))))):
            why = f"{hits[index].why} · model rank {rank + 1}" if rank < len(chosen) else hits[index].why
            reranked.append(replace(hits[index], score=hits[rank].score, why=why))
        return tuple(reranked)


def _sample_text(library: Library) -> str:
    """Return the starts of documents spread over a library: of all, unless the pieces would be tiny."""
    documents = library.documents
    chosen = documents[:: len(documents) // isqrt(_SAMPLE_LENGTH) + 1]
    return " ".join(document.text[: _SAMPLE_LENGTH // len(chosen)] for document in chosen)


def compute_meaning_weight(ranking: Ranking) -> float:
    """Return the weight of meaning, from 0 to 1. It is higher if the words of the query tell less.

    It is the mean of two values: how slowly the scores of the hits fall, and the share of the query's terms
    that the first hit lacks.
    """
    hits = [hit for hit in ranking.hits if not hit.is_asked_for]
    if not hits or not ranking.matcher.terms:
        return 1.0
    library = ranking.library
    node = library.node(hits[0].section_id)
    text = "\n".join((*node.path, library.text_at(node.own_content_span)[:_READ_LENGTH_MAX]))
    found = ranking.matcher.find_terms(text)
    lacking = 1 - len(found) / len(ranking.matcher.terms)
    flatness = hits[:_CLARITY_RANK][-1].score / hits[0].score
    return (flatness + lacking) / 2


def mix_scores(hits: Sequence[Hit], similarities: Mapping[str, float], weight: float) -> list[Hit]:
    """Return the hits by words and the sections with similarities, ranked by both, best first.

    `weight` is the weight of meaning. Sections that have not been compared keep their scores. Sections
    that are asked for stay first.
    """
    best = max(similarities.values(), default=0.0)
    if best <= 0:
        return [*hits]
    by_similarity = sorted(similarities, key=lambda section_id: -similarities[section_id])
    reasons = {section_id: f"meaning rank {rank}" for rank, section_id in enumerate(by_similarity, start=1)}
    found = {hit.section_id: hit for hit in hits}
    for section_id in by_similarity:
        found.setdefault(section_id, Hit(section_id=section_id, score=0.0, why=""))
    scores = {section_id: hit.score for section_id, hit in found.items() if not hit.is_asked_for}
    for section_id in scores.keys() & similarities.keys():
        share = max(0.0, similarities[section_id] / best - _SIMILAR_SHARE_MIN) / (1 - _SIMILAR_SHARE_MIN)
        scores[section_id] = (1 - weight) * scores[section_id] + weight * share
    highest = max(scores.values(), default=0.0)
    mixed = [
        replace(
            found[section_id],
            score=score / highest,
            similarity=similarities.get(section_id),
            why=" · ".join(filter(None, (found[section_id].why, reasons.get(section_id)))),
        )
        for section_id, score in scores.items()
        if score > 0
    ]
    asked_for = [hit for hit in hits if hit.is_asked_for]
    return [*asked_for, *sorted(mixed, key=lambda hit: -hit.score)]


def collect_neighbours(
    library: Library, found: Mapping[str, Hit], count: int, within: Collection[str] | None = None
) -> dict[str, Hit]:
    """Return up to `count` parents, children and siblings of hits that were not found themselves."""
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
    """Yield the parent, first children, next and previous sibling that have text, each with its relation."""
    parent = library.node(section_id).parent
    siblings = library.children(library.root_id if parent is None else parent)
    position = siblings.index(section_id)
    neighbours = siblings[position + 1 : position + 2] + siblings[max(0, position - 1) : position]
    related = [] if parent is None else [(parent, "parent")]
    related += [(child, "child") for child in library.children(section_id)[:_CHILDREN_MAX]]
    related += [(sibling, "sibling") for sibling in neighbours]
    return ((one, relation) for one, relation in related if library.node(one).kind not in TEXTLESS)
