"""`SectionStore`: the full-text table of a library in SQLite's FTS5, in memory or in a file, and its rows."""

from __future__ import annotations

import os
import posixpath
import sqlite3
import threading
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from hashlib import blake2b
from pathlib import Path
from typing import Any
from weakref import finalize

from msgspec import Struct

from roamtui.convert.converted import ProgressCallback
from roamtui.document.document import Document
from roamtui.document.library import Library
from roamtui.document.numbering import NodeNumbering
from roamtui.errors import format_reason
from roamtui.paths import make_private_folder, open_private_file
from roamtui.search.base import IndexLostError
from roamtui.search.lexicon import TOKENIZER
from roamtui.search.terms import iter_marked_words, normalise_term, space_unspaced_scripts

VERSION = 11
"""Version of the text in a file: of the tables `sections` and `indexed`, and of their rows.

In a file of another version, they are filled again. The table `saved` always stays, because summaries cost
money: another form of its rows needs another table."""
_WEIGHTS = (3.0, 1.0, 1.0)
"""Weights of a word in the title, in the titles above or the path of the file, and in the text."""
_BUSY_SECONDS = 10.0
_START_SECONDS = 1.0
"""Longest wait for a file in use when summaries are loaded, which delays every start."""
_CACHE_KIB = 16_000
_ABOVE_LENGTH_MAX = 200
"""Maximum characters of a title to index with each section below it. A title may have 100 KB."""
SUMMARIES = "summary"
"""Kind of a saved summary. The kind of a vector is the name of its embedder."""
_SCHEMA = (
    f"CREATE VIRTUAL TABLE IF NOT EXISTS sections USING fts5(title, path, body, tokenize='{TOKENIZER}')",
    "CREATE TABLE IF NOT EXISTS indexed (number INTEGER PRIMARY KEY AUTOINCREMENT, digest TEXT UNIQUE)",
    "CREATE TABLE IF NOT EXISTS saved (kind TEXT, digest TEXT, value BLOB, PRIMARY KEY (kind, digest))",
    f"PRAGMA user_version = {VERSION}",
)
ROW_BITS = 32
"""The id of a row has the number of its document above these bits, and the row of the document in them."""
_INSERTED = "INSERT INTO sections(rowid, title, path, body) VALUES(?, ?, ?, ?)"
_LOADED = "SELECT digest, value FROM saved WHERE kind = ?"
_RANKED = """
SELECT rowid, rank FROM sections WHERE sections MATCH ? AND rank MATCH ? AND rowid BETWEEN ? AND ?
ORDER BY rank, rowid"""


def list_titles_above(library: Library, document: Document) -> tuple[str, ...]:
    """Return the titles of all nodes above a document, nearest first."""
    host_id = library.hosts.get(id(document))
    ids = () if host_id is None else (host_id, *reversed(library.node(host_id).ancestors))
    return tuple(library.node(node_id).title[:_ABOVE_LENGTH_MAX] for node_id in ids)


def join_context(document: Document, row: int, above: Sequence[str]) -> str:
    """Return the titles above a row and the path of its file without suffix, each once, as one string."""
    columns = document.columns
    titles: list[str] = []
    while (row := columns.parents[row]) >= 0:
        titles.append(columns.titles[row][:_ABOVE_LENGTH_MAX])
    return " ".join(dict.fromkeys((*titles, *above, posixpath.splitext(document.key)[0])))


