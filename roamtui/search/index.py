"""`SectionIndex`: a full-text index of one library in SQLite's FTS5, in memory or in a file."""

from __future__ import annotations

import math
import os
import re
import sqlite3
import threading
from array import array
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from functools import cached_property, lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import Any
from weakref import finalize

from msgspec import Struct

from roamtui.document.document import Document
from roamtui.document.library import Library
from roamtui.document.numbering import NodeNumbering
from roamtui.errors import format_reason
from roamtui.paths import is_standard_input, make_index_stem, make_private_folder, open_private_file
from roamtui.search.base import IndexLostError, Progress
from roamtui.search.lexicon import STOP_WORDS, TOKENIZER, stem
from roamtui.search.terms import normalise_unicode, space_unspaced_scripts, split_words, tokenise

VERSION = 7
"""Version of the text in a file: of the tables `sections` and `indexed`, and of their rows.

In a file of another version, they are filled again. The table `saved` always stays, because summaries cost
money: another form of its rows needs another table."""
_WEIGHTS = (3.0, 1.0, 1.0)
"""Weights of a word in the title, in the titles above or the path of the file, and in the text."""
_BUSY_SECONDS = 10.0
_CACHE_KIB = 16_000
_ABOVE_LENGTH_MAX = 200
"""Maximum characters of a title that are indexed with each section below it, of maybe 100 KB."""
SUMMARIES = "summary"
"""Kind of a saved summary. The kind of a vector is the name of its embedder."""
_SCHEMA = (
    f"CREATE VIRTUAL TABLE IF NOT EXISTS sections USING fts5(title, path, body, tokenize='{TOKENIZER}')",
    (
        "CREATE TABLE IF NOT EXISTS indexed (number INTEGER PRIMARY KEY AUTOINCREMENT, digest TEXT NOT NULL "
        "UNIQUE)"
    ),
    (
        "CREATE TABLE IF NOT EXISTS saved (kind TEXT, digest TEXT, value BLOB NOT NULL, PRIMARY KEY (kind, "
        "digest))"
    ),
    f"PRAGMA user_version = {VERSION}",
)
_LISTED_LINE = re.compile(r"\n[^\n]{4,300}?\d[ \t|]*(?=\n)")
"""A line that may be one of a contents page: a title and the number of a page."""
_LISTED_MIN = 5
_CONTENTS_ROWS = 4
"""Number of sections at the start of a document without pages that are searched for a contents page."""
_NON_LETTERS = re.compile(r"[\W\d_]+")
_ROW_BITS = 32
"""The id of a row has the number of its document above these bits, and the row of the document in them."""
_RANKED = """
SELECT rowid, rank FROM sections WHERE sections MATCH ? AND rank MATCH ? AND rowid BETWEEN ? AND ?
ORDER BY rank, rowid"""
_ON_DISK_CHARACTERS_MIN = 2_000_000
"""Minimum length of a library whose index is stored on disk. Building it then takes 0.25 s."""


