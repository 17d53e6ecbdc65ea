"""`LanceSearcher`: finds sections of one library in a LanceDB database, ranked by LanceDB."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from roamtui.document.layout import Layout
from roamtui.document.library import Library
from roamtui.errors import RoamtuiError, UnknownSectionError, UsageError
from roamtui.search.base import Embedder, EmbedKind, Hit, IndexLostError, Progress, SearchParts
from roamtui.search.excerpts import make_snippet
from roamtui.search.lance.database import TABLE as SUMMARIES
from roamtui.search.lance.database import Database, delete_rows, load_summaries, quote, retry_conflicts, tidy_table
from roamtui.search.options import RetrievalOptions, SearchMode
from roamtui.search.parts import Part, find_parts
from roamtui.search.terms import normalise, query_terms, space_out
from roamtui.search.vectors import STORED, Chunk, VectorStore, digest_text, embed_missing, make_chunks, normalise_rows

if TYPE_CHECKING:  # numpy is an extra
    import numpy as np
    from numpy.typing import NDArray

_QUERY_LENGTH_MAX = 2_000
_LIST_NAMES = {SearchMode.KEYWORD: "text", SearchMode.VECTOR: "vector", SearchMode.HYBRID: "hybrid"}
NAME = "passages"
_FORMAT = "1"
"""Rises when the same text gives other rows."""
_BATCH_SECTIONS = 5_000
"""Written at once: one commit, which is some requests to object storage."""
_ROWS_EACH = 3
"""Rows that are asked for each section that is wanted: the best chunks are often of the same one."""
_ROWS_MIN = 50
_GROWTH = 8
_TOKEN_LENGTH_MAX = 200
_INDEXED_MIN = 100_000
"""Vectors from which on not all are compared with a query's."""
_PARTITION_ROWS = 4_096
_PROBES = 25
"""Partitions that are compared with a query's vector, the nearest first."""
_REFINED = 4
_ITERATIONS = 10
"""Rounds of dividing into partitions; 156,000 vectors take 8 s of CPU time. Product quantisation took minutes."""


class LanceSearcher:
    """Finds sections by words, by vectors or by LanceDB's hybrid query. May be asked from any thread."""

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
        """Return what is searched, brought up to date now rather than by the first search."""
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
        """Return up to `limit` hits, the best first. See `Searcher`."""
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
                snippet=make_snippet(library.own_text(section.section_id), terms),
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


@dataclass(frozen=True, slots=True)
class Found:
    """A section by its best chunk."""

    section_id: str
    score: float
    """Of the query that was asked, in LanceDB's own measure; above 0."""
    text_score: float
    """By words alone, 0 where none of them is in it."""


