"""Vectors in a LanceDB database, which several machines share: one table for each embedder."""

from __future__ import annotations

import importlib.util
import os
import random
import re
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from roamtui.document.library import Library
from roamtui.document.plain import sanitise_line, shorten
from roamtui.errors import UsageError
from roamtui.search.base import Embedder, IndexLostError, Progress
from roamtui.search.index import IndexedDocument
from roamtui.search.vectors import embed_query, embed_texts, make_chunks

TABLE = "vectors"
"""Start of the names of tables of vectors."""
_FORMAT_VERSION = "2"
"""Increase it when the rows for the same text change."""
_BATCH_CHUNKS = 1_000
"""Approximate number of chunks that are written in one commit, which takes several requests to object storage."""
_ROWS_PER_SECTION = 10
"""Number of rows fetched for each wanted section, because the best chunks often belong to the same section."""
_ATTEMPTS_MAX = 8
"""Maximum number of times that a write is tried if another program interferes."""
_PAUSE_SECONDS = 0.1, 0.8
"""Shortest and longest pause between them. It is random, so that two programs do not collide again."""
_INTERFERENCE = re.compile("conflict|already exists|was not found|ncompatible transaction")
"""What LanceDB says if another program has changed a table, or is creating it."""
_TABLES_MAX = 10_000
_REASON_LENGTH = 200


class LanceTable:
    """A table of the vectors of chunks, which the constructor brings up to date with a library. It may take minutes.

    The chunks of a document are written together or not at all. Chunks that two programs wrote are found only once. If
    the constructor is interrupted, the next one continues.

    `on_progress` receives the number of new sections that are embedded, and their total.

    Raises:
        UsageError: The table contains other documents.
        RoamtuiError: The database or the embedder failed.
    """

    def __init__(
        self,
        uri: str,
        library: Library,
        chunk_size: int,
        embedder: Embedder,
        on_progress: Progress | None = None,
    ) -> None:
        self.library = library
        self._database = LanceDatabase(uri)
        self._chunk_size = chunk_size
        self._embedder = embedder
        self._name = f"{TABLE}_{_digest(embedder.name)}"
        self._table: Any | None = None
        bare = replace(library, summaries={})  # other machines may have other summaries
        parts = [IndexedDocument.make(document, library.numbering, bare) for document in library.documents]
        wanted = {_digest(_FORMAT_VERSION, str(chunk_size), part.digest): part for part in parts}
        for attempt in range(1, _ATTEMPTS_MAX + 1):
            try:
                with self._database.convert_errors():
                    self._sync(wanted, on_progress)
                break
            except IndexLostError as error:
                if attempt == _ATTEMPTS_MAX or not _INTERFERENCE.search(str(error)):
                    raise
            time.sleep(random.uniform(*_PAUSE_SECONDS))  # noqa: S311 - not for security

    def rank(self, query: str, *, limit: int, within: str | None = None) -> list[tuple[str, float]]:
        """Return up to `limit` sections with the cosine of their most similar chunk, best first."""
        if self._table is None or limit < 1:
            return []
        vector = embed_query(query, self._embedder)
        with self._database.convert_errors():
            search = self._table.search(vector).distance_type("dot")
            if within is not None:
                search = search.where(f"array_has(above, {_quote([within])})", prefilter=True)
            rows = search.limit(limit * _ROWS_PER_SECTION).select(["id", "_distance"]).to_arrow()
        best: dict[str, float] = {}
        for section_id, distance in zip(rows["id"].to_pylist(), rows["_distance"].to_pylist(), strict=True):
            best.setdefault(section_id, 1.0 - distance)
        return [*best.items()][:limit]

    def _sync(self, wanted: Mapping[str, IndexedDocument], on_progress: Progress | None) -> None:
        """Write the documents that are missing in the table, and remove all others."""
        self._table, stored = self._database.get_table(self._name), set[str]()
        if self._table is not None:
            rows = self._table.search().select(["part", "doc"]).to_arrow()
            stored, keys = set(rows["part"].to_pylist()), set(rows["doc"].to_pylist())
            if keys and keys.isdisjoint(part.document.key for part in wanted.values()):
                other = f"holds the index of other documents, such as {min(keys) or 'a single document'}"
                raise UsageError(f"{self._database.uri} {other}. Choose another location.")
            if gone := stored - wanted.keys():
                self._table.delete(f"part IN ({_quote(sorted(gone))})")
        missing = {digest: part for digest, part in wanted.items() if digest not in stored}
        done, total = 0, sum(map(len, missing.values()))
        batch: list[dict[str, object]] = []
        for digest, part in missing.items():
            if on_progress is not None:
                on_progress(done, total)
            batch += self._make_rows(digest, part)
            done += len(part)
            if len(batch) >= _BATCH_CHUNKS or (batch and done == total):
                self._add(batch)
                batch = []
        if on_progress is not None and total:
            on_progress(total, total)

    def _make_rows(self, digest: str, part: IndexedDocument) -> Iterator[dict[str, object]]:
        ids = [section_id for row, section_id in enumerate(part.document.ids) if row not in part.loaded]
        for chunk in make_chunks(self.library, ids, size=self._chunk_size):
            above = [chunk.section_id, *self.library.ancestors(chunk.section_id)]
            row = {"id": chunk.section_id, "doc": part.document.key, "part": digest}
            yield {**row, "above": above, "text": chunk.text}

    def _add(self, rows: list[dict[str, object]]) -> None:
        arrow = self._database.arrow
        texts = [str(row.pop("text")) for row in rows]
        matrix = embed_texts(texts, self._embedder)
        values = arrow.array(matrix.ravel(), type=arrow.float16())
        vectors = arrow.FixedSizeListArray.from_arrays(values, matrix.shape[1])
        added = arrow.Table.from_pylist(rows).append_column("vector", vectors)
        if self._table is None:
            self._table = self._database.connection.create_table(self._name, schema=added.schema, exist_ok=True)
        self._table.add(added)


