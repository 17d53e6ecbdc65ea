"""`SectionIndex`: a full-text index of one library in SQLite's FTS5, in memory or in a file."""

from __future__ import annotations

import json
import os
import re
import sqlite3
import threading
import zlib
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path
from weakref import finalize

from roamtui.document.library import Library
from roamtui.document.numbering import NodeNumbering
from roamtui.errors import format_reason
from roamtui.paths import make_index_stem, make_private_folder, open_private_file
from roamtui.search.base import IndexLostError, Progress
from roamtui.search.lexicon import STOP_WORDS, TOKENIZER, stem
from roamtui.search.query import build_term_expression
from roamtui.search.segments import (
    IndexRow,
    IndexSegment,
    NamesByRun,
    batch_segments,
    join_context,
    list_ancestor_titles,
    list_segments,
    qualified_title_of,
)
from roamtui.search.terms import split_words, tokenise


class SectionIndex:
    """Ranks the nodes of a library, numbered in document order, by the words of their own texts.

    Each new version of a library gets a new index. All of them share the store, which writes only what changed.
    Thread-safe.
    """

    def __init__(
        self,
        library: Library,
        store: SectionStore | None = None,
        *,
        before: SectionIndex | None = None,
        on_progress: Progress | None = None,
    ) -> None:
        """Bring the store up to date with `library`. `before` is the index of the previous version."""
        self.library = library
        self.store = store or SectionStore()
        self.layout = NodeNumbering(library)
        known = before._segments if before is not None else {}  # noqa: SLF001 - the same class
        self._segments: Mapping[int, Sequence[IndexSegment]] = list_segments(
            self.layout, library.documents, known, library.summaries
        )
        segments = list(chain.from_iterable(self._segments.values()))
        bases = self.store.sync(segments, on_progress)
        self._by_base = sorted(((bases[segment.digest], segment) for segment in segments), key=lambda entry: entry[0])
        self._bases = [base for base, _ in self._by_base]
        self._base_by_segment = {id(segment): base for base, segment in self._by_base}
        self._title_stems: dict[int, frozenset[str]] = {}
        self._path_stems: dict[int, frozenset[str]] = {}

    def __len__(self) -> int:
        return len(self.layout)

    def title(self, number: int) -> str:
        """Return the title of a node, or an empty string for a text without headings.

        If the title is only a number, the title of the parent is added.
        """
        return qualified_title_of(*self.layout.locate(number))

    def own_text(self, number: int) -> str:
        """Return the text of a node up to the next heading."""
        document, row = self.layout.locate(number)
        starts = document.columns.starts
        return document.text[starts[row] : starts[row + 1]]

    def title_stems(self, number: int) -> frozenset[str]:
        """Return the stems of the content words in a node's title."""
        stems = self._title_stems.get(number)
        if stems is None:
            stems = self._title_stems[number] = stem_title(self.title(number))
        return stems

    def path_stems(self, number: int) -> frozenset[str]:
        """Return the stems of the content words in a node's title, the titles above it, and the path of its file."""
        stems = self._path_stems.get(number)
        if stems is None:
            document, row = self.layout.locate(number)
            context = join_context(document, row, list_ancestor_titles(self.layout, document))
            stems = self._path_stems[number] = self.title_stems(number) | stem_title(context)
        return stems

    @cached_property
    def document_names(self) -> tuple[tuple[range, str], ...]:
        """For each file and page: the numbers of its nodes, and the folded words of its title and file name."""
        names = []
        for section_id, document in self.library.grafts.items():
            stem_name = re.sub(r"\.\w{1,8}$", "", document.key.rpartition("/")[2])
            words = [*tokenise(document.title), "|", *tokenise(stem_name.replace("_", " "))]
            number = self.layout.number_of(*self.library.locate(section_id))
            names.append((self.layout.subtree(number), f" {' '.join(words)} "))
        return tuple(names)

    def rank(
        self,
        expression: str,
        weights: Sequence[float],
        within: range,
        limit: int,
        *,
        rows: tuple[int, int] | None = None,
    ) -> list[tuple[int, float]]:
        """Return up to `limit` nodes that match an FTS5 expression (in `rows`, if given), with scores, best first."""
        if not expression or not within:
            return []
        first, last = self.get_row_range(within)
        if rows is not None:
            first, last = max(first, rows[0]), min(last, rows[1])
        found = self.store.rank(expression, weights, (first, last), lambda row: self._get_number(row) in within, limit)
        return [(self._get_number(row), score) for row, score in found]

    def list_matches(self, expression: str, within: range, limit: int) -> list[int]:
        """Return up to `limit` nodes that match an FTS5 expression, in arbitrary order."""
        rows = self.store.list_matches(expression, self.get_row_range(within), limit) if within else []
        return [number for number in map(self._get_number, rows) if number in within]

    def get_row_range(self, within: range) -> tuple[int, int]:
        """Return the numbers of the first and last row that the store has for a range of nodes.

        If there are none, the first number is greater than the last.
        """
        if len(within) == len(self):
            return (self._bases[0], self._bases[-1] + len(self._by_base[-1][1])) if self._bases else (1, 0)
        first, last = 1 << 62, -1
        for document, start, end in self.layout.iter_runs(within):
            for segment in self._segments[id(document)]:
                low, high = max(start, segment.first), min(end, segment.end)
                if low < high:
                    base = self._base_by_segment[id(segment)] - segment.first
                    first, last = min(first, base + low), max(last, base + high - 1)
        return first, last

    def has_word(self, word: str) -> bool:
        """Check whether any node contains a word in any of its forms."""
        return self.store.count(build_term_expression(word), 1) > 0

    def _get_number(self, row: int) -> int:
        """Return the number of the node that a row of the store belongs to, or -1 if this library has no such node."""
        index = bisect_right(self._bases, row) - 1
        if index < 0:
            return -1
        base, segment = self._by_base[index]
        if row - base >= len(segment):
            return -1
        return self.layout.number_of(segment.document, segment.first + row - base)


