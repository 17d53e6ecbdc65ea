"""`LanceVectors`: the chunks of a library as vectors in LanceDB."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from roamtui.search.base import EmbedKind
from roamtui.search.chunks import make_chunks
from roamtui.search.lance.catalogue import LanceCatalogue
from roamtui.search.lance.database import delete_rows, quote, retry_conflicts, tidy_table
from roamtui.search.vector_index import normalise_rows
from roamtui.search.vector_store import digest_text

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from roamtui.document.library import Library
    from roamtui.search.base import Embedder
    from roamtui.search.lance.database import Database
    from roamtui.search.vector_index import Progress
    from roamtui.search.vector_store import VectorStore

PREFIX = "vectors_"
_EMBEDDED_AT_ONCE = 64
_WRITTEN_AT_ONCE = 16_384
"""A commit each, which is some requests to object storage; until then this machine keeps what was embedded."""
_GROWTH = 8
_FILTERED_MAX = 500
"""Chunks of which LanceDB is told to look at no others."""
_INDEXED_MIN = 100_000
"""Vectors from which on not all are compared with a query's."""
_PARTITION_ROWS = 4_096
_PROBES = 25
"""Partitions that are compared with a query's vector, the nearest first."""
_REFINED = 4
_ITERATIONS = 10
"""Rounds of dividing into partitions; 156,000 vectors take 8 s of CPU time. Product quantisation took minutes."""
_STORED = "<f2"


