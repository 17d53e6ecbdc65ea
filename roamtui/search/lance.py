"""`LanceSearcher`: finds sections of one library in a LanceDB database, with LanceDB's own ranking."""

from __future__ import annotations

import importlib.util
import os
import random
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import Any

from roamtui.document.library import Library
from roamtui.document.numbering import NodeNumbering
from roamtui.document.plain import sanitise_line, shorten
from roamtui.errors import RoamtuiError, UnknownSectionError, UsageError
from roamtui.search.base import Embedder, Hit, IndexLostError, Progress, SearchServices, VectorArray
from roamtui.search.excerpts import make_snippet
from roamtui.search.index import IndexedDocument
from roamtui.search.options import RetrievalOptions, SearchMode
from roamtui.search.terms import extract_query_terms, normalise_unicode, space_unspaced_scripts
from roamtui.search.vectors import EmbeddingChunk, VectorStore, embed_query, embed_texts, make_chunks

_QUERY_LENGTH_MAX = 2_000
_LIST_NAMES = {SearchMode.KEYWORD: "text", SearchMode.VECTOR: "vector", SearchMode.HYBRID: "hybrid"}
TABLE = "passages"
SUMMARIES = "summaries"
_FORMAT_VERSION = "1"
"""Increase it when the rows for the same text change."""
_BATCH_CHUNKS = 10_000
"""Approximate number of chunks that are written in one commit, which takes several requests to object storage."""
_ROWS_PER_SECTION = 3
"""Number of rows fetched for each wanted section, because the best chunks often belong to the same section."""
_ROWS_MIN = 50
_ROWS_GROWTH_FACTOR = 8
"""If the fetched rows contain too few sections, this many times as many are fetched."""
_TOKEN_LENGTH_MAX = 200
_INDEXED_MIN = 100_000
"""Minimum number of vectors for which an approximate index is used."""
_PARTITION_ROWS = 4_096
_SEARCHED_PARTITIONS = 25
"""Number of nearest partitions that a query searches."""
_REFINE_FACTOR = 4
"""Exact distances are computed for this many times as many rows as are fetched."""
_ITERATIONS = 10
"""Rounds of clustering into partitions. 156,000 vectors take 8 s of CPU time. Product quantisation took minutes."""


class LanceSearcher:
    """Finds sections by words, by vectors, or by LanceDB's hybrid query. Callable from any thread."""

    def __init__(self, library: Library, options: RetrievalOptions, services: SearchServices) -> None:
        self._library = library
        self._options = options
        self._services = services
        self._lock = threading.Lock()
        self._table: LanceTable | None = None

    def refresh(self, library: Library) -> None:
        """Search `library` from now on. The next search writes what changed."""
        self._library = library

    def prepare(self, on_progress: Progress | None = None) -> LanceTable:
        """Bring the table up to date now, not only at the next search, and return it."""
        options, services = self._options, self._services
        assert options.index is not None
        with self._lock:
            if self._table is not None and self._table.library is self._library:
                return self._table
            database = LanceDatabase(options.index)
            make_table = partial(LanceTable, database, self._library, options.chunk_size, on_progress=on_progress)
            if options.needs_vectors:
                assert services.embedder is not None
                with closing(VectorStore(services.vector_folder, services.warn_once)) as store:
                    try:
                        self._table = make_table((services.embedder, store))
                    except (IndexLostError, UsageError):
                        raise
                    except RoamtuiError as error:
                        services.fall_back_to_keywords(error, options.mode)
                        self._table = make_table()
            else:
                self._table = make_table()
            return self._table

    def search(
        self,
        query: str,
        *,
        limit: int = 10,
        within: str | None = None,
        earlier: Sequence[str] = (),  # noqa: ARG002 - LanceDB knows no conversation
    ) -> tuple[Hit, ...]:
        """Return up to `limit` hits, best first. See `Searcher`."""
        table = self.prepare()
        library = table.library
        if within is not None and within not in library:
            raise UnknownSectionError(within)
        query = query[:_QUERY_LENGTH_MAX]
        terms = extract_query_terms(query)
        if limit < 1 or not terms:
            return ()
        vector = None
        if table.vectors is not None:
            embedder, _ = table.vectors
            try:
                vector = embed_query(query, embedder)
            except RoamtuiError as error:
                self._services.fall_back_to_keywords(error, self._options.mode)
        mode = self._options.mode if vector is not None else SearchMode.KEYWORD
        found = table.search(
            "" if mode is SearchMode.VECTOR else " ".join(terms),
            vector,
            limit=limit,
            within=within if within != library.root_id else None,
        )
        best = found[0].score if found and mode is SearchMode.KEYWORD else 1.0
        hits = []
        for rank, hit in enumerate(found, start=1):
            other = max((rival.text_score for rival in found if rival is not hit), default=0.0)
            share = other / hit.text_score if hit.text_score else float("inf")
            hits.append(
                Hit(
                    section_id=hit.section_id,
                    score=hit.score / best,
                    snippet=make_snippet(library.clean_text(library.own_span(hit.section_id)), terms),
                    why=f"{_LIST_NAMES[mode]} rank {rank}",
                    runner_up=share if mode is not SearchMode.KEYWORD else None,
                )
            )
        return tuple(hits)