def stem_title(text: str) -> frozenset[str]:
    """Return the stems of the content words in a title."""
    return frozenset(stem(word) for word in split_words(text) if word not in STOP_WORDS)


VERSION = 1
"""Version of the tables. A file that has another version is rebuilt."""
_BUSY_SECONDS = 3.0
_BATCH_ROWS = 50_000
"""Approximate number of sections written in one transaction. Other programs wait for its end, about two seconds."""
_CACHE_KIB = 16_000
_CACHED_COUNTS_MAX = 20_000
_TITLE_WORD_LENGTH_MIN = 4
_DIGIT = re.compile(r"\d")
_SCHEMA = (
    f"CREATE VIRTUAL TABLE sections USING fts5(title, path, body, names, parts, content='', tokenize='{TOKENIZER}')",
    "CREATE TABLE parts (digest TEXT PRIMARY KEY, base INTEGER NOT NULL, count INTEGER NOT NULL, rows BLOB)",
    "CREATE TABLE words (word TEXT PRIMARY KEY, count INTEGER NOT NULL) WITHOUT ROWID",
    "CREATE TABLE numbering (next INTEGER NOT NULL)",
    "INSERT INTO numbering VALUES (1)",
    f"PRAGMA user_version = {VERSION}",
)
_INSERT = "INSERT INTO sections(rowid, title, path, body, names, parts) VALUES(?, ?, ?, ?, ?, ?)"
_DELETE = "INSERT INTO sections(sections, rowid, title, path, body, names, parts) VALUES('delete', ?, ?, ?, ?, ?, ?)"
_RANKED = """
SELECT rowid, rank FROM sections WHERE sections MATCH ? AND rank MATCH ? AND rowid BETWEEN ? AND ?
ORDER BY rank, rowid"""
_COUNT_WORD = """
INSERT INTO words VALUES(?, ?) ON CONFLICT (word) DO UPDATE SET count = count + excluded.count"""
_ON_DISK_SECTIONS_MIN = 5_000
_ON_DISK_CHARACTERS_MIN = 2_000_000
"""An index is stored on disk if the library reaches one of these sizes. Building it then takes 0.25 s."""


