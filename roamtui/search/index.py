"""`SectionIndex`: the nodes of one library by number, their words in SQLite's FTS5, in memory or in a file."""

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
from pathlib import Path
from weakref import finalize

from roamtui.document.library import Library
from roamtui.document.numbering import NodeNumbering
from roamtui.paths import make_index_stem, make_private_folder, open_private_file
from roamtui.search.base import IndexLostError
from roamtui.search.lexicon import STOP_WORDS, TOKENIZER, stem
from roamtui.search.segments import (
    IndexRow,
    IndexSegment,
    NamesByRun,
    batch_segments,
    join_context,
    list_ancestor_titles,
    list_segments,
    telling_title_of,
)
from roamtui.search.terms import build_term_expression, split_words, tokenise

_ALL = 1 << 40


class SectionIndex:
    """Ranks the nodes of a library, numbered in document order, by the words of their own texts.

    It is made anew for each value of a library; the store is shared, and only what changed is written to it. It may be
    asked from any thread.
    """

    def __init__(
        self,
        library: Library,
        store: SectionStore | None = None,
        *,
        before: SectionIndex | None = None,
        tell: Callable[[int, int], None] | None = None,
    ) -> None:
        """Bring the store up to date with `library`."""
        self.library = library
        self.store = store or SectionStore()
        self.layout = NodeNumbering(library)
        """Numbers the nodes."""
        self._parts: Mapping[int, Sequence[IndexSegment]] = list_segments(
            self.layout,
            library.documents,
            before._parts if before is not None else {},  # noqa: SLF001 - its own kind
            library.summaries,
        )
        parts = [part for parts in self._parts.values() for part in parts]
        bases = self.store.sync(parts, tell)
        self._by_base = sorted(((bases[part.digest], part) for part in parts), key=lambda entry: entry[0])
        self._bases = [base for base, _ in self._by_base]
        self._base_by_part = {id(part): base for base, part in self._by_base}
        self._title_stems: dict[int, frozenset[str]] = {}
        self._path_stems: dict[int, frozenset[str]] = {}

    def __len__(self) -> int:
        return len(self.layout)

    def title(self, number: int) -> str:
        """Return the title of a node, with that above where it only counts; empty where a text has no headings."""
        return telling_title_of(*self.layout.locate(number))

    def own_text(self, number: int) -> str:
        """Return the text of a node from its heading to the next heading."""
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
        """Return the stems of the content words in a node's title, the titles above and its file's path."""
        stems = self._path_stems.get(number)
        if stems is None:
            document, row = self.layout.locate(number)
            context = join_context(document, row, list_ancestor_titles(self.layout, document))
            stems = self._path_stems[number] = self.title_stems(number) | stem_title(context)
        return stems

    def rank(
        self,
        expression: str,
        weights: Sequence[float],
        within: range,
        limit: int,
        *,
        rows: tuple[int, int] | None = None,
    ) -> list[tuple[int, float]]:
        """Return up to `limit` nodes that satisfy an FTS5 expression with their scores, the best first."""
        if not expression or not within:
            return []
        first, last = self.get_row_range(within)
        if rows is not None:
            first, last = max(first, rows[0]), min(last, rows[1])
        found = self.store.rank(expression, weights, (first, last), lambda row: self._get_number(row) in within, limit)
        return [(self._get_number(row), score) for row, score in found]

    def list_matches(self, expression: str, within: range, limit: int) -> list[int]:
        """Return up to `limit` nodes that satisfy an FTS5 expression, in no order that means anything."""
        rows = self.store.list_matches(expression, self.get_row_range(within), limit) if within else []
        return [number for number in map(self._get_number, rows) if number in within]

    def get_row_range(self, within: range) -> tuple[int, int]:
        """Return the first and the last row of the store that nodes of a range have; (1, 0) or the like for none."""
        if len(within) == len(self):
            return (self._bases[0], self._bases[-1] + len(self._by_base[-1][1])) if self._bases else (1, 0)
        first, last = 1 << 62, -1
        for document, start, end in self.layout.iter_runs(within):
            for part in self._parts[id(document)]:
                low, high = max(start, part.first), min(end, part.end)
                if low < high:
                    base = self._base_by_part[id(part)] - part.first
                    first, last = min(first, base + low), max(last, base + high - 1)
        return first, last

    def has_word(self, word: str) -> bool:
        """Whether any node holds a form of a word."""
        return self.store.count(build_term_expression(word), 1) > 0

    def _get_number(self, row: int) -> int:
        """Return the number of the node that stands in a row of the store, -1 where it is another program's."""
        place = bisect_right(self._bases, row) - 1
        if place < 0:
            return -1
        base, part = self._by_base[place]
        if row - base >= len(part):
            return -1
        return self.layout.number_of(part.document, part.first + row - base)


