"""A second opinion on keyword hits: a small model on this machine compares what their texts mean.

Only the pieces of the best hits that have most words of the query are embedded, so no index is needed. Once a
library was embedded ahead, all its pieces are compared, and the nearest sections become hits too. How many,
and the weights, were measured on questions that were not used to choose them: see docs/benchmarks.md.
"""

import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from operator import itemgetter
from time import monotonic

from msgspec.structs import replace

from roamtui.document.document import hash_text
from roamtui.document.library import Library
from roamtui.search.base import Embedder, Hit, Ranking
from roamtui.search.lexicon import Language
from roamtui.search.terms import TermMatcher, detect_language, extract_phrases
from roamtui.search.vectors import (
    STORED_TYPE,
    VectorIndex,
    VectorStore,
    compute_vectors,
    make_chunks,
    make_section_chunks,
    normalise_rows,
)

_HITS_MAX = 30
"""Maximum number of hits that are reordered."""
_PIECES_MAX = 50
_PIECES_OF_HIT_MAX = 2
_BATCH_SIZE = 8
_NEAREST_MAX = 10
"""Maximum number of sections that are hits by their meaning alone."""
_WEIGHT_MIN = 0.15
_WEIGHT_MAX = 0.5
"""Weight of meaning beside words: if the first hit has all words of the query, and if it has none."""
_SIMILAR_SHARE_MIN = 0.5
"""Share of the best similarity that counts nothing. Any two texts are somewhat similar."""
_FOLLOW_UP_WEIGHT = 0.85
"""Weight of meaning for a follow-up to a known topic, whose words say little."""
SECONDS_MAX = 0.7
"""Longest time after which a search goes on with what has been embedded."""
_LENGTH_MAX = 60_000
"""Number of characters of a section that are divided into pieces."""
_AHEAD_LENGTH_MAX = 2_000_000
"""Maximum length of a library that is embedded ahead, in characters. On one core, this takes two minutes."""
_AHEAD_BATCH_SIZE = 4
"""A search waits for as many pieces at most: a tenth of a second."""
_SAMPLE_LENGTH = 20_000
"""Number of characters that tell the language of a library."""


class MeaningOrder:
    """Orders the hits of keyword searches by words and meaning. Thread-safe.

    Raises:
        RoamtuiError: The embedder or the store failed. Any method may raise this.
    """

    def __init__(self, embedder: Embedder, chunk_size: int, seconds_max: float | None) -> None:
        """Use an embedder. If `seconds_max` is None, embed all pieces, however long it takes."""
        self._embedder = embedder
        self._chunk_size = chunk_size
        self._seconds_max = seconds_max
        self._lock = threading.Lock()
        self._known: dict[str, bytes] | None = None
        """Vectors of pieces, by the digest of the text. None before the first search."""
        self._ahead_library: Library | None = None
        self._ahead: Iterator[tuple[str, str]] | None = None
        """The pieces of that library that are not embedded yet, or None if there is nothing left to do."""
        self._whole: VectorIndex | None = None
        """All pieces of that library, once they are embedded."""

    def order(
        self, query: str, ranking: Ranking, store: VectorStore, within: str | None = None
    ) -> tuple[Hit, ...]:
        """Return a ranking's hits, the best in the order of words and meaning; named statements stay first.

        If all of the library is embedded, add the sections `within` it whose meaning is nearest.
        """
        if ranking.matcher.language is not Language.ENGLISH and not self._embedder.is_multilingual:
            return ranking.hits
        named = [hit for hit in ranking.hits if hit.is_named]
        others = [hit for hit in ranking.hits if not hit.is_named]
        proposed = others[:_HITS_MAX]
        text = ranking.add_topic(query)
        with self._lock:
            if self._whole is not None and self._ahead_library is ranking.library:
                similarities = self._whole.rank(text, within=within)
                if not extract_phrases(query):  # words in quotation marks must be in a hit
                    known = {hit.section_id for hit in (*named, *proposed)}
                    nearest = _list_nearest(ranking.hits, similarities)
                    proposed += [hit for hit in nearest if hit.section_id not in known]
            else:
                similarities = self._compare(text, ranking, proposed, store)
        if not proposed or max(similarities.values(), default=0.0) <= 0:
            return ranking.hits
        weight = _FOLLOW_UP_WEIGHT if ranking.topics else _compute_weight(ranking)
        ordered = _mix_scores(proposed, similarities, weight)
        known = {hit.section_id for hit in ordered}
        lowest = ordered[-1].score
        rest = [replace(hit, score=min(hit.score, lowest)) for hit in others if hit.section_id not in known]
        return (*named, *ordered, *rest)

    def embed_ahead(self, library: Library, store: VectorStore) -> bool:
        """Embed the next few pieces of a library that are not stored. Return whether some may be left."""
        with self._lock:
            if self._ahead_library is not library:
                self._ahead_library = library
                self._whole = None
                is_worth_it = self._is_worth_embedding(library)
                self._ahead = make_chunks(library, self._chunk_size) if is_worth_it else None
            if self._ahead is None:
                return False
            known = self._load_known(store)
            pieces = (piece for _, piece in self._ahead)
            missing = ((digest, piece) for piece in pieces if (digest := hash_text(piece)) not in known)
            batch = dict(islice(missing, _AHEAD_BATCH_SIZE))
            if batch:
                self._embed_new(batch, store)
            else:
                self._whole = VectorIndex(library, self._chunk_size, store, self._embedder)
                self._ahead = None
            return bool(batch)

    def _is_worth_embedding(self, library: Library) -> bool:
        if sum(len(document.text) for document in library.documents) > _AHEAD_LENGTH_MAX:
            return False
        sample = " ".join(document.text[:_SAMPLE_LENGTH] for document in library.documents)[:_SAMPLE_LENGTH]
        return self._embedder.is_multilingual or detect_language(sample) is Language.ENGLISH

    def _load_known(self, store: VectorStore) -> dict[str, bytes]:
        if self._known is None:
            self._known = dict(store.load(self._embedder.name))
        return self._known

    def _embed_new(self, pieces: Mapping[str, str], store: VectorStore) -> None:
        """Embed pieces, which have their digests as keys, and keep their vectors."""
        new = compute_vectors(pieces, self._embedder)
        self._load_known(store).update(new)
        store.save(self._embedder.name, new)

    def _compare(
        self, text: str, ranking: Ranking, hits: Sequence[Hit], store: VectorStore
    ) -> dict[str, float]:
        """Return the sections with the cosines of their nearest pieces, from -1 to 1, the nearest first."""
        import numpy as np  # noqa: PLC0415 - an extra

        start = monotonic()
        known = self._load_known(store)
        chosen = _choose_pieces(ranking.library, ranking.matcher, hits, self._chunk_size)
        pieces = [*islice(chosen, _PIECES_MAX)]
        query = normalise_rows(self._embedder.embed([text], is_query=True))[0]
        similarities: dict[str, float] = {}
        for first in range(0, len(pieces), _BATCH_SIZE):
            batch = pieces[first : first + _BATCH_SIZE]
            is_late = self._seconds_max is not None and monotonic() - start > self._seconds_max
            missing = {digest: piece for digest, _, piece in batch if digest not in known}
            if missing and not is_late:
                self._embed_new(missing, store)
            for digest, section_id, _ in batch:
                if digest in known:
                    vector = np.frombuffer(known[digest], dtype=STORED_TYPE).astype(np.float32)
                    similarities[section_id] = max(float(vector @ query), similarities.get(section_id, -1.0))
        return dict(sorted(similarities.items(), key=itemgetter(1), reverse=True))


