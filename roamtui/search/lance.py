"""`LanceSearcher`: finds sections of one library in a LanceDB database, by its URI, as LanceDB ranks them."""

from __future__ import annotations

import importlib.util
import os
import random
import re
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from hashlib import blake2b
from itertools import chain
from pathlib import Path
from typing import Any

from roamtui.document.library import Library
from roamtui.document.numbering import NodeNumbering
from roamtui.document.plain import sanitise_line, shorten
from roamtui.errors import RoamtuiError, UnknownSectionError, UsageError
from roamtui.search.base import Embedder, Hit, IndexLostError, Progress, SearchServices, VectorArray
from roamtui.search.options import RetrievalOptions, SearchMode
from roamtui.search.segments import IndexSegment, batch_segments, list_segments
from roamtui.search.sentences import make_snippet
from roamtui.search.terms import normalise_unicode, query_terms, space_cjk
from roamtui.search.vectors import EmbeddingChunk, VectorStore, embed_query, embed_texts, make_chunks

_QUERY_LENGTH_MAX = 2_000
_LIST_NAMES = {SearchMode.KEYWORD: "text", SearchMode.VECTOR: "vector", SearchMode.HYBRID: "hybrid"}
NAME = "passages"
SUMMARIES = "summaries"
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

    def __init__(self, library: Library, options: RetrievalOptions, parts: SearchServices) -> None:
        self._library = library
        self._options = options
        self._parts = parts
        self._lock = threading.Lock()
        self._passages: LanceTable | None = None

    def refresh(self, library: Library) -> None:
        """Search `library` from now on; only what changed is written."""
        self._library = library

    def prepare(self, tell: Progress | None = None) -> LanceTable:
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
        vector = self._embed(query) if passages.vectors is not None else None
        mode = self._options.mode if vector is not None else SearchMode.KEYWORD
        found = passages.search(
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
                runner_up=_compute_runner_up_share(found, section) if mode is not SearchMode.KEYWORD else None,
            )
            for rank, section in enumerate(found, start=1)
        )

    def _open(self, tell: Progress | None) -> LanceTable:
        options, parts = self._options, self._parts
        assert options.index is not None
        database = LanceDatabase(options.index)
        chunking = (options.chunk_size, options.chunk_overlap)
        if options.needs_vectors:
            assert parts.embedder is not None
            store = VectorStore(parts.cache)
            try:
                vectors = (parts.embedder, store)
                return LanceTable(database, self._library, chunking, vectors, tell=tell, progress=parts.progress)
            except (IndexLostError, UsageError):
                raise
            except RoamtuiError as error:
                parts.fall_back_to_keywords(error, options.mode)
            finally:
                store.close()
                for note in store.notes:
                    parts.warn_once(note)
        return LanceTable(database, self._library, chunking, tell=tell)

    def _embed(self, query: str) -> VectorArray | None:
        """Return a query as a vector, None where words are searched for alone."""
        embedder = self._parts.embedder
        assert embedder is not None
        try:
            return embed_query(query, embedder)
        except RoamtuiError as error:
            self._parts.fall_back_to_keywords(error, self._options.mode)
            return None


def _compute_runner_up_share(found: Sequence[ChunkHit], section: ChunkHit) -> float:
    """Return the best score by words of another section as a share of that of one; infinite where it has none."""
    other = max((one.text_score for one in found if one is not section), default=0.0)
    return other / section.text_score if section.text_score else float("inf")


@dataclass(frozen=True, slots=True)
class ChunkHit:
    """A section by its best chunk."""

    section_id: str
    score: float
    """Of the query that was asked, in LanceDB's own measure; above 0."""
    text_score: float
    """By words alone, 0 where none of them is in it."""