def stem_title(text: str) -> frozenset[str]:
    """Return the stems of the content words of titles."""
    return frozenset(stem(word) for word in split_words(text) if word not in STOP_WORDS)


VERSION = 1
"""Of the tables; a file of another version is made anew."""
_BUSY_SECONDS = 3.0
_BATCH_ROWS = 50_000
"""Sections written in one transaction: about two seconds, for which another program has to wait."""
_CACHE_KIB = 16_000
_COUNTS_KEPT = 20_000
_OTHER_TEXT = "another program has indexed another text of it"
_WORD_LENGTH_MIN = 4
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
_ON_DISK_SECTIONS = 5_000
_ON_DISK_CHARACTERS = 2_000_000
"""From either on, filling an index takes about as long as a person notices: a quarter of a second."""


class SectionStore:
    """Ranks rows by the words of parts. May be asked from any thread; a row's number is never given to another.

    Raises:
        IndexLostError: The file cannot be used; of every method.
    """

    def __init__(self, path: Path | None = None) -> None:
        """Open a file that its owner has made already, perhaps empty; without a path all is in memory."""
        self.path = path
        self._lock = threading.Lock()
        self._bases: dict[str, int] = {}
        """First row of each part that is written, by its digest."""
        self._kept: dict[str, IndexSegment] = {}
        """What is written, where there is no file that remembers it."""
        self._data_version = -1
        self._counts: dict[tuple[str, int], int] = {}
        self._words: list[str] | None = None
        with self._failing():
            self._connection = sqlite3.connect(
                path or ":memory:", timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False
            )
            finalize(self, self._connection.close)
            try:
                self._prepare()
            except BaseException:
                # An open transaction would lock the file for everybody else, and Windows deletes no open file.
                self._connection.close()
                raise

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()

    def sync(self, parts: Sequence[IndexSegment], tell: Callable[[int, int], None] | None = None) -> dict[str, int]:
        """Write the parts that are missing, take out those that are not among these, and return where each begins.

        Args:
            parts: All that is to be found, each with a digest of its own.
            tell: Is told how many of the sections to write are written, and of how many.
        """
        with self._lock, self._failing():
            self._read_bases()
            wanted = {part.digest for part in parts}
            gone = [digest for digest in self._bases if digest not in wanted]
            missing = [part for part in parts if part.digest not in self._bases]
            total = sum(map(len, missing))
            names_by_run = NamesByRun()
            done = 0
            for batch in list(batch_segments(missing, _BATCH_ROWS)) or ([[]] if gone else []):
                if tell is not None:
                    tell(done, total)
                with self._transaction():
                    self._read_bases()  # another program may have written some of it since
                    self._remove([digest for digest in gone if digest in self._bases])
                    self._add([part for part in batch if part.digest not in self._bases], names_by_run)
                gone = []
                done += sum(map(len, batch))
            if total:
                self._connection.execute("PRAGMA shrink_memory")
            if tell is not None and total:
                tell(total, total)
            self._read_bases()
            if not wanted <= self._bases.keys():
                raise IndexLostError(_OTHER_TEXT, is_damaged=False)
            return {digest: self._bases[digest] for digest in wanted}

    def rank(
        self,
        expression: str,
        weights: Sequence[float],
        bounds: tuple[int, int],
        accepts: Callable[[int], bool],
        limit: int,
    ) -> list[tuple[int, float]]:
        """Return up to `limit` rows that satisfy an FTS5 expression with their scores, the best first."""
        rank = f"bm25({', '.join(str(float(weight)) for weight in weights)})"
        found: list[tuple[int, float]] = []
        with self._lock, self._failing():
            self._check()
            for row, score in self._connection.execute(_RANKED, (expression, rank, *bounds)):
                if accepts(row):
                    found.append((row, -score))
                    if len(found) == limit:
                        break
        return found

    def list_matches(self, expression: str, bounds: tuple[int, int], limit: int) -> list[int]:
        """Return the first rows that satisfy an expression, by number."""
        query = "SELECT rowid FROM sections WHERE sections MATCH ? AND rowid BETWEEN ? AND ? ORDER BY rowid LIMIT ?"
        with self._lock, self._failing():
            self._check()
            return [row for (row,) in self._connection.execute(query, (expression, *bounds, limit))]

    def count(self, expression: str, count_max: int = _ALL) -> int:
        """Return how many rows satisfy an expression, at most `count_max`; remembered until something is written."""
        with self._lock, self._failing():
            self._check()
            if len(self._counts) > _COUNTS_KEPT:
                self._counts.clear()
            found = self._counts.get((expression, count_max))
            if found is None:
                query = "SELECT count(*) FROM (SELECT 1 FROM sections WHERE sections MATCH ? LIMIT ?)"
                found = self._connection.execute(query, (expression, count_max)).fetchone()[0]
                self._counts[expression, count_max] = found
            return found

    def list_title_words(self) -> Sequence[str]:
        """Return the words of all titles that a mistyped one may have meant, sorted."""
        with self._lock, self._failing():
            if self._words is None:
                query = "SELECT word FROM words WHERE count > 0 ORDER BY word"
                self._words = [word for (word,) in self._connection.execute(query)]
            return self._words

    def _prepare(self) -> None:
        execute = self._connection.execute
        if self.path is not None:
            execute("PRAGMA journal_mode = DELETE")
            execute("PRAGMA synchronous = FULL")
            execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
        if execute("PRAGMA user_version").fetchone()[0] == 0:
            with self._transaction():
                if execute("PRAGMA user_version").fetchone()[0] == 0:  # another program may just have made them
                    for statement in _SCHEMA:
                        execute(statement)
        if execute("PRAGMA user_version").fetchone()[0] != VERSION:
            raise IndexLostError("another roamtui wrote it", is_damaged=True)
        try:
            execute("SELECT 1 FROM sections, parts, words, numbering LIMIT 0")
        except sqlite3.OperationalError as error:
            if "no such" not in str(error):
                raise
            raise IndexLostError(str(error), is_damaged=True) from None

    def _read_bases(self) -> None:
        """Read anew what is written, where another program has written something."""
        if self.path is None:
            return
        version = self._connection.execute("PRAGMA data_version").fetchone()[0]
        if version != self._data_version:
            self._data_version = version
            self._bases = dict(self._connection.execute("SELECT digest, base FROM parts"))
            self._counts.clear()
            self._words = None

    def _check(self) -> None:
        """Refuse to answer from a file in which another program has put another text of the source."""
        before = self._bases
        self._read_bases()
        if before is not self._bases and not before.items() <= self._bases.items():
            raise IndexLostError(_OTHER_TEXT, is_damaged=False)

    def _remove(self, digests: Sequence[str]) -> None:
        names_by_run = NamesByRun()
        for digest in digests:
            base = self._bases.pop(digest)
            part = self._kept.pop(digest, None)
            if part is not None:
                rows = list(part.make_rows(names_by_run))
            else:
                query = "SELECT rows FROM parts WHERE digest = ?"
                packed = self._connection.execute(query, (digest,)).fetchone()[0]
                rows = [IndexRow(*fields) for fields in json.loads(zlib.decompress(packed))]
            self._connection.executemany(_DELETE, ((base + place, *row) for place, row in enumerate(rows)))
            self._count_words(rows, -1)
            self._connection.execute("DELETE FROM parts WHERE digest = ?", (digest,))

    def _add(self, parts: Sequence[IndexSegment], names_by_run: NamesByRun) -> None:
        execute = self._connection.execute
        base = execute("SELECT next FROM numbering").fetchone()[0]
        for part in parts:
            rows = list(part.make_rows(names_by_run))
            self._connection.executemany(_INSERT, ((base + place, *row) for place, row in enumerate(rows)))
            self._count_words(rows, 1)
            packed = None
            if self.path is None:
                self._kept[part.digest] = part
            else:
                packed = zlib.compress(json.dumps(rows, ensure_ascii=False).encode(), 1)
            execute("INSERT INTO parts VALUES(?, ?, ?, ?)", (part.digest, base, len(rows), packed))
            self._bases[part.digest] = base
            base += len(rows)
        execute("UPDATE numbering SET next = ?", (base,))

    def _count_words(self, rows: Sequence[IndexRow], sign: int) -> None:
        words: Counter[str] = Counter()
        for row in rows:
            words.update(
                word
                for word in set(tokenise(row.title))
                if len(word) >= _WORD_LENGTH_MIN and word not in STOP_WORDS and not _DIGIT.search(word)
            )
        self._connection.executemany(_COUNT_WORD, [(word, sign * count) for word, count in sorted(words.items())])

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """Write all that happens inside, or nothing; what is remembered of the file follows it."""
        bases, kept = dict(self._bases), dict(self._kept)
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            yield
            self._connection.execute("COMMIT")
        except BaseException:
            self._bases, self._kept = bases, kept
            with suppress(sqlite3.Error):
                self._connection.execute("ROLLBACK")
            raise
        finally:
            self._counts.clear()
            self._words = None

    @contextmanager
    def _failing(self) -> Iterator[None]:
        """Turn SQLite's errors into this class's own."""
        try:
            yield
        except sqlite3.OperationalError as error:
            raise IndexLostError(str(error), is_damaged=False) from error
        except sqlite3.DatabaseError as error:
            raise IndexLostError(str(error), is_damaged=True) from error
        except (ValueError, TypeError, zlib.error) as error:
            raise IndexLostError(str(error), is_damaged=True) from error


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexLocation:
    """Where the indexes of a person's sources may be kept."""

    folder: Path
    on_warning: Callable[[str], None] = lambda _: None
    """Is told in a sentence why one is not kept, or is made anew."""
    force: bool = False
    """Whether a small library, too, is kept on disk."""

    def get_path(self, library: Library) -> Path | None:
        """Return the file of a library's index, None where what came by a pipe has none."""
        if library.source == "-":
            return None
        return self.folder / f"{make_index_stem(library.source)}.sqlite3"