@dataclass(frozen=True, slots=True)
class ChunkHit:
    """A section that was found by its best chunk."""

    section_id: str
    score: float
    """Score of LanceDB, above 0."""
    text_score: float
    """Keyword score; 0 if the chunk contains none of the words."""


class LanceTable:
    """A table that the constructor brings up to date with a library. Each embedder has its own table.

    The chunks of a document are written together or not at all. Chunks that two programs wrote are found only once.
    With an embedder, the constructor may take minutes. If it is interrupted, the next one continues.

    Args:
        database: The database of the table.
        library: The library to search.
        chunk_size: Maximum number of characters of a chunk.
        vectors: The embedder and the vectors stored on this machine, or None for keywords only.
        on_progress: Receives the number of new sections that are written, and their total.

    Raises:
        UsageError: The table contains other documents.
        RoamtuiError: The database or the embedder failed.
    """

    def __init__(
        self,
        database: LanceDatabase,
        library: Library,
        chunk_size: int,
        vectors: tuple[Embedder, VectorStore] | None = None,
        *,
        on_progress: Progress | None = None,
    ) -> None:
        self.library = library
        self.vectors = vectors
        self._database = database
        self._chunk_size = chunk_size
        self._summarised = replace(library, summaries={**load_summaries(database), **library.summaries})
        self._name = TABLE if vectors is None else f"{TABLE}_{_digest(vectors[0].name)}"
        layout = NodeNumbering(self._summarised)
        parts = [IndexedDocument.make(document, layout, self._summarised) for document in library.documents]
        with database.convert_errors():
            self._table = database.get_table(self._name)
            retry_conflicts(lambda: self._sync(parts, on_progress))

    def __len__(self) -> int:
        return len(self.library)

    def search(self, text: str, vector: VectorArray | None, *, limit: int, within: str | None = None) -> list[ChunkHit]:
        """Return up to `limit` sections, best first, by words (if `text` is not empty), by a vector, or by both."""
        if self._table is None:
            return []
        size = max(_ROWS_MIN, limit * _ROWS_PER_SECTION)
        with self._database.convert_errors():
            while True:
                chunk_hits = self._query(text, vector, within, size)
                best: dict[str, ChunkHit] = {}
                for chunk_hit in chunk_hits:
                    best.setdefault(chunk_hit.section_id, chunk_hit)
                if len(best) >= limit or len(chunk_hits) < size:
                    return list(best.values())[:limit]
                size *= _ROWS_GROWTH_FACTOR

    def _query(self, text: str, vector: VectorArray | None, within: str | None, size: int) -> list[ChunkHit]:
        assert self._table is not None
        queries = self._database.queries
        words = queries.MatchQuery(space_unspaced_scripts(text), "text")
        if vector is None:
            search, score_column = self._table.search(words, query_type="fts"), "_score"
        elif not text:
            search, score_column = self._table.search(vector), "_distance"
        else:
            search, score_column = (
                self._table.search(query_type="hybrid").vector(vector).text(words),
                "_relevance_score",
            )
            search = search.rerank(self._database.rerankers.RRFReranker(return_score="all"))
        if vector is not None:
            search = search.distance_type("dot").nprobes(_SEARCHED_PARTITIONS).refine_factor(_REFINE_FACTOR)
        if within is not None:
            search = search.where(f"array_has(above, {quote([within])})", prefilter=True)
        columns = ["id"] if score_column == "_relevance_score" else ["id", score_column]
        rows = search.limit(size).select(columns).to_arrow()
        scores = rows[score_column].to_pylist()
        text_scores = rows["_score"].to_pylist() if text else [0.0] * len(rows)
        if score_column == "_distance":
            scores = [max(1e-6, 1.0 - distance) for distance in scores]
        found = zip(rows["id"].to_pylist(), scores, text_scores, strict=True)
        return [ChunkHit(section_id, score, text_score or 0.0) for section_id, score, text_score in found]

    def _sync(self, parts: Sequence[IndexedDocument], on_progress: Progress | None) -> None:
        """Write the documents that are missing in the table, and remove all others."""
        wanted = {_digest(_FORMAT_VERSION, str(self._chunk_size), part.digest): part for part in parts}
        if self._table is not None:
            self._table.checkout_latest()
            rows = self._table.search().select(["part", "doc"]).to_arrow()
            stored_keys = set(rows["doc"].unique().to_pylist())
            keys = {part.document.key for part in parts}
            if stored_keys and keys and stored_keys.isdisjoint(keys):
                example = min(stored_keys) or "a single document"
                uri = self._database.uri
                raise UsageError(
                    f"{uri} holds the index of other documents, such as {example}. Choose another location."
                )
            stored = set(rows["part"].unique().to_pylist())
            delete_rows(self._table, "part", stored - wanted.keys())
            wanted = {digest: part for digest, part in wanted.items() if digest not in stored}
        done, total = 0, sum(map(len, wanted.values()))
        batch: list[tuple[str, str, EmbeddingChunk]] = []
        for digest, part in wanted.items():
            if on_progress is not None:
                on_progress(done, total)
            ids = [section_id for row, section_id in enumerate(part.document.ids) if row not in part.loaded]
            chunks = make_chunks(self._summarised, ids, size=self._chunk_size)
            batch += ((digest, part.document.key, chunk) for chunk in chunks)
            done += len(part)
            if len(batch) >= _BATCH_CHUNKS or done == total:
                self._add(batch)
                batch = []
        if on_progress is not None and total:
            on_progress(total, total)
        if self._table is not None:
            self._update_indexes(self._table)

    def _add(self, chunks: Sequence[tuple[str, str, EmbeddingChunk]]) -> None:
        if not chunks:
            return
        arrow = self._database.arrow
        text = arrow.string()
        fields = [("id", text), ("doc", text), ("part", text), ("above", arrow.list_(text)), ("text", text)]
        rows = [
            {
                "id": chunk.section_id,
                "doc": key,
                "part": digest,
                "above": [chunk.section_id, *self.library.ancestors(chunk.section_id)],
                "text": space_unspaced_scripts(normalise_unicode(chunk.text)),
            }
            for digest, key, chunk in chunks
        ]
        added = arrow.Table.from_pylist(rows, schema=arrow.schema(fields))
        if self.vectors is not None:
            matrix = embed_texts([chunk.text for _, _, chunk in chunks], *self.vectors, None)
            values = arrow.array(matrix.ravel(), type=arrow.float16())
            column = arrow.FixedSizeListArray.from_arrays(values, matrix.shape[1])
            added = added.append_column("vector", column)
            fields.append(("vector", column.type))
        if self._table is None:
            self._table = self._database.open_table(self._name, fields)
        self._table.add(added)

    def _update_indexes(self, table: Any) -> None:  # noqa: ANN401 - LanceDB's own
        """Create missing indexes, and update them if many rows are not indexed."""
        count = table.count_rows()
        if not count:
            return
        kinds = self._database.indexes
        wanted = {"text": kinds.FTS(language="English", with_position=False, max_token_length=_TOKEN_LENGTH_MAX)}
        if self.vectors is not None and count >= _INDEXED_MIN:
            partitions = max(1, count // _PARTITION_ROWS)
            wanted["vector"] = kinds.IvfSq(distance_type="dot", num_partitions=partitions, max_iterations=_ITERATIONS)
        names = {index.columns[0]: index.name for index in table.list_indices()}
        is_behind = False
        for column, config in wanted.items():
            if column not in names:
                table.create_index(column, config=config)
            else:
                stats = table.index_stats(names[column])
                unindexed_max = max(_UNINDEXED_MIN, _UNINDEXED_SHARE * count)
                is_behind |= stats is not None and stats.num_unindexed_rows > unindexed_max
        if is_behind:
            # LanceDB's cloud optimises by itself, and warns about the call.
            with warnings.catch_warnings(action="ignore", category=UserWarning):
                table.optimize(cleanup_older_than=_KEPT_VERSIONS)


def drop_tables(database: LanceDatabase) -> int:
    """Delete the tables of an index, but no others, and return their number."""
    names = [name for name in database.list_tables() if name in (TABLE, SUMMARIES) or name.startswith(f"{TABLE}_")]
    with database.convert_errors():
        for name in names:
            database.connection.drop_table(name)
    return len(names)


def _digest(*texts: str) -> str:
    return blake2b("\x1f".join(texts).encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()


_READ_DELAY_MAX = timedelta(seconds=2)
"""Maximum time until the writes of another program are seen."""
_KEPT_VERSIONS = timedelta(hours=1)
"""Time for which an old version of a table is kept, because another program may still read it."""
_DELETE_BATCH_SIZE = 500
_ATTEMPTS_MAX = 8
"""Maximum number of times that an operation is tried if another program interferes."""
_PAUSE_SECONDS = 0.1
_UNINDEXED_MIN = 1_000
_UNINDEXED_SHARE = 0.05
"""The index is updated if more than this number and this share of the rows are not indexed. Searching those is slow."""
_REASON_LENGTH = 200


class LanceDatabase:
    """A LanceDB database. Usable from any thread.

    Args:
        uri: A folder, ``s3://…``, ``gs://…``, ``az://…`` or ``db://…``. Credentials come from the environment.

    Raises:
        UsageError: LanceDB is not installed.
        IndexLostError: The database cannot be opened.
    """

    def __init__(self, uri: str) -> None:
        if importlib.util.find_spec("lancedb") is None:
            raise UsageError('an index by URI needs LanceDB. Install it with: pip install "roamtui[lancedb]"')
        os.environ.setdefault("LANCEDB_LOG", "error")  # otherwise it writes warnings to the terminal
        os.environ.setdefault("LANCE_LOG", "error")
        self.uri = uri if "://" in uri else str(Path(uri).expanduser())
        import lancedb  # noqa: PLC0415 - an extra
        import lancedb.index  # noqa: PLC0415 - the same
        import lancedb.query  # noqa: PLC0415 - the same
        import lancedb.rerankers  # noqa: PLC0415 - the same
        import pyarrow as pa  # noqa: PLC0415 - the same

        self.arrow: Any = pa
        self.queries: Any = lancedb.query
        self.indexes: Any = lancedb.index
        self.rerankers: Any = lancedb.rerankers
        variables = {"region": "LANCEDB_REGION", "host_override": "LANCEDB_HOST_OVERRIDE"}
        cloud = {name: os.environ[variable] for name, variable in variables.items() if os.environ.get(variable)}
        with self.convert_errors():
            self.connection = lancedb.connect(
                self.uri, read_consistency_interval=_READ_DELAY_MAX, **(cloud if uri.startswith("db://") else {})
            )

    def open_table(self, name: str, fields: Iterable[tuple[str, Any]]) -> Any:  # noqa: ANN401 - LanceDB's own
        """Return a table. If it is missing, create it with the columns `fields`."""
        schema = self.arrow.schema(list(fields))
        with self.convert_errors():
            for attempt in range(_ATTEMPTS_MAX):
                try:
                    if name in self.list_tables():
                        return self.connection.open_table(name)
                    return self.connection.create_table(name, schema=schema, mode="create")
                except (ValueError, RuntimeError):  # another program may be creating it
                    if attempt == _ATTEMPTS_MAX - 1:
                        raise
                    _pause(attempt)
        raise AssertionError

    def get_table(self, name: str) -> Any | None:  # noqa: ANN401 - LanceDB's own
        """Return a table, or None if it does not exist or another program is still creating it."""
        with self.convert_errors():
            try:
                return self.connection.open_table(name) if name in self.list_tables() else None
            except ValueError as error:
                if "was not found" not in str(error):
                    raise
                return None

    def list_tables(self) -> list[str]:
        """Return the names of all tables."""
        with self.convert_errors():
            names: list[str] = []
            token = None
            while True:
                page = self.connection.list_tables(page_token=token)
                names += page.tables
                token = page.page_token
                if not token:
                    return names

    @contextmanager
    def convert_errors(self) -> Iterator[None]:
        """Convert LanceDB's errors to `IndexLostError`, with a message that names the database."""
        try:
            yield
        except (RuntimeError, OSError, ValueError, KeyError, TypeError) as error:
            reason = shorten(sanitise_line(str(error).partition(", /")[0]), _REASON_LENGTH) or type(error).__name__
            advice = " Check the address, and the keys in the environment." if "://" in self.uri else ""
            shown = shorten(sanitise_line(self.uri), 80)
            message = f"The index {shown} cannot be used: {reason.rstrip('.')}.{advice}"
            raise IndexLostError(message, is_damaged=False) from error


def retry_conflicts(write: Callable[[], None]) -> None:
    """Run a write, and repeat it while the writes of other programs conflict with it."""
    for attempt in range(_ATTEMPTS_MAX):
        try:
            return write()
        except RuntimeError as error:
            if "conflict" not in str(error) or attempt == _ATTEMPTS_MAX - 1:
                raise
            _pause(attempt)
    return None


def _pause(attempt: int) -> None:
    # The pause grows, and is random so that two programs do not collide again.
    time.sleep(_PAUSE_SECONDS * (attempt + 1) * (0.5 + random.random()))  # noqa: S311 - not for security


def delete_rows(table: Any, column: str, values: Iterable[str]) -> None:  # noqa: ANN401 - LanceDB's own
    """Delete the rows with one of these values in a column."""
    remaining = list(values)
    while remaining:
        table.delete(f"{column} IN ({quote(remaining[:_DELETE_BATCH_SIZE])})")
        remaining = remaining[_DELETE_BATCH_SIZE:]


def quote(values: Iterable[str]) -> str:
    """Return texts as SQL string literals, separated by commas."""
    return ", ".join("'" + value.replace("'", "''") + "'" for value in values)


def load_summaries(database: LanceDatabase) -> dict[str, str]:
    """Return all summaries, by the digest of the summarised text."""
    with database.convert_errors():
        table = database.get_table(SUMMARIES)
        if table is None:
            return {}
        rows = table.search().select(["digest", "text"]).to_arrow()
        return dict(zip(rows["digest"].to_pylist(), rows["text"].to_pylist(), strict=True))


def save_summaries(database: LanceDatabase, summaries: Mapping[str, str]) -> None:
    """Save summaries by the digest of the summarised text. Only changes are written."""
    stored = load_summaries(database)
    new = {digest: text for digest, text in summaries.items() if stored.get(digest) != text}
    if not new:
        return
    arrow = database.arrow
    fields = [("digest", arrow.string()), ("text", arrow.string())]
    table = database.open_table(SUMMARIES, fields)
    rows = [{"digest": digest, "text": text} for digest, text in new.items()]

    def replace_rows() -> None:
        delete_rows(table, "digest", new)
        table.add(arrow.Table.from_pylist(rows, schema=arrow.schema(fields)))

    with database.convert_errors():
        retry_conflicts(replace_rows)