class IndexedDocument(Struct, frozen=True):
    """A document with everything that its rows in an index depend on."""

    document: Document
    above: tuple[str, ...]
    """Titles of all nodes above it, nearest first."""
    loaded: frozenset[int]
    """Rows of files and links that are loaded. They are not indexed, because their own sections are."""
    summary: str
    """The model's summary of it, which is searched like its first section."""
    digest: str
    """Digest of all of these, the same in every process."""

    @classmethod
    def make(cls, document: Document, numbering: NodeNumbering, library: Library) -> IndexedDocument:
        """Describe a document of a library."""
        columns = document.columns
        summary = library.summaries.get(document.content_hash, "")
        above = list_titles_above(library, document)
        rows = range(len(columns)) if columns.is_listing else ()
        loaded = frozenset(
            row for row in rows if len(numbering.subtree(numbering.number_of(document, row))) > 1
        )
        digest = blake2b(digest_size=16)
        names = [str(VERSION), document.key, document.content_hash, *above, "", *columns.titles, ""]
        names += (*map(str, sorted(loaded)), summary)
        digest.update("\x1f".join(names).encode("utf-8", "surrogatepass"))
        digest.update(array("Q", columns.starts).tobytes())
        return cls(document, above, loaded, summary, digest.hexdigest())

    def __len__(self) -> int:
        """Return the number of rows that are indexed."""
        return len(self.document.columns) - len(self.loaded)

    def make_rows(self) -> Iterator[tuple[int, tuple[str, str, str]]]:
        """Yield each row's number, title, path and body."""
        document = self.document
        starts = self.document.columns.starts
        for row in range(len(document.columns)):
            if row not in self.loaded:
                body = document.text[starts[row] : starts[row + 1]]
                if row == 0 and self.summary:
                    body = f"{body}\n{self.summary}"
                words = " ".join(letters for _, _, letters in iter_marked_words(body))
                body = f"{body}\n{words}" if words else body
                columns = (document.columns.titles[row], join_context(document, row, self.above), body)
                title, path, body = (space_unspaced_scripts(normalise_term(text)) for text in columns)
                yield row, (title, path, body)


