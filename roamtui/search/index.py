"""`SectionIndex`: ranks the sections of one library by words, with the full-text table of `SectionStore`."""

import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, lru_cache
from pathlib import Path

from msgspec import Struct

from roamtui.convert.converted import ProgressCallback
from roamtui.document.library import Library
from roamtui.paths import hash_source, is_standard_input
from roamtui.search.lexicon import STOP_WORDS, stem
from roamtui.search.section_store import (
    ROW_BITS,
    IndexedDocument,
    SectionStore,
    join_context,
    list_titles_above,
)
from roamtui.search.terms import find_abbreviations, split_words, tokenise

_ON_DISK_CHARACTERS_MIN = 2_000_000
"""Minimum length of a library whose index is stored on disk. Building it then takes 0.25 s."""


class SectionIndex:
    """Ranks the nodes of a library, numbered in document order, by the words of their own texts.

    Each new version of a library gets a new index. All of them share the store, which writes only the
    documents that changed. Thread-safe.
    """

    def __init__(
        self, library: Library, store: SectionStore | None = None, on_progress: ProgressCallback | None = None
    ) -> None:
        """Bring the store up to date with `library`, which may take seconds."""
        self.library = library
        self.store = store or SectionStore()
        self.numbering = library.numbering
        indexed = [IndexedDocument.make(document, self.numbering, library) for document in library.documents]
        numbers = self.store.sync(indexed, on_progress)
        self._documents = {numbers[each.digest]: each.document for each in indexed}
        self._document_numbers = {id(document): number for number, document in self._documents.items()}
        self._bounds: dict[range, tuple[int, int]] = {}
        """Cache for `_get_bounds`, which takes milliseconds for many files."""

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
        context = join_context(document, row, list_titles_above(self.library, document))
        return stem_title(self.title(number)) | stem_title(context)

    @cached_property
    def title_words(self) -> Sequence[str]:
        """The words in titles that mistyped words may be corrected to."""
        titles = {title for document in self.library.documents for title in document.columns.titles}
        words = {word for title in titles for word in tokenise(title)}
        return sorted(word for word in words - STOP_WORDS if not any(map(str.isdigit, word)))

    @cached_property
    def topics_by_stem(self) -> Mapping[str, Sequence[int]]:
        """Numbers of the sections that may be topics (with subsections), by the stems in their titles."""
        numbers_by_stem: dict[str, list[int]] = defaultdict(list)
        for number in range(len(self)):
            if 1 < len(self.numbering.subtree(number)) < len(self) and self.own_text(number):
                for word_stem in stem_title(self.title(number)):
                    numbers_by_stem[word_stem].append(number)
        return dict(numbers_by_stem)

    @cached_property
    def topic_rarities(self) -> Mapping[str, float]:
        """Rarity of each stem in the titles of sections that may be topics."""
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
        """Return the first and the last row that the store has for a range of nodes."""
        if within not in self._bounds:
            rows: list[int] = []
            for document, start, end in self.numbering.iter_runs(within):
                base = self._document_numbers[id(document)] << ROW_BITS
                rows += base + start, base + end - 1
            self._bounds[within] = min(rows), max(rows)
        return self._bounds[within]

    def _get_number(self, row: int) -> int:
        """Return the number of the node of a row of the store, or -1 if this library has no such node."""
        document = self._documents.get(row >> ROW_BITS)
        return -1 if document is None else self.numbering.number_of(document, row & ((1 << ROW_BITS) - 1))


@lru_cache(maxsize=1 << 15)
def stem_title(text: str) -> frozenset[str]:
    """Return the stems of the content words in a title."""
    stopped = STOP_WORDS - find_abbreviations(text)
    return frozenset(stem(word) for word in split_words(text) if word not in stopped)


class IndexLocation(Struct, frozen=True, kw_only=True):
    """Where indexes may be stored on disk."""

    folder: Path
    on_warning: Callable[[str], None] = lambda _: None
    """Receives a sentence if an index is rebuilt or cannot be stored."""
    stores_small: bool = False

    def get_path(self, library: Library) -> Path | None:
        """Return the path of a library's index, or None if the library was read from a pipe."""
        if is_standard_input(library.source):
            return None
        return self.folder / f"{hash_source(library.source)}.sqlite3"

    def choose_path(self, library: Library) -> Path | None:
        """Return the path of a library's index, or None to keep the index of a small library in memory."""
        path = self.get_path(library)
        is_large = sum(len(document.text) for document in library.documents) >= _ON_DISK_CHARACTERS_MIN
        return path if path is not None and (is_large or self.stores_small or path.exists()) else None


def sort_scores(scores: Mapping[int, float]) -> list[tuple[int, float]]:
    """Return nodes with their scores, best first. Equal scores are in document order."""
    return sorted(scores.items(), key=lambda item: (-item[1], item[0]))