def _mix_scores(hits: Sequence[Hit], similarities: Mapping[str, float], weight: float) -> list[Hit]:
    """Return hits in the order of words and meaning; `similarities` has the nearest first."""
    best = max(similarities.values())
    reasons = {section_id: f"meaning rank {rank}" for rank, section_id in enumerate(similarities, start=1)}
    scores = {}
    for hit in hits:
        share = hit.score  # what was not embedded keeps its score
        if (similarity := similarities.get(hit.section_id)) is not None:
            share = max(0.0, similarity / best - _SIMILAR_SHARE_MIN) / (1 - _SIMILAR_SHARE_MIN)
        scores[hit.section_id] = (1 - weight) * hit.score + weight * share
    highest = max(scores.values())
    return [
        replace(
            hit,
            score=scores[hit.section_id] / highest,
            similarity=similarities.get(hit.section_id),
            why=" · ".join(filter(None, (hit.why, reasons.get(hit.section_id)))),
        )
        for hit in sorted(hits, key=lambda hit: -scores[hit.section_id])
    ]


def _compute_weight(ranking: Ranking) -> float:
    """Return the weight of meaning, which is higher the fewer words of the query the first hit has."""
    library = ranking.library
    terms = ranking.matcher.terms
    node = library.node(ranking.hits[0].section_id)
    text = "\n".join((*node.path, library.text_at(node.own_content_span)[:_LENGTH_MAX]))
    found = {term for *_, term in ranking.matcher.locate(text)}
    return _WEIGHT_MAX - (_WEIGHT_MAX - _WEIGHT_MIN) * len(found) / len(terms)


def _list_nearest(hits: Iterable[Hit], similarities: Mapping[str, float]) -> Iterator[Hit]:
    """Yield the nearest sections, the first in `similarities`: hits, or those that words did not find."""
    known = {hit.section_id: hit for hit in hits}
    similar_min = _SIMILAR_SHARE_MIN * max(similarities.values(), default=0.0)
    for section_id in islice(similarities, _NEAREST_MAX):
        if similarities[section_id] > similar_min:
            yield known.get(section_id) or Hit(section_id=section_id, score=0.0, why="")


def _choose_pieces(
    library: Library, matcher: TermMatcher, hits: Sequence[Hit], chunk_size: int
) -> Iterator[tuple[str, str, str]]:
    """Yield the pieces of each hit that have most terms of the query: digest, id of the section, and text."""
    for hit in hits:
        pieces = [*make_section_chunks(library, hit.section_id, chunk_size, _LENGTH_MAX)]
        pieces.sort(key=lambda piece: len({term for *_, term in matcher.locate(piece)}), reverse=True)
        for piece in pieces[:_PIECES_OF_HIT_MAX]:
            yield hash_text(piece), hit.section_id, piece