class StoreProvider:
    """Opens the store of one library, and another one where that fails. Each reason is told once."""

    def __init__(self, place: IndexLocation | None) -> None:
        """Keep indexes in `place`; without one all are in memory."""
        self._place = place
        self._has_renewed = False
        self._is_file_given_up = False

    def open(self, library: Library) -> SectionStore:
        """Return a store for a library, filled or not."""
        while (path := self._choose_path(library)) is not None:
            try:
                return _open_file(path)
            except IndexLostError as error:
                self._give_up_file(path, error)
        return SectionStore()

    def discard(self, store: SectionStore, error: IndexLostError) -> None:
        """Let `open` give another store than one that failed.

        Raises:
            IndexLostError: It has no file, so that another one would fail too.
        """
        if store.path is None:
            raise error
        store.close()
        self._give_up_file(store.path, error)

    def _give_up_file(self, path: Path, error: IndexLostError) -> None:
        """Delete a damaged file once, so that a new one is made; else stay in memory from now on."""
        assert self._place is not None
        if error.is_damaged and not self._has_renewed:
            self._has_renewed = True
            with suppress(OSError):
                delete_index(path)
                self._place.on_warning(f"The search index of this source was damaged ({error}); it is made anew.")
                return
        self._is_file_given_up = True
        self._place.on_warning(f"The search index {path} cannot be used ({error}); it is kept in memory this time.")

    def _choose_path(self, library: Library) -> Path | None:
        if self._place is None or self._is_file_given_up:
            return None
        path = self._place.get_path(library)
        if path is None or self._place.force or is_large(library):
            return path
        return path if path.exists() else None


def is_large(library: Library) -> bool:
    """Return whether the index of a library is worth a file."""
    characters = sum(len(document.text) for document in library.documents)
    return len(library) >= _ON_DISK_SECTIONS or characters >= _ON_DISK_CHARACTERS


def delete_index(path: Path) -> bool:
    """Delete the file of an index with its journal, and return whether there was one."""
    was_there = path.exists()
    for name in (path.name, f"{path.name}-journal"):
        path.with_name(name).unlink(missing_ok=True)
    return was_there


def _open_file(path: Path) -> SectionStore:
    """Open the file of an index, made where it is missing, for its owner alone."""
    try:
        make_private_folder(path.parent)
        os.close(open_private_file(path))
        path.chmod(0o600)
    except OSError as error:
        raise IndexLostError(error.strerror or str(error), is_damaged=False) from None
    return SectionStore(path)
