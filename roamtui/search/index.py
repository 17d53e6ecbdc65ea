"""`SectionIndex`: the nodes of one library by number, with their words in a store."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property

from roamtui.document.layout import Layout
from roamtui.document.library import Library
from roamtui.search.languages import STOP_WORDS
from roamtui.search.parts import Part, find_parts, find_titles_above, join_context, telling_title_of
from roamtui.search.section_store import SectionStore
from roamtui.search.stem import stem
from roamtui.search.terms import find_names, normalise, split_words

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
        self.layout = Layout(library)
        """Numbers the nodes."""
        self._parts: Mapping[int, Sequence[Part]] = find_parts(
            self.layout,
            library.documents,
            before._parts if before is not None else {},  # noqa: SLF001 - its own kind
            library.summaries,
        )
        parts = [part for parts in self._parts.values() for part in parts]
        bases = self.store.synchronise(parts, tell)
        self._by_base = sorted(((bases[part.digest], part) for part in parts), key=lambda entry: entry[0])
        self._bases = [base for base, _ in self._by_base]
        self._base_by_part = {id(part): base for base, part in self._by_base}
        self._title_stems: dict[int, frozenset[str]] = {}
        self._path_stems: dict[int, frozenset[str]] = {}

    def __len__(self) -> int:
        return len(self.layout)

    @cached_property
    def ids(self) -> tuple[str, ...]:
        """Id of each node by its number; `id_of` tells one without the cost of all."""
        return tuple(self.library.walk())

    def id_of(self, number: int) -> str:
        """Return the id of a node."""
        document, row = self.layout.locate(number)
        return document.ids[row]

    def number_of(self, section_id: str) -> int | None:
        """Return the number of a node, None where the library has none with this id."""
        if section_id not in self.library:
            return None
        return self.layout.number_of(*self.library.locate(section_id))

    def title(self, number: int) -> str:
        """Return the title of a node, with that above where it only counts; empty where a text has no headings."""
        return telling_title_of(*self.layout.locate(number))

    def own_text(self, number: int) -> str:
        """Return the text of a node from its heading to the next heading."""
        document, row = self.layout.locate(number)
        starts = document.columns.starts
        return document.text[starts[row] : starts[row + 1]]

    def context(self, number: int) -> str:
        """Return the titles above a node and the path of its file, each once."""
        document, row = self.layout.locate(number)
        return join_context(document, row, find_titles_above(self.layout, document))

    def title_stems(self, number: int) -> frozenset[str]:
        """Return the stems of the content words in a node's title."""
        stems = self._title_stems.get(number)
        if stems is None:
            stems = self._title_stems[number] = stem_title(self.title(number))
        return stems

    def title_names(self, number: int) -> frozenset[str]:
        """Return the names from code in a node's title."""
        return find_names(normalise(self.title(number)))

    def path_stems(self, number: int) -> frozenset[str]:
        """Return the stems of the content words in a node's title, the titles above and its file's path."""
        stems = self._path_stems.get(number)
        if stems is None:
            stems = self._path_stems[number] = self.title_stems(number) | stem_title(self.context(number))
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
        first, last = self.find_rows(within)
        if rows is not None:
            first, last = max(first, rows[0]), min(last, rows[1])
        found = self.store.rank(expression, weights, (first, last), lambda row: self._find(row) in within, limit)
        return [(self._find(row), score) for row, score in found]

    def count(self, expression: str) -> int:
        """Return how many nodes satisfy an FTS5 expression."""
        return self.store.count(expression, _ALL)

    def list_matches(self, expression: str, within: range, limit: int) -> list[int]:
        """Return up to `limit` nodes that satisfy an FTS5 expression, in no order that means anything."""
        rows = self.store.list_matches(expression, self.find_rows(within), limit) if within else []
        return [number for number in map(self._find, rows) if number in within]

    def find_rows(self, within: range) -> tuple[int, int]:
        """Return the first and the last row of the store that nodes of a range have; (1, 0) or the like for none."""
        if len(within) == len(self):
            return (self._bases[0], self._bases[-1] + len(self._by_base[-1][1])) if self._bases else (1, 0)
        first, last = 1 << 62, -1
        for document, start, end in self.layout.cut(within):
            for part in self._parts[id(document)]:
                low, high = max(start, part.first), min(end, part.end)
                if low < high:
                    base = self._base_by_part[id(part)] - part.first
                    first, last = min(first, base + low), max(last, base + high - 1)
        return first, last

    def has_stem(self, word_stem: str) -> bool:
        """Whether any node holds a word with this stem."""
        return self.store.has_stem(word_stem)

    def _find(self, row: int) -> int:
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