class LanceTable:
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
        database: LanceDatabase,
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
        self.vectors = vectors
        self._name = NAME if vectors is None else f"{NAME}_{_digest(vectors[0].name)}"
        parts = self._list_parts()
        with database.failing():
            self._table = database.get_table(self._name)
            retry_conflicts(lambda: self._synchronise(parts, tell, progress))

    def __len__(self) -> int:
        return len(self.library)

    def search(self, text: str, vector: VectorArray | None, *, limit: int, within: str | None = None) -> list[ChunkHit]:
        """Return up to `limit` sections, the best first: by words, by a vector, or by a hybrid query of both."""
        if self._table is None:
            return []
        size = max(_ROWS_MIN, limit * _ROWS_EACH)
        with self._database.failing():
            while True:
                rows = self._ask(text, vector, within, size)
                best: dict[str, ChunkHit] = {}
                for found in rows:
                    best.setdefault(found.section_id, found)
                if len(best) >= limit or len(rows) < size:
                    return list(best.values())[:limit]
                size *= _GROWTH

    def _ask(self, text: str, vector: VectorArray | None, within: str | None, size: int) -> list[ChunkHit]:
        assert self._table is not None
        queries = self._database.queries
        words = queries.MatchQuery(space_cjk(text), "text")
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
        return [ChunkHit(section_id, score, text_score or 0.0) for section_id, score, text_score in found]

    def _list_parts(self) -> list[IndexSegment]:
        """Return the parts of the library, each with a digest of all that decides what its rows are."""
        library = self._described
        parts = []
        for part in chain.from_iterable(
            list_segments(NodeNumbering(library), library.documents, {}, library.summaries).values()
        ):
            first = part.document.ids[part.first]
            above = (part.digest, first, *library.ancestors(first))
            parts.append(replace(part, digest=_digest(_FORMAT, *map(str, self._chunking), *above)))
        return parts

    def _synchronise(self, parts: Sequence[IndexSegment], tell: Progress | None, progress: Progress | None) -> None:
        """Take out the parts that are not among these, and write those that are missing."""
        missing = self._drop_others(parts)
        total = sum(map(len, missing))
        chunk_count = sum(len(self._make_chunks(part)) for part in missing) if self.vectors else 0
        done = embedded = 0
        for batch in batch_segments(missing, _BATCH_SECTIONS):
            if tell is not None:
                tell(done, total)
            chunks = [(part, chunk) for part in batch for chunk in self._make_chunks(part)]
            told = (lambda count, _, before=embedded: progress(before + count, chunk_count)) if progress else None
            self._add(chunks, told)
            done += sum(map(len, batch))
            embedded += len(chunks)
        if tell is not None and total:
            tell(total, total)
        if self._table is not None:
            optimise_table(self._table, self._list_indexes(self._table.count_rows()))

    def _drop_others(self, parts: Sequence[IndexSegment]) -> Sequence[IndexSegment]:
        """Take out what is not among these parts, and return those that are missing."""
        if self._table is None:
            return parts
        self._table.checkout_latest()
        rows = self._table.search().select(["part", "doc"]).to_arrow()
        others = set(rows["doc"].unique().to_pylist())
        keys = {part.document.key for part in parts}
        if others and keys and others.isdisjoint(keys):
            example = min(others) or "a single document"
            uri = self._database.uri
            raise UsageError(f"{uri} holds the index of other documents, such as {example}. Name another place.")
        known = set(rows["part"].unique().to_pylist())
        delete_rows(self._table, "part", known - {part.digest for part in parts})
        return [part for part in parts if part.digest not in known]

    def _make_chunks(self, part: IndexSegment) -> list[EmbeddingChunk]:
        size, overlap = self._chunking
        ids = part.document.ids[part.first : part.end]
        return list(make_chunks(self._described, ids, size=size, overlap=overlap))

    def _add(self, chunks: Sequence[tuple[IndexSegment, EmbeddingChunk]], tell: Progress | None) -> None:
        if not chunks:
            return
        arrow = self._database.arrow
        text = arrow.string()
        fields = [("id", text), ("doc", text), ("part", text), ("above", arrow.list_(text)), ("text", text)]
        rows = [
            {
                "id": chunk.section_id,
                "doc": part.document.key,
                "part": part.digest,
                "above": [chunk.section_id, *self.library.ancestors(chunk.section_id)],
                "text": space_cjk(normalise_unicode(chunk.text)),
            }
            for part, chunk in chunks
        ]
        added = arrow.Table.from_pylist(rows, schema=arrow.schema(fields))
        if self.vectors is not None:
            matrix = embed_texts([chunk.text for _, chunk in chunks], *self.vectors, tell)
            values = arrow.array(matrix.ravel(), type=arrow.float16())
            column = arrow.FixedSizeListArray.from_arrays(values, matrix.shape[1])
            added = added.append_column("vector", column)
            fields.append(("vector", column.type))
        if self._table is None:
            self._table = self._database.open_table(self._name, fields)
        self._table.add(added)

    def _list_indexes(self, count: int) -> list[tuple[str, Any]]:
        kinds = self._database.indexes
        words = kinds.FTS(language="English", with_position=False, max_token_length=_TOKEN_LENGTH_MAX)
        if self.vectors is None or count < _INDEXED_MIN:
            return [("text", words)]
        partitions = max(1, count // _PARTITION_ROWS)
        vectors = kinds.IvfSq(distance_type="dot", num_partitions=partitions, max_iterations=_ITERATIONS)
        return [("text", words), ("vector", vectors)]


def drop_tables(database: LanceDatabase) -> int:
    """Delete the tables of an index, no others, and return how many there were."""
    names = [name for name in database.list_tables() if name in (NAME, SUMMARIES) or name.startswith(f"{NAME}_")]
    for name in names:
        database.drop_table(name)
    return len(names)


def _digest(*texts: str) -> str:
    return blake2b("\x1f".join(texts).encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()


_SEEN_AFTER = timedelta(seconds=2)
"""How long what another program wrote may stay unseen."""
_KEPT_VERSIONS = timedelta(hours=1)
"""How long an older version of a table is kept, which another program may still be reading."""
_ASKED_AT_ONCE = 500
_ATTEMPTS = 8
"""How often something is tried that another program may have come before."""
_PAUSE_SECONDS = 0.1
_UNINDEXED_MIN = 1_000
_UNINDEXED_SHARE = 0.05
"""Rows that are not in an index are searched one by one; more than this of them are worth tidying."""
_REASON_LENGTH = 200
_KNOWN = (
    (r"NoSuchBucket", "there is no such bucket"),
    (r"api_key is required|Failed to get AWS credentials", "no key was found. Set {keys}"),
    (r"AccessDenied|InvalidAccessKeyId|SignatureDoesNotMatch|\b40[13]\b", "access was refused. Look at {keys}"),
    (r"BadScheme", "an AWS_ENDPOINT that begins with http:// needs AWS_ALLOW_HTTP=true"),
    (r"kind: Connect\b|connect_failures=3", "its host cannot be reached. Look at {places} and at the network"),
    (r"request_failures=3", "its host answers with errors. Try again later"),
)
"""Patterns of an error's text, the first that is found, and what it means."""
_VARIABLES = {
    "s3": ("AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY", "AWS_ENDPOINT, AWS_REGION"),
    "db": ("LANCEDB_API_KEY", "LANCEDB_HOST_OVERRIDE, LANCEDB_REGION"),
}
"""By scheme, where keys and addresses come from."""
_OTHERS = ("the keys in the environment", "the address")


class LanceDatabase:
    """Tables by name. May be used from any thread.

    Args:
        uri: A folder, ``s3://…``, ``gs://…``, ``az://…`` or ``db://…``; credentials come from the environment.

    Raises:
        UsageError: LanceDB is not installed.
        IndexLostError: It cannot be opened.
    """

    def __init__(self, uri: str) -> None:
        if importlib.util.find_spec("lancedb") is None:
            raise UsageError('an index by URI needs LanceDB. Install it with: pip install "roamtui[lancedb]"')
        os.environ.setdefault("LANCEDB_LOG", "error")  # else it writes warnings to the terminal by itself
        os.environ.setdefault("LANCE_LOG", "error")
        self.uri = uri if "://" in uri else str(Path(uri).expanduser())
        import lancedb  # noqa: PLC0415 - an extra
        import lancedb.index  # noqa: PLC0415 - likewise
        import lancedb.query  # noqa: PLC0415 - likewise
        import lancedb.rerankers  # noqa: PLC0415 - likewise
        import pyarrow as pa  # noqa: PLC0415 - likewise

        self.arrow: Any = pa
        """pyarrow, in which rows are given and taken."""
        self.queries: Any = lancedb.query
        """Classes of queries."""
        self.indexes: Any = lancedb.index
        """Classes of indexes."""
        self.rerankers: Any = lancedb.rerankers
        """Classes of what fuses the two lists of a hybrid query."""
        said = (("region", "LANCEDB_REGION"), ("host_override", "LANCEDB_HOST_OVERRIDE"))
        cloud = {name: os.environ[variable] for name, variable in said if os.environ.get(variable)}
        with self.failing():
            self._connection = lancedb.connect(
                self.uri, read_consistency_interval=_SEEN_AFTER, **(cloud if uri.startswith("db://") else {})
            )

    def open_table(self, name: str, fields: Iterable[tuple[str, Any]]) -> Any:  # noqa: ANN401 - LanceDB's own
        """Return a table, made with these columns where it is missing."""
        schema = self.arrow.schema(list(fields))
        with self.failing():
            for attempt in range(_ATTEMPTS):
                try:
                    if name in self.list_tables():
                        return self._connection.open_table(name)
                    return self._connection.create_table(name, schema=schema, mode="create")
                except (ValueError, RuntimeError):  # another program may just be making it
                    if attempt == _ATTEMPTS - 1:
                        raise
                    _pause(attempt)
        raise AssertionError

    def get_table(self, name: str) -> Any | None:  # noqa: ANN401 - LanceDB's own
        """Return a table, None where there is none, or where another program is just making it."""
        with self.failing():
            try:
                return self._connection.open_table(name) if name in self.list_tables() else None
            except ValueError as error:
                if "was not found" not in str(error):
                    raise
                return None

    def list_tables(self) -> list[str]:
        """Return the names of all tables."""
        with self.failing():
            names: list[str] = []
            token = None
            while True:
                page = self._connection.list_tables(page_token=token)
                names += page.tables
                token = page.page_token
                if not token:
                    return names

    def drop_table(self, name: str) -> None:
        """Delete a table that is there."""
        with self.failing():
            self._connection.drop_table(name)

    def measure(self) -> int | None:
        """Return the bytes that the database takes on disk, None where it is no folder."""
        folder = Path(self.uri)
        if "://" in self.uri or not folder.is_dir():
            return None
        return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())

    @contextmanager
    def failing(self) -> Iterator[None]:
        """Turn LanceDB's errors into one of ours that names the database."""
        try:
            yield
        except (RuntimeError, OSError, ValueError, KeyError, TypeError) as error:
            reason = explain_failure(error, self.uri)
            shown = shorten(sanitise_line(self.uri), 80)
            raise IndexLostError(f"The index {shown} cannot be used: {reason}.", is_damaged=False) from error


def explain_failure(error: Exception, uri: str) -> str:
    """Return why something of LanceDB's failed, without a full stop."""
    text = str(error)
    keys, places = _VARIABLES.get(uri.partition("://")[0], _OTHERS)
    for pattern, meaning in _KNOWN if "://" in uri else ():
        if re.search(pattern, text):
            return meaning.format(keys=keys, places=places)
    return shorten(sanitise_line(text.partition(", /")[0]), _REASON_LENGTH) or type(error).__name__


def retry_conflicts(write: Callable[[], None]) -> None:
    """Write something that may be written again, and do so while other programs are writing at the same time."""
    for attempt in range(_ATTEMPTS):
        try:
            return write()
        except RuntimeError as error:
            if "conflict" not in str(error) or attempt == _ATTEMPTS - 1:
                raise
            _pause(attempt)
    return None


def _pause(attempt: int) -> None:
    """Wait a little, the longer the more often; never as long as another program that began at the same time."""
    time.sleep(_PAUSE_SECONDS * (attempt + 1) * (0.5 + random.random()))  # noqa: S311 - no secret


def delete_rows(table: Any, column: str, values: Iterable[str]) -> None:  # noqa: ANN401 - LanceDB's own
    """Delete the rows that have one of these values, which are digests or ids, in a column."""
    some = list(values)
    for start in range(0, len(some), _ASKED_AT_ONCE):
        table.delete(f"{column} IN ({quote(some[start : start + _ASKED_AT_ONCE])})")


def quote(values: Iterable[str]) -> str:
    """Return texts as SQL has them, joined by commas."""
    return ", ".join("'" + value.replace("'", "''") + "'" for value in values)


def optimise_table(table: Any, indexes: Iterable[tuple[str, Any]]) -> None:  # noqa: ANN401 - LanceDB's own
    """Make the indexes that are missing, and bring them up to date where much is not in them."""
    count = table.count_rows()
    if not count:
        return
    made = {index.columns[0]: index.name for index in table.list_indices()}
    is_behind = False
    for column, config in indexes:
        if column not in made:
            table.create_index(column, config=config)
        else:
            stats = table.index_stats(made[column])
            is_behind |= stats is not None and stats.num_unindexed_rows > max(_UNINDEXED_MIN, _UNINDEXED_SHARE * count)
    if is_behind:
        with warnings.catch_warnings(action="ignore", category=UserWarning):  # the cloud tidies by itself, and says so
            table.optimize(cleanup_older_than=_KEPT_VERSIONS)


def load_summaries(database: LanceDatabase) -> dict[str, str]:
    """Return all summaries by the digest of what they are of."""
    with database.failing():
        table = database.get_table(SUMMARIES)
        if table is None:
            return {}
        rows = table.search().select(["digest", "text"]).to_arrow()
        return dict(zip(rows["digest"].to_pylist(), rows["text"].to_pylist(), strict=True))


def save_summaries(database: LanceDatabase, summaries: Mapping[str, str]) -> None:
    """Add summaries by the digest of what they are of; those that are there already are not written again."""
    kept = load_summaries(database)
    new = {digest: text for digest, text in summaries.items() if kept.get(digest) != text}
    if not new:
        return
    arrow = database.arrow
    fields = [("digest", arrow.string()), ("text", arrow.string())]
    table = database.open_table(SUMMARIES, fields)
    rows = [{"digest": digest, "text": text} for digest, text in new.items()]

    def replace_rows() -> None:
        delete_rows(table, "digest", new)
        table.add(arrow.Table.from_pylist(rows, schema=arrow.schema(fields)))

    with database.failing():
        retry_conflicts(replace_rows)
