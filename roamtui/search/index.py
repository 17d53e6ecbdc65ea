"""`SectionIndex`: the own text of every node of one library in SQLite's FTS5, in memory."""

from __future__ import annotations

import re
import sqlite3
import threading
from array import array
from typing import TYPE_CHECKING
from weakref import finalize

from roamtui.document.node import NodeKind
from roamtui.search.query import code_identifier
from roamtui.search.stem import stem
from roamtui.search.terms import (
    STOP_WORDS,
    find_identifiers,
    find_names,
    normalise,
    space_out,
    split_camel_case,
    split_words,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from roamtui.document.document import Document
    from roamtui.document.library import Library

_WORD = re.compile(r"[^\W_]+")
_MARKS = frozenset("_.:-+#@$")
"""One of them is in every identifier that is more than a word."""
_BRACKETS = "()[]{}<>,;!?'\"`*|"
_TABLE = """
CREATE VIRTUAL TABLE sections USING fts5(
    title, path, body, names, parts, content='', tokenize="porter unicode61 remove_diacritics 2"
)"""
_VOCABULARY = "CREATE VIRTUAL TABLE vocabulary USING fts5vocab(sections, instance)"
_RANKED = """
SELECT rowid, rank FROM sections WHERE sections MATCH ? AND rank MATCH ? AND rowid BETWEEN ? AND ?
ORDER BY rank, rowid LIMIT ?"""


class SectionIndex:
    """Ranks the nodes of a library, numbered in document order, by the words of their own texts.

    It may be asked from any thread.
    """

    def __init__(self, library: Library) -> None:
        places = {
            section_id: (document, row) for document in library.documents for row, section_id in enumerate(document.ids)
        }
        self.ids: tuple[str, ...] = tuple(library.walk())
        """Id of each node by its number."""
        self._places = [places[section_id] for section_id in self.ids]
        self._numbers = {section_id: number for number, section_id in enumerate(self.ids)}
        self.parents = self._find_parents(library)
        """Number of the node above each, -1 at the top."""
        self._ends = self._find_ends()
        self._title_stems: dict[int, frozenset[str]] = {}
        self._path_stems: dict[int, frozenset[str]] = {}
        self._lock = threading.Lock()
        self._connection = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
        finalize(self, self._connection.close)
        self._fill()

    def __len__(self) -> int:
        return len(self.ids)

    def number_of(self, section_id: str) -> int | None:
        """Return the number of a node, None where the library has none with this id."""
        return self._numbers.get(section_id)

    def subtree(self, number: int) -> range:
        """Return the numbers of a node and all below it."""
        return range(number, self._ends[number])

    def document(self, number: int) -> Document:
        """Return the document of a node."""
        return self._places[number][0]

    def title(self, number: int) -> str:
        """Return the title of a node, empty where it is only the first words of a text without headings."""
        document, row = self._places[number]
        columns = document.columns
        return "" if columns.kinds[row] is NodeKind.TEXT else columns.titles[row]

    def own_text(self, number: int) -> str:
        """Return the text of a node from its heading to the next heading."""
        document, row = self._places[number]
        starts = document.columns.starts
        return document.text[starts[row] : starts[row + 1]]

    def context(self, number: int) -> str:
        """Return the titles above a node and the path of its file, each once."""
        parts: dict[str, None] = {}
        parent = self.parents[number]
        while parent >= 0:
            parts[self.title(parent)] = None
            parent = self.parents[parent]
        key = self.document(number).key
        stem_end = key.rfind(".") if key.rfind(".") > key.rfind("/") else len(key)
        parts[key[:stem_end]] = None
        return " ".join(parts)

    def title_stems(self, number: int) -> frozenset[str]:
        """Return the stems of the content words in a node's title."""
        stems = self._title_stems.get(number)
        if stems is None:
            stems = self._title_stems[number] = _stem_words(self.title(number))
        return stems

    def title_names(self, number: int) -> frozenset[str]:
        """Return the names from code in a node's title."""
        return find_names(normalise(self.title(number)))

    def path_stems(self, number: int) -> frozenset[str]:
        """Return the stems of the content words in a node's title, the titles above and its file's path."""
        stems = self._path_stems.get(number)
        if stems is None:
            stems = self._path_stems[number] = self.title_stems(number) | _stem_words(self.context(number))
        return stems

    def rank(self, expression: str, weights: Sequence[float], within: range, limit: int) -> list[tuple[int, float]]:
        """Return up to `limit` nodes that satisfy an FTS5 expression with their scores, the best first.

        Args:
            expression: As `parse_query` makes it.
            weights: Of title, titles above, text, identifiers, and parts of words in camel case.
            within: Numbers of the nodes to search.
            limit: How many at most.
        """
        if not expression or not within:
            return []
        rank = f"bm25({', '.join(str(float(weight)) for weight in weights)})"
        with self._lock:
            rows = self._connection.execute(
                _RANKED, (expression, rank, within.start, within.stop - 1, limit)
            ).fetchall()
        return [(number, -score) for number, score in rows]

    def has_stem(self, word_stem: str) -> bool:
        """Whether any node holds a word with this stem."""
        with self._lock:
            found = self._connection.execute("SELECT 1 FROM vocabulary WHERE term = ? LIMIT 1", (word_stem,)).fetchone()
        return found is not None

    def _find_parents(self, library: Library) -> array[int]:
        grafted = {
            id(document): self._numbers[section_id]
            for section_id, document in library.grafts.items()
            if section_id in self._numbers
        }
        parents = array("l")
        for document, row in self._places:
            parent_row = document.columns.parents[row]
            if parent_row >= 0:
                parents.append(self._numbers[document.ids[parent_row]])
            else:
                parents.append(grafted.get(id(document), -1))
        return parents

    def _find_ends(self) -> array[int]:
        ends = array("l", range(1, len(self.ids) + 1))
        for number in range(len(self.ids) - 1, -1, -1):
            parent = self.parents[number]
            if parent >= 0:
                ends[parent] = max(ends[parent], ends[number])
        return ends

    def _fill(self) -> None:
        execute = self._connection.execute
        execute(_TABLE)
        execute("BEGIN")
        self._connection.executemany(
            "INSERT INTO sections(rowid, title, path, body, names, parts) VALUES(?, ?, ?, ?, ?, ?)", self._make_rows()
        )
        execute("COMMIT")
        execute(_VOCABULARY)

    def _make_rows(self) -> Iterator[tuple[int, str, str, str, str, str]]:
        names_by_run = _NamesByRun()
        for number in range(len(self.ids)):
            text = normalise(self.own_text(number))
            if not text and self._ends[number] > number + 1:
                continue  # a loaded file: its sections are found, by its name too
            found = list(filter(None, map(names_by_run.__getitem__, text.split())))
            yield (
                number,
                space_out(normalise(self.title(number))),
                space_out(normalise(self.context(number))),
                space_out(text),
                " ".join(names for names, _ in found),
                " ".join(parts for _, parts in found),
            )


class _NamesByRun(dict[str, tuple[str, str] | None]):
    """Identifiers, coded, and parts of words in camel case in a run of characters without space.

    Each distinct run is looked at once. Most are a plain word with a comma or a bracket: None.
    """

    def __missing__(self, run: str) -> tuple[str, str] | None:
        word = run.strip(_BRACKETS).rstrip(".:")
        found = None
        if not (word.isalnum() and (word[1:].islower() or word.islower() or word.isupper())):
            names = parts = ""
            if not _MARKS.isdisjoint(word):
                names = " ".join(map(code_identifier, find_identifiers(run)))
            if word.lower() != word:
                parts = " ".join(part for word in _WORD.findall(run) for part in split_camel_case(word))
            found = (names, parts) if names or parts else None
        self[run] = found
        return found


def _stem_words(text: str) -> frozenset[str]:
    return frozenset(stem(word) for word in split_words(text) if word not in STOP_WORDS)
