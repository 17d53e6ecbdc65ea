"""`IndexSegment`: what an index adds or removes as one: a document, or a line of a folder's listing."""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from types import MappingProxyType
from typing import NamedTuple

from roamtui.document.document import Document
from roamtui.document.node import NodeKind
from roamtui.document.numbering import NodeNumbering
from roamtui.search.terms import code_identifier, extract_identifiers, normalise_unicode, space_cjk, split_camel_case

_FORMAT = "2"
"""Rises when the same text gives other rows, so that files of an older roamtui are filled anew."""
_ROWS_MAX = 5_000
_PIECE_LENGTH = 1_000_000
"""Characters of a text that are taken apart at once."""
_RUNS_MAX = 50_000
"""Distinct runs of characters that are remembered: some 8 MB, and as quick as all of them."""
_WORD = re.compile(r"[^\W_]+")
_SPACE = re.compile(r"\s")
_ENUMERATOR = re.compile(r"[\W\d_]*(?:[a-z]|[ivxl]+)?[\W\d_]*", re.IGNORECASE)
"""A title without a word of its own, such as ``5.8.1`` or ``(iv)``."""
_MARKS = frozenset("_.:-+#@$")
"""One of them is in every identifier that is more than a word."""
_BRACKETS = "()[]{}<>,;!?'\"`*|"
_ABOVE_LENGTH_MAX = 200
"""Characters of a title that count for what stands below it: one of 100 KB would be indexed with each section there."""


class IndexRow(NamedTuple):
    """What FTS5 gets of one node, a column each."""

    title: str
    path: str
    """Titles above, and the file's path."""
    body: str
    names: str
    """Identifiers, coded."""
    parts: str
    """Parts of words in camel case."""


@dataclass(frozen=True, slots=True)
class IndexSegment:
    """Rows `first` (included) to `end` (excluded) of a document."""

    document: Document
    first: int
    end: int
    above: tuple[str, ...]
    """Titles above the document, the nearest first."""
    digest: str
    """The same for the same rows, whatever the program that made them."""
    summaries: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """What a model wrote of the document and its sections, searched like their text; see `Document.find_summary`."""

    def __len__(self) -> int:
        return self.end - self.first

    def make_rows(self, names_by_run: NamesByRun) -> Iterator[IndexRow]:
        """Yield what an index gets of each row."""
        columns, text = self.document.columns, self.document.text
        for row in range(self.first, self.end):
            own = normalise_unicode(text[columns.starts[row] : columns.starts[row + 1]])
            summary = self.document.get_summary(row, self.summaries)
            found = list(filter(None, map(names_by_run.__getitem__, _split_runs(own))))
            yield IndexRow(
                space_cjk(normalise_unicode(telling_title_of(self.document, row))),
                space_cjk(normalise_unicode(join_context(self.document, row, self.above))),
                space_cjk(f"{own}\n{normalise_unicode(summary)}" if summary else own),
                " ".join(names for names, _ in found),
                " ".join(parts for _, parts in found),
            )


def list_segments(
    layout: NodeNumbering,
    documents: Sequence[Document],
    known: Mapping[int, Sequence[IndexSegment]],
    summaries: Mapping[str, str] = MappingProxyType({}),
) -> dict[int, list[IndexSegment]]:
    """Return the parts of each document by its identity, each part with a digest of its own.

    Args:
        layout: Of the library.
        documents: All of them, the root first.
        known: Parts found before, by the identity of their document; they are looked at no more where it is unchanged.
        summaries: What a model wrote of documents and sections, by the digest of their text.
    """
    found: dict[int, list[IndexSegment]] = {}
    taken: Counter[str] = Counter()
    for document in documents:
        above = list_ancestor_titles(layout, document)
        parts = known.get(id(document), ())
        if document.columns.has_files:
            parts = _list_unloaded(layout, document, above)
        elif not parts or parts[0].document is not document or parts[0].above != above:
            parts = _divide(document, above, summaries)
        for place, part in enumerate(parts):
            taken[part.digest] += 1
            if taken[part.digest] > 1:
                parts = list(parts)
                parts[place] = replace(part, digest=f"{part.digest}#{taken[part.digest]}")
        found[id(document)] = list(parts)
    return found


def batch_segments(parts: Iterable[IndexSegment], rows_max: int) -> Iterator[list[IndexSegment]]:
    """Yield parts in batches of about as many rows."""
    batch: list[IndexSegment] = []
    size = 0
    for part in parts:
        batch.append(part)
        size += len(part)
        if size >= rows_max:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def list_ancestor_titles(layout: NodeNumbering, document: Document) -> tuple[str, ...]:
    """Return the titles above a grafted document, the nearest first."""
    titles: list[str] = []
    host = layout.host(document)
    while host is not None:
        titles += _list_titles(*host)
        host = layout.host(host[0])
    return tuple(titles)