class SectionIndex:
    """Ranks the nodes of a library, numbered in document order, by the words of their own texts.

    Each new version of a library gets a new index. All of them share the store, which writes only the
    documents that changed. Thread-safe.
    """

    def __init__(
        self, library: Library, store: SectionStore | None = None, on_progress: Progress | None = None
    ) -> None:
        """Bring the store up to date with `library`."""
        self.library = library
        self.store = store or SectionStore()
        self.numbering = library.numbering
        indexed = [IndexedDocument.make(document, self.numbering, library) for document in library.documents]
        numbers = self.store.sync(indexed, on_progress)
        self._documents = {numbers[each.digest]: each.document for each in indexed}
        self._document_numbers = {id(document): number for number, document in self._documents.items()}
        self._bounds: dict[range, tuple[int, int]] = {}
        """See `_get_bounds`, which takes milliseconds for many files."""

    def __len__(self) -> int:
        return len(self.numbering)

    def title(self, number: int) -> str:
        """Return the title of a node."""
        document, row = self.numbering.locate(number)
        return document.columns.titles[row]

    def own_text(self, number: int) -> str:
        """Return the text of a node up to the next heading."""
        document, row = self.numbering.locate(number)
        starts = document.columns.starts
        return document.text[starts[row] : starts[row + 1]]

    def path_stems(self, number: int) -> frozenset[str]:
        """Return the stems of content words in a node's title, the titles above, and its file's path."""
        document, row = self.numbering.locate(number)
        context = _join_context(document, row, _list_titles_above(self.library, document))
        return stem_title(self.title(number)) | stem_title(context)

    @cached_property
    def title_words(self) -> Sequence[str]:
        """The words in titles that mistyped words may be corrected to."""
        titles = {title for document in self.library.documents for title in document.columns.titles}
        words = {word for title in titles for word in tokenise(title)}
        return sorted(word for word in words - STOP_WORDS if not any(map(str.isdigit, word)))

    @cached_property
    def topics_by_stem(self) -> Mapping[str, Sequence[int]]:
        """Numbers of the sections with subsections, by the stems in their titles. They may be topics."""
        numbers_by_stem: dict[str, list[int]] = defaultdict(list)
        for number in range(len(self)):
            if 1 < len(self.numbering.subtree(number)) < len(self) and self.own_text(number):
                for word_stem in stem_title(self.title(number)):
                    numbers_by_stem[word_stem].append(number)
        return dict(numbers_by_stem)

    @cached_property
    def topic_rarities(self) -> Mapping[str, float]:
        """Rarity of each stem among the titles of these sections."""
        count = len({number for numbers in self.topics_by_stem.values() for number in numbers})
        return {
            word_stem: math.log(1 + count / len(numbers))
            for word_stem, numbers in self.topics_by_stem.items()
        }

    def rank(self, expression: str, within: range, limit: int) -> list[tuple[int, float]]:
        """Return up to `limit` nodes that match an FTS5 expression, with scores, best first."""
        if not expression or not within:
            return []
        bounds = self._get_bounds(within)
        rows = self.store.rank(expression, bounds, lambda row: self._get_number(row) in within, limit)
        return [(self._get_number(row), score) for row, score in rows]

    def has_word(self, word: str) -> bool:
        """Return whether any node contains a word in any of its forms."""
        return self.store.matches(f'"{" ".join(tokenise(word))}"')

    def _get_bounds(self, within: range) -> tuple[int, int]:
        """Return the first and the last row of the store between which a range of nodes is."""
        if within not in self._bounds:
            first, last = 1 << 62, -1
            for document, start, end in self.numbering.iter_runs(within):
                base = self._document_numbers[id(document)] << _ROW_BITS
                first, last = min(first, base + start), max(last, base + end - 1)
            self._bounds[within] = first, last
        return self._bounds[within]

    def _get_number(self, row: int) -> int:
        """Return the number of the node of a row of the store, or -1 if this library has no such node."""
        document = self._documents.get(row >> _ROW_BITS)
        return -1 if document is None else self.numbering.number_of(document, row & ((1 << _ROW_BITS) - 1))


@lru_cache(maxsize=1 << 15)
def stem_title(text: str) -> frozenset[str]:
    """Return the stems of the content words in a title."""
    return frozenset(stem(word) for word in split_words(text) if word not in STOP_WORDS)


def _list_titles_above(library: Library, document: Document) -> tuple[str, ...]:
    """Return the titles of all nodes above a document, nearest first."""
    host_id = library.hosts.get(id(document))
    ids = () if host_id is None else (host_id, *reversed(library.node(host_id).ancestors))
    return tuple(library.node(node_id).title[:_ABOVE_LENGTH_MAX] for node_id in ids)