class SectionStore:
    """The full-text table, which has a row for each node. Thread-safe. Row numbers are never reused.

    Raises:
        IndexLostError: The file cannot be used. Any method may raise this.
    """

    def __init__(self, path: Path | None = None) -> None:
        """Open or create a file that only the owner can read. Without a path, all is in memory."""
        self.path = path
        self._lock = threading.Lock()
        self._digests: frozenset[str] = frozenset()
        self._data_version = -1
        """SQLite's number, which changes when another program writes to the file."""
        with self._convert_errors():
            if path is not None:
                make_private_folder(path.parent)
                os.close(open_private_file(path))
                path.chmod(0o600)
            self._connection = sqlite3.connect(
                path or ":memory:", timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False
            )
            finalize(self, self._connection.close)
            self._connection.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
        with self._writing() as connection:
            if connection.execute("PRAGMA user_version").fetchone()[0] != VERSION:
                for table in ("sections", "indexed"):
                    connection.execute(f"DROP TABLE IF EXISTS {table}")
            for statement in _SCHEMA:
                connection.execute(statement)

    def close(self) -> None:
        """Close the file, if there is one."""
        with self._lock:
            self._connection.close()

    def sync(
        self, indexed: Sequence[IndexedDocument], on_progress: ProgressCallback | None = None
    ) -> dict[str, int]:
        """Make `indexed` the whole content of the index, and return the number of each by its digest.

        Missing documents are written, and all others are removed. `on_progress` receives the number of new
        sections that are written, and their total.
        """
        with self._writing() as connection:
            execute = connection.execute
            numbers: dict[str, int] = dict(execute("SELECT digest, number FROM indexed"))
            self._digests = frozenset(document.digest for document in indexed)
            for digest in numbers.keys() - self._digests:
                first = numbers.pop(digest) << ROW_BITS
                last = first + (1 << ROW_BITS) - 1
                execute("DELETE FROM sections WHERE rowid BETWEEN ? AND ?", (first, last))
                execute("DELETE FROM indexed WHERE digest = ?", (digest,))
            missing = [document for document in indexed if document.digest not in numbers]
            done = 0
            total = sum(map(len, missing))
            for document in missing:
                if on_progress is not None:
                    on_progress(done, total)
                number = execute("INSERT INTO indexed(digest) VALUES(?)", (document.digest,)).lastrowid or 0
                rows = (((number << ROW_BITS) + row, *columns) for row, columns in document.make_rows())
                connection.executemany(_INSERTED, rows)
                numbers[document.digest] = number
                done += len(document)
        if on_progress is not None and total:
            on_progress(total, total)
        return numbers

    def rank(
        self, expression: str, bounds: tuple[int, int], accepts: Callable[[int], bool], limit: int
    ) -> list[tuple[int, float]]:
        """Return up to `limit` accepted rows between `bounds` that match, with scores, best first."""
        scored: list[tuple[int, float]] = []
        with self._reading():
            for row, score in self._connection.execute(_RANKED, (expression, f"bm25{_WEIGHTS}", *bounds)):
                if accepts(row):
                    scored.append((row, -score))
                    if len(scored) == limit:
                        break
        return scored

    def matches(self, expression: str) -> bool:
        """Return whether any row matches an FTS5 expression."""
        with self._reading():
            row = self._connection.execute(
                "SELECT 1 FROM sections WHERE sections MATCH ? LIMIT 1", (expression,)
            )
            return row.fetchone() is not None

    def load(self, kind: str) -> dict[str, Any]:
        """Return all summaries, or all vectors of an embedder, by the digest of their text."""
        with self._lock, self._convert_errors():
            return dict(self._connection.execute(_LOADED, (kind,)))

    def save(self, kind: str, values: Mapping[str, str | bytes]) -> None:
        """Save summaries, or vectors of an embedder, by the digest of their text."""
        with self._writing() as connection:
            rows = ((kind, digest, value) for digest, value in values.items())
            connection.executemany("INSERT OR REPLACE INTO saved VALUES(?, ?, ?)", rows)

    def delete_unused(self, kind: str, digests: Sequence[str]) -> None:
        """Delete vectors of text that the library no longer has."""
        with self._writing() as connection:
            rows = ((kind, digest) for digest in digests)
            connection.executemany("DELETE FROM saved WHERE kind = ? AND digest = ?", rows)

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """Hold the lock while reading. Raise if another program has removed documents of this library."""
        with self._lock, self._convert_errors():
            version = self._connection.execute("PRAGMA data_version").fetchone()[0]
            if version != self._data_version:
                self._data_version = version
                stored = {digest for (digest,) in self._connection.execute("SELECT digest FROM indexed")}
                if not self._digests <= stored:
                    raise IndexLostError("another program has indexed a different version of the document")
            yield

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """Hold the lock during a transaction. An error undoes it."""
        with self._lock, self._convert_errors(), self._connection:
            self._connection.execute("BEGIN IMMEDIATE")
            yield self._connection

    @contextmanager
    def _convert_errors(self) -> Iterator[None]:
        """Convert errors of SQLite and the file system to `IndexLostError`.

        A damaged file is deleted. If only its search tables are damaged, the next opening fills them again:
        the file may have summaries, which cost money.
        """
        try:
            yield
        except OSError as error:
            raise IndexLostError(format_reason(error)) from error
        except sqlite3.DatabaseError as error:
            code = getattr(error, "sqlite_errorcode", 0)  # 0 if the connection was closed by another thread
            if "no such" in str(error) or code == sqlite3.SQLITE_CORRUPT_VTAB:
                with suppress(sqlite3.Error):
                    self._connection.execute("PRAGMA user_version = 0")
            elif self.path is not None and code & 0xFF in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT):
                self._connection.close()  # Windows cannot delete an open file
                with suppress(OSError):
                    delete_index(self.path)
            raise IndexLostError(str(error)) from error


def load_summaries(path: Path) -> dict[str, str]:
    """Return the summaries in the index at `path` without changing it, or raise an `IndexLostError`."""
    url = f"{path.absolute().as_uri()}?mode=rw"  # `ro` cannot read a file whose writer was killed
    try:
        with closing(sqlite3.connect(url, timeout=_START_SECONDS, uri=True)) as connection:
            has_any = connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'saved'").fetchone()
            return dict(connection.execute(_LOADED, (SUMMARIES,))) if has_any else {}
    except sqlite3.Error as error:
        raise IndexLostError(str(error)) from error


def delete_index(path: Path) -> bool:
    """Delete the file of an index and its journal. Return whether the file existed."""
    has_existed = path.exists()
    for name in (path.name, f"{path.name}-journal"):
        path.with_name(name).unlink(missing_ok=True)
    return has_existed