def join_context(document: Document, row: int, above: tuple[str, ...]) -> str:
    """Return the titles above a row and the path of its file, each once."""
    parent = document.columns.parents[row]
    key = document.key
    stem_end = key.rfind(".") if key.rfind(".") > key.rfind("/") else len(key)
    titles = _list_titles(document, parent) if parent >= 0 else []
    return " ".join(dict.fromkeys((*titles, *above, key[:stem_end])))


def title_of(document: Document, row: int) -> str:
    """Return the title of a row, empty where it is only the first words of a text without headings."""
    columns = document.columns
    return "" if columns.kinds[row] is NodeKind.TEXT else columns.titles[row]


def telling_title_of(document: Document, row: int) -> str:
    """Return the title of a row, with that of the row above where it only counts."""
    title = title_of(document, row)
    parent = document.columns.parents[row]
    if parent < 0 or not title or not _ENUMERATOR.fullmatch(title):
        return title
    return f"{title} {title_of(document, parent)[:_ABOVE_LENGTH_MAX]}"


def _list_titles(document: Document, row: int) -> list[str]:
    """Return the titles of a row and of those above it in its document, upwards."""
    titles = []
    while row >= 0:
        titles.append(title_of(document, row)[:_ABOVE_LENGTH_MAX])
        row = document.columns.parents[row]
    return titles


def _divide(document: Document, above: tuple[str, ...], summaries: Mapping[str, str]) -> list[IndexSegment]:
    """Return a document in parts of so many rows that a change in one place of a large one does not cost all of it."""
    count = len(document.columns)
    bounds = [(first, min(count, first + _ROWS_MAX)) for first in range(0, count, _ROWS_MAX)]
    return [
        IndexSegment(document, first, end, above, _digest(document, first, end, above, summaries), summaries)
        for first, end in bounds
    ]


def _list_unloaded(layout: NodeNumbering, document: Document, above: tuple[str, ...]) -> list[IndexSegment]:
    """Return the lines of a listing below which nothing stands: a loaded file is found by its sections."""
    return [
        IndexSegment(document, row, row + 1, above, _digest(document, row, row + 1, above))
        for row in range(len(document.columns))
        if len(layout.subtree(layout.number_of(document, row))) == 1
    ]


def _digest(
    document: Document,
    first: int,
    end: int,
    above: tuple[str, ...],
    summaries: Mapping[str, str] = MappingProxyType({}),
) -> str:
    """Return a digest of all that decides what an index gets of some rows."""
    columns = document.columns
    start = columns.starts[first]
    digest = blake2b(digest_size=16)
    titles = [title_of(document, row) for row in range(first, end)]
    context = join_context(document, first, above)
    head = "\x1f".join((_FORMAT, document.key, context, *titles, ""))
    digest.update(head.encode("utf-8", "surrogatepass"))
    for place in range(start, columns.starts[end], _PIECE_LENGTH):
        piece = document.text[place : min(place + _PIECE_LENGTH, columns.starts[end])]
        digest.update(piece.encode("utf-8", "surrogatepass"))
    digest.update(columns.levels[first:end])
    digest.update(array("Q", (place - start for place in columns.starts[first:end])).tobytes())
    for row in range(first, end) if summaries else ():
        digest.update(f"\x1f{document.get_summary(row, summaries)}".encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def _split_runs(text: str) -> Iterator[str]:
    """Yield what `text.split()` returns; those of a text as long as a library never stand in memory all at once."""
    start = 0
    while start < len(text):
        space = _SPACE.search(text, start + _PIECE_LENGTH)
        end = space.start() if space is not None else len(text)
        yield from text[start:end].split()
        start = end


class NamesByRun(dict[str, tuple[str, str] | None]):
    """Identifiers, coded, and parts of words in camel case in a run of characters without space.

    Each distinct run is looked at once. Most are a plain word with a comma or a bracket: None.
    """

    def __missing__(self, run: str) -> tuple[str, str] | None:
        word = run.strip(_BRACKETS).rstrip(".:")
        found = None
        if not (word.isalnum() and (word[1:].islower() or word.islower() or word.isupper())):
            names = parts = ""
            if not _MARKS.isdisjoint(word):
                names = " ".join(map(code_identifier, extract_identifiers(run)))
            if word.lower() != word:
                parts = " ".join(part for word in _WORD.findall(run) for part in split_camel_case(word))
            found = (names, parts) if names or parts else None
        if len(self) >= _RUNS_MAX:
            self.clear()
        self[run] = found
        return found