def _join_context(document: Document, row: int, above: Sequence[str]) -> str:
    """Return the titles above a row and the path of its file without suffix, each once, as one string."""
    key = document.key
    columns = document.columns
    titles = list[str]()
    stem_end = key.rfind(".") if key.rfind(".") > key.rfind("/") else len(key)
    while (row := columns.parents[row]) >= 0:
        titles.append(columns.titles[row][:_ABOVE_LENGTH_MAX])
    return " ".join(dict.fromkeys((*titles, *above, key[:stem_end])))


class IndexedDocument(Struct, frozen=True):
    """A document with everything that its rows in an index depend on."""

    document: Document
    above: tuple[str, ...]
    """Titles of all nodes above it, nearest first."""
    loaded: frozenset[int]
    """Rows of a folder or a list of links whose files are loaded. These are found by their own sections."""
    summaries: Mapping[str, str]
    """See `Document.get_summary`."""
    digest: str
    """Digest of all of these, the same in every process."""

    @classmethod
    def make(cls, document: Document, numbering: NodeNumbering, library: Library) -> IndexedDocument:
        """Describe a document of a library."""
        columns = document.columns
        summaries = library.summaries
        above = _list_titles_above(library, document)
        rows = range(len(columns)) if columns.has_files else ()
        loaded = frozenset(
            row for row in rows if len(numbering.subtree(numbering.number_of(document, row))) > 1
        )
        digest = blake2b(digest_size=16)
        names = (
            str(VERSION),
            document.key,
            document.content_hash,
            *above,
            "",
            *columns.titles,
            "",
            *map(str, sorted(loaded)),
        )
        digest.update("\x1f".join(names).encode("utf-8", "surrogatepass"))
        digest.update(array("Q", columns.starts).tobytes())
        for row in range(len(columns)) if summaries else ():
            digest.update(f"\x1f{document.get_summary(row, summaries)}".encode("utf-8", "surrogatepass"))
        return cls(document, above, loaded, summaries, digest.hexdigest())

    def __len__(self) -> int:
        """Return the number of rows that are indexed."""
        return len(self.document.columns) - len(self.loaded)

    def make_rows(self) -> Iterator[tuple[int, tuple[str, str, str]]]:
        """Yield each row's number, title, path and body. Summaries are searched like the text."""
        document = self.document
        starts = self.document.columns.starts
        titles = frozenset(map(_make_key, document.columns.titles)) - {""}
        for row in range(len(document.columns)):
            if row not in self.loaded:
                body = document.text[starts[row] : starts[row + 1]]
                if document.page_starts or row < _CONTENTS_ROWS:
                    body = _drop_contents(body, titles)
                if summary := document.get_summary(row, self.summaries):
                    body = f"{body}\n{summary}"
                columns = (document.columns.titles[row], _join_context(document, row, self.above), body)
                title, path, body = (space_unspaced_scripts(normalise_unicode(text)) for text in columns)
                yield row, (title, path, body)


def _make_key(title: str) -> str:
    """Return the letters of a title, without the number before it and the page number after it."""
    return _NON_LETTERS.sub("", title).casefold()