class SectionStore:
    """The full-text tables, which have a row for each node. Thread-safe. Row numbers are never reused.

    Raises:
        IndexLostError: The file cannot be used. Any method may raise this.
    """

    def __init__(self, path: Path | None = None) -> None:
        """Open an existing file, which may be empty. Without a path, everything is kept in memory."""
        self.path = path
        self._lock = threading.Lock()
        self._bases: dict[str, int] = {}
        """First row of each stored segment, by digest."""
        self._in_memory: dict[str, IndexSegment] = {}
        """Stored segments by digest. Used only without a file."""
        self._data_version = -1
        """SQLite's number, which changes when another program writes to the file."""
        self._counts: dict[tuple[str, int], int] = {}
        self._title_words: list[str] | None = None
        """Result of `list_title_words`, until the next write."""
        with self._convert_errors():
            self._connection = sqlite3.connect(
                path or ":memory:", timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False
            )
            finalize(self, self._connection.close)
            try:
                self._prepare_tables()
            except BaseException:
                # An open transaction would lock the file for other programs, and Windows cannot delete an open file.
                self._connection.close()
                raise

    def close(self) -> None:
        """Close the file, if there is one."""
        with self._lock:
            self._connection.close()

    def sync(self, segments: Sequence[IndexSegment], on_progress: Progress | None = None) -> dict[str, int]:
        """Make `segments` the whole content of the index, and return the first row of each segment by its digest.

        Missing segments are written, and all others are removed. Each segment must have a unique digest. `on_progress`
        receives the number of new sections that are written, and their total.
        """
        with self._lock, self._convert_errors():
            self._read_bases()
            wanted = {segment.digest for segment in segments}
            outdated = [digest for digest in self._bases if digest not in wanted]
            missing = [segment for segment in segments if segment.digest not in self._bases]
            total = sum(map(len, missing))
            names_by_run = NamesByRun()
            done = 0
            for batch in list(batch_segments(missing, _BATCH_ROWS)) or ([[]] if outdated else []):
                if on_progress is not None:
                    on_progress(done, total)
                with self._transaction():
                    self._read_bases()  # meanwhile, another program may have written some of the segments
                    self._remove([digest for digest in outdated if digest in self._bases])
                    self._add([segment for segment in batch if segment.digest not in self._bases], names_by_run)
                outdated = []
                done += sum(map(len, batch))
            if total:
                self._connection.execute("PRAGMA shrink_memory")
            if on_progress is not None and total:
                on_progress(total, total)
            self._read_bases()
            if not wanted <= self._bases.keys():
                raise IndexLostError("another program has indexed a different text", is_damaged=False)
            return {digest: self._bases[digest] for digest in wanted}

    def rank(
        self,
        expression: str,
        weights: Sequence[float],
        bounds: tuple[int, int],
        accepts: Callable[[int], bool],
        limit: int,
    ) -> list[tuple[int, float]]:
        """Return up to `limit` rows between `bounds` that match and are accepted, with their scores, best first."""
        rank = f"bm25({', '.join(str(float(weight)) for weight in weights)})"
        found: list[tuple[int, float]] = []
        with self._reading():
            for row, score in self._connection.execute(_RANKED, (expression, rank, *bounds)):
                if accepts(row):
                    found.append((row, -score))
                    if len(found) == limit:
                        break
        return found

    def list_matches(self, expression: str, bounds: tuple[int, int], limit: int) -> list[int]:
        """Return up to `limit` rows between `bounds` that match an FTS5 expression, in ascending order."""
        query = "SELECT rowid FROM sections WHERE sections MATCH ? AND rowid BETWEEN ? AND ? ORDER BY rowid LIMIT ?"
        with self._reading():
            return [row for (row,) in self._connection.execute(query, (expression, *bounds, limit))]

    def count(self, expression: str, count_max: int = 1 << 40) -> int:
        """Count the rows that match an FTS5 expression, up to `count_max`. Counts are cached until the next write."""
        with self._reading():
            if len(self._counts) > _CACHED_COUNTS_MAX:
                self._counts.clear()
            found = self._counts.get((expression, count_max))
            if found is None:
                query = "SELECT count(*) FROM (SELECT 1 FROM sections WHERE sections MATCH ? LIMIT ?)"
                found = self._connection.execute(query, (expression, count_max)).fetchone()[0]
                self._counts[expression, count_max] = found
            return found

    def list_title_words(self) -> Sequence[str]:
        """Return the words in titles that mistyped words may be corrected to, sorted."""
        with self._lock, self._convert_errors():
            if self._title_words is None:
                query = "SELECT word FROM words WHERE count > 0 ORDER BY word"
                self._title_words = [word for (word,) in self._connection.execute(query)]
            return self._title_words

    def _prepare_tables(self) -> None:
        execute = self._connection.execute
        if self.path is not None:
            execute("PRAGMA journal_mode = DELETE")
            execute("PRAGMA synchronous = FULL")
            execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
        if execute("PRAGMA user_version").fetchone()[0] == 0:
            with self._transaction():
                if execute("PRAGMA user_version").fetchone()[0] == 0:  # another program may have just created them
                    for statement in _SCHEMA:
                        execute(statement)
        if execute("PRAGMA user_version").fetchone()[0] != VERSION:
            raise IndexLostError("another version of roamtui wrote it", is_damaged=True)
        try:
            execute("SELECT 1 FROM sections, parts, words, numbering LIMIT 0")
        except sqlite3.OperationalError as error:
            if "no such" not in str(error):
                raise
            raise IndexLostError(str(error), is_damaged=True) from None

    def _read_bases(self) -> None:
        """Read the stored segments again if another program has written to the file."""
        if self.path is None:
            return
        version = self._connection.execute("PRAGMA data_version").fetchone()[0]
        if version != self._data_version:
            self._data_version = version
            self._bases = dict(self._connection.execute("SELECT digest, base FROM parts"))
            self._counts.clear()
            self._title_words = None

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """Hold the lock while reading. It fails if another program has replaced text of this library in the file."""
        with self._lock, self._convert_errors():
            before = self._bases
            self._read_bases()
            if before is not self._bases and not before.items() <= self._bases.items():
                raise IndexLostError("another program has indexed a different text", is_damaged=False)
            yield

    def _remove(self, digests: Sequence[str]) -> None:
        names_by_run = NamesByRun()
        for digest in digests:
            base = self._bases.pop(digest)
            segment = self._in_memory.pop(digest, None)
            if segment is not None:
                rows = list(segment.make_rows(names_by_run))
            else:
                query = "SELECT rows FROM parts WHERE digest = ?"
                packed = self._connection.execute(query, (digest,)).fetchone()[0]
                rows = [IndexRow(*fields) for fields in json.loads(zlib.decompress(packed))]
            self._connection.executemany(_DELETE, ((base + offset, *row) for offset, row in enumerate(rows)))
            self._count_words(rows, -1)
            self._connection.execute("DELETE FROM parts WHERE digest = ?", (digest,))

    def _add(self, segments: Sequence[IndexSegment], names_by_run: NamesByRun) -> None:
        execute = self._connection.execute
        base = execute("SELECT next FROM numbering").fetchone()[0]
        for segment in segments:
            rows = list(segment.make_rows(names_by_run))
            self._connection.executemany(_INSERT, ((base + offset, *row) for offset, row in enumerate(rows)))
            self._count_words(rows, 1)
            packed = None
            if self.path is None:
                self._in_memory[segment.digest] = segment
            else:
                packed = zlib.compress(json.dumps(rows, ensure_ascii=False).encode(), 1)
            execute("INSERT INTO parts VALUES(?, ?, ?, ?)", (segment.digest, base, len(rows), packed))
            self._bases[segment.digest] = base
            base += len(rows)
        execute("UPDATE numbering SET next = ?", (base,))

    def _count_words(self, rows: Sequence[IndexRow], sign: int) -> None:
        words: Counter[str] = Counter()
        for row in rows:
            words.update(
                word
                for word in set(tokenise(row.title))
                if len(word) >= _TITLE_WORD_LENGTH_MIN and word not in STOP_WORDS and not _DIGIT.search(word)
            )
        self._connection.executemany(_COUNT_WORD, [(word, sign * count) for word, count in sorted(words.items())])

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """Run the `with` block in a transaction. If it fails, also restore what this object knows about the file."""
        bases, in_memory = dict(self._bases), dict(self._in_memory)
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            yield
            self._connection.execute("COMMIT")
        except BaseException:
            self._bases, self._in_memory = bases, in_memory
            with suppress(sqlite3.Error):
                self._connection.execute("ROLLBACK")
            raise
        finally:
            self._counts.clear()
            self._title_words = None

    @contextmanager
    def _convert_errors(self) -> Iterator[None]:
        """Convert errors of SQLite, and errors that damaged data causes, to `IndexLostError`."""
        try:
            yield
        except sqlite3.OperationalError as error:
            raise IndexLostError(str(error), is_damaged=False) from error
        except (sqlite3.DatabaseError, ValueError, TypeError, zlib.error) as error:
            raise IndexLostError(str(error), is_damaged=True) from error


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexLocation:
    """Where indexes may be stored on disk."""

    folder: Path
    on_warning: Callable[[str], None] = lambda _: None
    """Receives a sentence if an index is rebuilt or cannot be stored."""
    force: bool = False
    """Whether to store indexes of small libraries too."""

    def get_path(self, library: Library) -> Path | None:
        """Return the path of a library's index, or None if the library was read from a pipe."""
        if library.source == "-":
            return None
        return self.folder / f"{make_index_stem(library.source)}.sqlite3"