class LanceDatabase:
    """A LanceDB database. Usable from any thread.

    Args:
        uri: A folder, ``s3://…``, ``gs://…``, ``az://…`` or ``db://…``. Credentials come from the environment.

    Raises:
        UsageError: LanceDB is not installed.
        IndexLostError: The database cannot be opened. Any method may raise this.
    """

    def __init__(self, uri: str) -> None:
        if importlib.util.find_spec("lancedb") is None:
            raise UsageError('an index by URI needs LanceDB. Install it with: pip install "roamtui[lancedb]"')
        os.environ.setdefault("LANCEDB_LOG", "error")  # otherwise it writes warnings to the terminal
        os.environ.setdefault("LANCE_LOG", "error")
        self.uri = uri if "://" in uri else str(Path(uri).expanduser())
        import lancedb  # noqa: PLC0415 - an extra
        import pyarrow as pa  # noqa: PLC0415 - the same

        self.arrow: Any = pa
        variables = (
            {"region": "LANCEDB_REGION", "host_override": "LANCEDB_HOST_OVERRIDE"} if uri.startswith("db://") else {}
        )
        cloud = {name: os.environ[variable] for name, variable in variables.items() if os.environ.get(variable)}
        with self.convert_errors():
            self.connection = lancedb.connect(self.uri, **cloud)

    def get_table(self, name: str) -> Any | None:  # noqa: ANN401 - LanceDB's own
        """Return a table, or None if it does not exist."""
        with self.convert_errors():
            return self.connection.open_table(name) if name in self.list_tables() else None

    def list_tables(self) -> list[str]:
        """Return the names of all tables."""
        with self.convert_errors():
            return list(self.connection.list_tables(limit=_TABLES_MAX).tables)

    def drop_index(self) -> int:
        """Delete the tables of an index, but no others, and return their number."""
        names = [name for name in self.list_tables() if name.startswith(f"{TABLE}_")]
        with self.convert_errors():
            for name in names:
                self.connection.drop_table(name)
        return len(names)

    @contextmanager
    def convert_errors(self) -> Iterator[None]:
        """Convert LanceDB's errors to `IndexLostError`, with a message that names the database."""
        try:
            yield
        except (RuntimeError, OSError, ValueError, KeyError, TypeError) as error:
            reason = shorten(sanitise_line(str(error).partition(", /")[0]), _REASON_LENGTH) or type(error).__name__
            advice = " Check the address, and the keys in the environment." if "://" in self.uri else ""
            problem = f"cannot be used: {reason.rstrip('.')}.{advice}"
            raise IndexLostError(f"The index {shorten(sanitise_line(self.uri), 80)} {problem}") from error


def _digest(*texts: str) -> str:
    return blake2b("\x1f".join(texts).encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()


def _quote(values: Iterable[str | None]) -> str:
    """Return texts as SQL string literals, separated by commas."""
    return ", ".join("'" + str(value).replace("'", "''") + "'" for value in values)