def _drop_contents(body: str, titles: frozenset[str]) -> str:
    """Return a text without the lines of a contents page: sections are found by their own titles."""
    listed = [line[0] for line in _LISTED_LINE.finditer(body) if _make_key(line[0]) in titles]
    if len(listed) >= _LISTED_MIN:
        dropped = frozenset(listed)
        body = _LISTED_LINE.sub(lambda line: "\n" if line[0] in dropped else line[0], body)
    return body


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

    def sync(self, indexed: Sequence[IndexedDocument], on_progress: Progress | None = None) -> dict[str, int]:
        """Make `indexed` the whole content of the index, and return the number of each by its digest.

        Missing documents are written, and all others are removed. `on_progress` receives the number of new
        sections that are written, and their total.
        """
        with self._writing() as connection:
            execute = connection.execute
            numbers: dict[str, int] = dict(execute("SELECT digest, number FROM indexed"))
            self._digests = frozenset(document.digest for document in indexed)
            for digest in numbers.keys() - self._digests:
                first = numbers.pop(digest) << _ROW_BITS
                execute(
                    "DELETE FROM sections WHERE rowid BETWEEN ? AND ?", (first, first + (1 << _ROW_BITS) - 1)
                )
                execute("DELETE FROM indexed WHERE digest = ?", (digest,))
            missing = [document for document in indexed if document.digest not in numbers]
            done = 0
            total = sum(map(len, missing))
            for document in missing:
                if on_progress is not None:
                    on_progress(done, total)
                number = execute("INSERT INTO indexed(digest) VALUES(?)", (document.digest,)).lastrowid or 0
                rows = (((number << _ROW_BITS) + row, *columns) for row, columns in document.make_rows())
                connection.executemany(
                    "INSERT INTO sections(rowid, title, path, body) VALUES(?, ?, ?, ?)", rows
                )
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
        """Return what was saved of a kind, summaries or an embedder's vectors, by the text's digest."""
        with self._lock, self._convert_errors():
            return dict(self._connection.execute("SELECT digest, value FROM saved WHERE kind = ?", (kind,)))

    def save(self, kind: str, values: Mapping[str, str | bytes]) -> None:
        """Save summaries or vectors by the digest of their text."""
        with self._writing() as connection:
            rows = ((kind, digest, value) for digest, value in values.items())
            connection.executemany("INSERT OR REPLACE INTO saved VALUES(?, ?, ?)", rows)

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """Hold the lock while reading. Fails if another program has replaced text of this library."""
        with self._lock, self._convert_errors():
            version = self._connection.execute("PRAGMA data_version").fetchone()[0]
            if version != self._data_version:
                self._data_version = version
                stored = {digest for (digest,) in self._connection.execute("SELECT digest FROM indexed")}
                if not self._digests <= stored:
                    raise IndexLostError("another program has indexed another version of the document")
            yield

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """Hold the lock during a transaction, which is undone if an error is raised."""
        with self._lock, self._convert_errors(), self._connection:
            self._connection.execute("BEGIN IMMEDIATE")
            yield self._connection

    @contextmanager
    def _convert_errors(self) -> Iterator[None]:
        """Convert errors of SQLite and the file system to `IndexLostError`. A damaged file is deleted."""
        try:
            yield
        except OSError as error:
            raise IndexLostError(format_reason(error)) from error
        except sqlite3.DatabaseError as error:
            if self.path is not None and (
                not isinstance(error, sqlite3.OperationalError) or "no such" in str(error)
            ):
                self._connection.close()  # Windows cannot delete an open file
                with suppress(OSError):
                    delete_index(self.path)
            raise IndexLostError(str(error)) from error


class IndexLocation(Struct, frozen=True, kw_only=True):
    """Where indexes may be stored on disk."""

    folder: Path
    on_warning: Callable[[str], None] = lambda _: None
    """Receives a sentence if an index is rebuilt or cannot be stored."""
    stores_small: bool = False
    """Whether to store indexes of small libraries too."""

    def get_path(self, library: Library) -> Path | None:
        """Return the path of a library's index, or None if the library was read from a pipe."""
        if is_standard_input(library.source):
            return None
        return self.folder / f"{make_index_stem(library.source)}.sqlite3"

    def choose_path(self, library: Library) -> Path | None:
        """Return the path of a library's index, or None to keep it in memory, as that of a small library."""
        path = self.get_path(library)
        is_large = sum(len(document.text) for document in library.documents) >= _ON_DISK_CHARACTERS_MIN
        return path if path is not None and (is_large or self.stores_small or path.exists()) else None


def load_summaries(path: Path) -> dict[str, str]:
    """Return the summaries in the index at `path`.

    Raises:
        IndexLostError: The file cannot be used.
    """
    with closing(SectionStore(path)) as store:
        return store.load(SUMMARIES)


def delete_index(path: Path) -> bool:
    """Delete the file of an index and its journal. Return whether the file existed."""
    has_existed = path.exists()
    for name in (path.name, f"{path.name}-journal"):
        path.with_name(name).unlink(missing_ok=True)
    return has_existed