class LanceVectors:
    """Ranks the sections of a library by their most similar chunk; the vectors of each embedder are a table.

    What a folder of `VectorStore` knows is copied, not made again. Making one may take minutes; it can be broken off
    and taken up again.

    Args:
        library: What is searched.
        embedder: Makes vectors.
        store: Vectors that this machine made before, and keeps.
        chunking: Characters of a chunk at most, and how many it repeats of the one before.
        tell: Is told of progress, while anything has to be embedded.
        database: Where the table lies.

    Raises:
        RoamtuiError: The embedder or the database failed.
    """

    def __init__(
        self,
        library: Library,
        embedder: Embedder,
        store: VectorStore,
        chunking: tuple[int, int],
        tell: Progress | None,
        *,
        database: Database,
    ) -> None:
        self.replaced_model: str | None = None
        self._database = database
        self._embedder = embedder
        self._name = PREFIX + blake2b(embedder.name.encode(), digest_size=6).hexdigest()
        self._texts: dict[str, str] = {}
        self._holders: dict[str, list[str]] = defaultdict(list)
        """Sections by the digest of a chunk that they have."""
        size, overlap = chunking
        summaries = LanceCatalogue(database).load_summaries() | dict(library.summaries)
        for chunk in make_chunks(replace(library, summaries=summaries), size=size, overlap=overlap):
            digest = digest_text(chunk.text).hex()
            self._texts[digest] = chunk.text
            self._holders[digest].append(chunk.section_id)
        with database.failing():
            self._table = database.find_table(self._name)
            retry_conflicts(lambda: self._synchronise(store, tell))
        self._texts.clear()

    def __len__(self) -> int:
        return len(self._holders)

    def rank(self, query: str, *, limit: int, within: Collection[str] | None = None) -> list[tuple[str, float]]:
        """Return up to `limit` sections with the cosine of their most similar chunk, the best first.

        Args:
            query: What is looked for.
            limit: How many at most.
            within: Ids of the sections to look at, None for all.

        Raises:
            RoamtuiError: The embedder or the database failed.
        """
        if self._table is None or not self._holders:
            return []
        vector = normalise_rows(self._embedder.embed([query], kind=EmbedKind.QUERY))[0]
        condition = self._limit_digests(within)
        size = 2 * limit
        with self._database.failing():
            while True:
                found = self._search(vector, condition, size)
                best: dict[str, float] = {}
                for digest, cosine in found:
                    for section_id in self._holders.get(digest, ()):
                        if within is None or section_id in within:
                            best.setdefault(section_id, cosine)
                if len(best) >= limit or len(found) < size:
                    return list(best.items())[:limit]
                size *= _GROWTH

    def _search(self, vector: NDArray[np.float32], condition: str, limit: int) -> list[tuple[str, float]]:
        assert self._table is not None
        search = self._table.search(vector).distance_type("dot").limit(limit).select(["digest", "_distance"])
        search = search.nprobes(_PROBES).refine_factor(_REFINED)
        if condition:
            search = search.where(condition, prefilter=True)
        rows = search.to_arrow()
        pairs = zip(rows["digest"].to_pylist(), rows["_distance"].to_pylist(), strict=True)
        return [(digest, 1.0 - distance) for digest, distance in pairs]

    def _limit_digests(self, within: Collection[str] | None) -> str:
        """Return a condition for few chunks, nothing for many."""
        if within is None:
            return ""
        inside = [digest for digest, ids in self._holders.items() if any(section_id in within for section_id in ids)]
        return f"digest IN ({quote(inside)})" if inside and len(inside) <= _FILTERED_MAX else ""

    def _synchronise(self, store: VectorStore, tell: Progress | None) -> None:
        """Add what is missing, a batch at a time, and take out what no section has any more."""
        known: set[str] = set()
        if self._table is not None:
            self._table.checkout_latest()
            known = set(self._table.search().select(["digest"]).to_arrow()["digest"].to_pylist())
        delete_rows(self._table, "digest", known - self._texts.keys())
        missing = sorted(self._texts.keys() - known, key=lambda digest: (len(self._texts[digest]), digest))
        for start in range(0, len(missing), _WRITTEN_AT_ONCE):
            batch = missing[start : start + _WRITTEN_AT_ONCE]
            vectors = store.load(map(bytes.fromhex, batch), self._embedder.name)
            new = [digest for digest in batch if bytes.fromhex(digest) not in vectors]
            for first in range(0, len(new), _EMBEDDED_AT_ONCE):
                some = new[first : first + _EMBEDDED_AT_ONCE]
                made = self._embed(some)
                store.save(made, self._embedder.name)
                vectors.update(made)
                if tell is not None:
                    tell(start + len(batch) - len(new) + first + len(some), len(missing))
            self._add(batch, vectors)
        count = self._table.count_rows() if self._table is not None else 0
        if count >= _INDEXED_MIN:
            partitions = max(1, count // _PARTITION_ROWS)
            config = self._database.indexes.IvfSq(
                distance_type="dot", num_partitions=partitions, max_iterations=_ITERATIONS
            )
            tidy_table(self._table, [("vector", config)])

    def _embed(self, digests: Sequence[str]) -> dict[bytes, bytes]:
        made = self._embedder.embed([self._texts[digest] for digest in digests], kind=EmbedKind.DOCUMENT)
        rows = [row.astype(_STORED).tobytes() for row in normalise_rows(made)]
        return {bytes.fromhex(digest): row for digest, row in zip(digests, rows, strict=True)}

    def _add(self, digests: Sequence[str], vectors: Mapping[bytes, bytes]) -> None:
        import numpy as np  # noqa: PLC0415 - an extra

        arrow = self._database.arrow
        joined = b"".join(vectors[bytes.fromhex(digest)] for digest in digests)
        matrix = np.frombuffer(joined, dtype=_STORED)
        width = len(matrix) // len(digests)
        fields: list[tuple[str, Any]] = [("digest", arrow.string()), ("vector", arrow.list_(arrow.float16(), width))]
        if self._table is None:
            self._table = self._database.open_table(self._name, fields)
        column = arrow.FixedSizeListArray.from_arrays(arrow.array(matrix, type=arrow.float16()), width)
        self._table.add(arrow.Table.from_arrays([arrow.array(list(digests)), column], schema=arrow.schema(fields)))