class Passages:
    """A table that is brought up to date with a library when this is made; each embedder has a table of its own.

    The chunks of a part of the library are written whole or not at all; those that two programs wrote are found once.
    Making one with an embedder may take minutes; it can be broken off and taken up again.

    Args:
        database: Where the table lies.
        library: What is searched.
        chunking: Characters of a chunk at most, and how many it repeats of the one before.
        vectors: Who makes vectors, and what this machine made before; None for words alone.
        tell: Is told how many of the sections to write are written, and of how many.
        progress: Is told how many chunks are embedded, and of how many.

    Raises:
        UsageError: The table holds other documents.
        RoamtuiError: The database or the embedder failed.
    """

    def __init__(
        self,
        database: Database,
        library: Library,
        chunking: tuple[int, int],
        vectors: tuple[Embedder, VectorStore] | None = None,
        *,
        tell: Progress | None = None,
        progress: Progress | None = None,
    ) -> None:
        self.library = library
        self._database = database
        self._described = replace(library, summaries={**load_summaries(database), **library.summaries})
        self._chunking = chunking
        self._vectors = vectors
        self._name = NAME if vectors is None else f"{NAME}_{_digest(vectors[0].name)}"
        parts = self._list_parts()
        with database.failing():
            self._table = database.find_table(self._name)
            retry_conflicts(lambda: self._synchronise(parts, tell, progress))

    def __len__(self) -> int:
        return len(self.library)

    @property
    def has_vectors(self) -> bool:
        """Whether sections can be found by a vector."""
        return self._vectors is not None

    def find(
        self, text: str, vector: NDArray[np.float32] | None, *, limit: int, within: str | None = None
    ) -> list[Found]:
        """Return up to `limit` sections, the best first: by words, by a vector, or by a hybrid query of both."""
        if self._table is None:
            return []
        size = max(_ROWS_MIN, limit * _ROWS_EACH)
        with self._database.failing():
            while True:
                rows = self._ask(text, vector, within, size)
                best: dict[str, Found] = {}
                for found in rows:
                    best.setdefault(found.section_id, found)
                if len(best) >= limit or len(rows) < size:
                    return list(best.values())[:limit]
                size *= _GROWTH

    def _ask(self, text: str, vector: NDArray[np.float32] | None, within: str | None, size: int) -> list[Found]:
        assert self._table is not None
        queries = self._database.queries
        words = queries.MatchQuery(space_out(text), "text")
        if vector is None:
            search, measure = self._table.search(words, query_type="fts"), "_score"
        elif not text:
            search, measure = self._table.search(vector), "_distance"
        else:
            search, measure = self._table.search(query_type="hybrid").vector(vector).text(words), "_relevance_score"
            search = search.rerank(self._database.rerankers.RRFReranker(return_score="all"))
        if vector is not None:
            search = search.distance_type("dot").nprobes(_PROBES).refine_factor(_REFINED)
        if within is not None:
            search = search.where(f"array_has(above, {quote([within])})", prefilter=True)
        columns = ["id"] if measure == "_relevance_score" else ["id", measure]
        rows = search.limit(size).select(columns).to_arrow()
        scores = rows[measure].to_pylist()
        text_scores = rows["_score"].to_pylist() if text else [0.0] * len(rows)
        if measure == "_distance":
            scores = [max(1e-6, 1.0 - distance) for distance in scores]
        found = zip(rows["id"].to_pylist(), scores, text_scores, strict=True)
        return [Found(section_id, score, text_score or 0.0) for section_id, score, text_score in found]

    def _list_parts(self) -> dict[str, Part]:
        """Return the parts of the library by a digest of all that decides what their rows are."""
        library = self._described
        by_document = find_parts(Layout(library), library.documents, {}, library.summaries)
        parts = {}
        for part in (part for parts in by_document.values() for part in parts):
            first = part.document.ids[part.first]
            parts[_digest(_FORMAT, *map(str, self._chunking), part.digest, first, *library.ancestors(first))] = part
        return parts

    def _synchronise(self, parts: Mapping[str, Part], tell: Progress | None, progress: Progress | None) -> None:
        """Take out the parts that are not among these, and write those that are missing."""
        missing = self._drop_others(parts)
        total = sum(len(part) for part in missing.values())
        chunk_count = sum(len(self._make_chunks(part)) for part in missing.values()) if self._vectors else 0
        done = embedded = 0
        for batch in _divide(missing):
            if tell is not None:
                tell(done, total)
            chunks = {digest: self._make_chunks(part) for digest, part in batch.items()}
            told = _shift(progress, embedded, chunk_count) if progress is not None else None
            self._add(batch, chunks, told)
            done += sum(len(part) for part in batch.values())
            embedded += sum(map(len, chunks.values()))
        if tell is not None and total:
            tell(total, total)
        if self._table is not None:
            tidy_table(self._table, self._list_indexes(self._table.count_rows()))

    def _drop_others(self, parts: Mapping[str, Part]) -> dict[str, Part]:
        """Take out what is not among these parts, and return those that are missing."""
        if self._table is None:
            return dict(parts)
        self._table.checkout_latest()
        rows = self._table.search().select(["part", "doc"]).to_arrow()
        others = set(rows["doc"].unique().to_pylist())
        keys = {part.document.key for part in parts.values()}
        if others and keys and others.isdisjoint(keys):
            example = min(others) or "a single document"
            uri = self._database.uri
            raise UsageError(f"{uri} holds the index of other documents, such as {example}. Name another place.")
        known = set(rows["part"].unique().to_pylist())
        delete_rows(self._table, "part", known - parts.keys())
        return {digest: part for digest, part in parts.items() if digest not in known}

    def _make_chunks(self, part: Part) -> list[Chunk]:
        size, overlap = self._chunking
        ids = part.document.ids[part.first : part.end]
        return list(make_chunks(self._described, ids, size=size, overlap=overlap))

    def _add(self, parts: Mapping[str, Part], chunks: Mapping[str, Sequence[Chunk]], tell: Progress | None) -> None:
        arrow = self._database.arrow
        text = arrow.string()
        fields = [("id", text), ("doc", text), ("part", text), ("above", arrow.list_(text)), ("text", text)]
        rows = [
            {
                "id": chunk.section_id,
                "doc": parts[digest].document.key,
                "part": digest,
                "above": [chunk.section_id, *self.library.ancestors(chunk.section_id)],
                "text": space_out(normalise(chunk.text)),
            }
            for digest, some in chunks.items()
            for chunk in some
        ]
        if not rows:
            return
        added = arrow.Table.from_pylist(rows, schema=arrow.schema(fields))
        if self._vectors is not None:
            column = self._embed([chunk.text for some in chunks.values() for chunk in some], self._vectors, tell)
            added = added.append_column("vector", column)
            fields.append(("vector", column.type))
        if self._table is None:
            self._table = self._database.open_table(self._name, fields)
        self._table.add(added)

    def _embed(self, texts: Sequence[str], vectors: tuple[Embedder, VectorStore], tell: Progress | None) -> Any:  # noqa: ANN401 - pyarrow's own
        """Return the vectors of texts as a column; those that this machine knows are not made again."""
        import numpy as np  # noqa: PLC0415 - an extra

        embedder, store = vectors
        digests = [digest_text(text) for text in texts]
        known = store.load(digests, embedder.name)
        missing = {digest: text for digest, text in zip(digests, texts, strict=True) if digest not in known}
        known |= embed_missing(missing, embedder, store, tell)
        matrix = np.frombuffer(b"".join(known[digest] for digest in digests), dtype=STORED)
        arrow = self._database.arrow
        values = arrow.array(matrix, type=arrow.float16())
        return arrow.FixedSizeListArray.from_arrays(values, len(matrix) // len(texts))

    def _list_indexes(self, count: int) -> list[tuple[str, Any]]:
        kinds = self._database.indexes
        words = kinds.FTS(language="English", with_position=False, max_token_length=_TOKEN_LENGTH_MAX)
        if self._vectors is None or count < _INDEXED_MIN:
            return [("text", words)]
        partitions = max(1, count // _PARTITION_ROWS)
        vectors = kinds.IvfSq(distance_type="dot", num_partitions=partitions, max_iterations=_ITERATIONS)
        return [("text", words), ("vector", vectors)]


def drop_tables(database: Database) -> int:
    """Delete the tables of an index, no others, and return how many there were."""
    names = [name for name in database.list_tables() if name in (NAME, SUMMARIES) or name.startswith(f"{NAME}_")]
    for name in names:
        database.drop_table(name)
    return len(names)


def _digest(*texts: str) -> str:
    return blake2b("\x1f".join(texts).encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()


def _shift(tell: Progress, before: int, total: int) -> Callable[[int, int], None]:
    """Return what tells of one batch as a share of all."""
    return lambda done, _: tell(before + done, total)


def _divide(parts: Mapping[str, Part]) -> Iterator[dict[str, Part]]:
    """Yield the parts in batches of about as many sections."""
    batch: dict[str, Part] = {}
    for digest, part in parts.items():
        batch[digest] = part
        if sum(map(len, batch.values())) >= _BATCH_SECTIONS:
            yield batch
            batch = {}
    if batch:
        yield batch