class StoreProvider:
    """Opens the store of one library. If a store fails, it opens another one, and reports the reason only once."""

    def __init__(self, location: IndexLocation | None) -> None:
        """Store indexes in `location`, or in memory if it is None."""
        self._location = location
        self._has_rebuilt = False
        self._uses_memory = location is None

    def open(self, library: Library) -> SectionStore:
        """Return the store for a library. A new store is empty.

        If the library is small, no file is created, unless `IndexLocation.force` is set.
        """
        while self._location is not None and not self._uses_memory:
            path = self._location.get_path(library)
            characters = sum(len(document.text) for document in library.documents)
            is_large = len(library) >= _ON_DISK_SECTIONS_MIN or characters >= _ON_DISK_CHARACTERS_MIN
            if path is None or not (is_large or self._location.force or path.exists()):
                break
            try:
                make_private_folder(path.parent)
                os.close(open_private_file(path))
                path.chmod(0o600)
                return SectionStore(path)
            except OSError as error:
                reason = format_reason(error)
                self._abandon_file(self._location, path, IndexLostError(reason, is_damaged=False))
            except IndexLostError as error:
                self._abandon_file(self._location, path, error)
        return SectionStore()

    def discard(self, store: SectionStore, error: IndexLostError) -> None:
        """Make `open` return another store from now on, because `store` failed with `error`.

        Raises:
            IndexLostError: The store was in memory, so a new one would fail too.
        """
        if store.path is None or self._location is None:
            raise error
        store.close()
        self._abandon_file(self._location, store.path, error)

    def _abandon_file(self, location: IndexLocation, path: Path, error: IndexLostError) -> None:
        """If the file is damaged for the first time, delete it, so that it is rebuilt. Otherwise, switch to memory."""
        if error.is_damaged and not self._has_rebuilt:
            self._has_rebuilt = True
            with suppress(OSError):
                delete_index(path)
                location.on_warning(f"The search index of this source was damaged ({error}); rebuilding it.")
                return
        self._uses_memory = True
        location.on_warning(f"Could not use the search index {path} ({error}); using memory instead.")


def delete_index(path: Path) -> bool:
    """Delete the file of an index and its journal. Return whether the file existed."""
    has_existed = path.exists()
    for name in (path.name, f"{path.name}-journal"):
        path.with_name(name).unlink(missing_ok=True)
    return has_existed
